// SPDX-License-Identifier: Apache-2.0
// Everything about a datatype except its name: bounds, layout in memory, and the sequence of basic
// types (the signature). A value type; constructors of datatypes are sums of shapes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <weft/message/mpi/datatype_basic.hpp>
#include <weft/message/mpi/datatype_layout.hpp>

namespace weft::mpi {

// Holds the product of two 64-bit numbers.
__extension__ using Wide = __int128;

struct Signature;
using SignatureRef = std::shared_ptr<const Signature>;  // Null: no elements.

struct Signature {
  struct Part {
    std::int64_t count;
    SignatureRef signature;
  };
  std::int64_t elements = 0;
  std::int64_t bytes = 0;
  // If not null, all elements are of this type, and there are no parts.
  const BasicType* basic = nullptr;
  std::vector<Part> parts;
};

// Number of basic elements in the first bytes of a packed stream; empty if an element is cut.
std::optional<std::int64_t> elements_in(const SignatureRef& signature, std::int64_t bytes);
// The inverse: bytes of the first elements.
std::int64_t bytes_of(const SignatureRef& signature, std::int64_t elements);

struct Shape {
  std::int64_t size = 0;
  std::int64_t lower = 0;
  std::int64_t upper = 0;
  std::int64_t true_lower = 0;  // Without markers and padding.
  std::int64_t true_upper = 0;
  std::int64_t alignment = 1;
  // By MPI_Type_create_resized or MPI_LB; the mark persists when types are nested.
  bool lower_marked = false;
  bool upper_marked = false;
  std::uint16_t uniform = 0;  // Handle of the predefined type that all elements have, or 0.
  LayoutRef layout;
  SignatureRef signature;

  std::int64_t extent() const { return upper - lower; }
};

Shape basic_shape(const BasicType& type);
Shape pair_shape(const PairType& type);
Shape marker_shape(bool lower);
// The same bytes with other bounds; nullopt if the upper bound overflows 64 bits.
std::optional<Shape> resized_shape(const Shape& old, std::int64_t lower, std::int64_t extent);

// Sums up copies of shapes in the order of the type map. Overflows are remembered until the end, so
// that callers need only one check.
class ShapeBuilder {
 public:
  // Adds copies of the shape, the first at the offset, each a step after the previous one.
  void add(const Shape& shape, Wide offset, std::int64_t count, Wide step);
  // Adds copies one after the other.
  void add(const Shape& shape, Wide offset, std::int64_t count) {
    add(shape, offset, count, shape.extent());
  }
  std::optional<Shape> finish();

 private:
  void add_bounds(const Shape& shape, Wide first, Wide last);
  void add_signature(const Shape& shape, std::int64_t count);

  struct Range {
    Wide low = 0;
    Wide high = 0;
    bool any = false;
    void include(Wide from, Wide to);
  };
  Range data_;
  Range lower_marks_;
  Range upper_marks_;
  Wide size_ = 0;
  bool too_large_ = false;
  bool mixed_ = false;
  Shape shape_;
  LayoutBuilder layout_;
  std::vector<Signature::Part> signatures_;
};

// MPI_Type_create_subarray and MPI_Type_create_darray. Dimensions as the caller gave them.
struct Subarray {
  std::span<const std::int64_t> sizes;
  std::span<const std::int64_t> subsizes;
  std::span<const std::int64_t> starts;
  bool fortran;
};
std::optional<Shape> subarray_shape(const Shape& old, const Subarray& array);

struct Distribution {
  std::int64_t size;   // Size of the whole array in this dimension.
  int kind;            // MPI_DISTRIBUTE_...
  std::int64_t block;  // Elements per block; unused if not distributed.
  std::int64_t processes;
  std::int64_t coordinate;  // Position of the process whose share is described.
};
std::optional<Shape> darray_shape(const Shape& old, std::span<const Distribution> dimensions,
                                  bool fortran);

}  // namespace weft::mpi
