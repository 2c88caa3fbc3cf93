// SPDX-License-Identifier: Apache-2.0
// A datatype as the C interface hands it out. Predefined ones are constants of the ABI and shared
// by all ranks; derived ones belong to the rank that created them and are reference-counted.
// Immutable after commit, except for name and attributes.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <weft/message/mpi/datatype_basic.hpp>
#include <weft/message/mpi/datatype_shape.hpp>
#include <weft/message/mpi/include/mpi.h>

namespace weft::mpi {

// The arguments of the constructor, for MPI_Type_get_contents. Arguments of the large-count forms
// are stored as large counts.
struct Contents {
  int combiner = MPI_COMBINER_NAMED;
  std::vector<int> integers;
  std::vector<MPI_Aint> addresses;
  std::vector<MPI_Count> large_counts;
  std::vector<MPI_Datatype> types;

  void put(int value) { integers.push_back(value); }
  void put(MPI_Count value) { large_counts.push_back(value); }
  void put_address(MPI_Aint value) { addresses.push_back(value); }
};

class Datatype {
 public:
  Datatype(const Datatype&) = delete;
  Datatype& operator=(const Datatype&) = delete;

  // Creates a derived type with one reference; retains the types in the contents.
  static Datatype* make(Shape shape, Contents contents);

  // Packed bytes of one element.
  std::int64_t size() const { return shape_.size; }
  std::int64_t lower_bound() const { return shape_.lower; }
  std::int64_t extent() const { return shape_.extent(); }
  std::int64_t true_lower_bound() const { return shape_.true_lower; }
  std::int64_t true_extent() const { return shape_.true_upper - shape_.true_lower; }
  const Shape& shape() const { return shape_; }

  bool predefined() const { return predefined_; }
  bool committed() const { return committed_; }
  void commit() { committed_ = true; }

  // Whether the bytes of this many elements, and the memory that they span, can be counted.
  // REQUIRES: count >= 0.
  bool fits(std::int64_t count) const {
    std::int64_t bytes = 0;
    std::int64_t span = 0;
    return !__builtin_mul_overflow(count, size(), &bytes) &&
           !__builtin_mul_overflow(count, extent(), &span);
  }
  // For an error message, where they do not fit.
  std::string too_many(std::int64_t count) const;
  // Whether this many elements form one block of memory, which starts at the true lower bound.
  bool contiguous(std::int64_t count = 2) const;

  // Copies bytes [from, from + size of the span) of the packed stream of `count` elements at the
  // buffer. Pieces may be copied separately, in any order.
  void pack(const void* buffer, std::int64_t count, std::int64_t from,
            std::span<std::byte> out) const;
  void unpack(void* buffer, std::int64_t count, std::int64_t from,
              std::span<const std::byte> in) const;

  // Number of basic elements in this many packed bytes, empty if an element is cut; and the
  // inverse.
  std::optional<std::int64_t> elements_in(std::int64_t bytes) const;
  std::int64_t bytes_of(std::int64_t elements) const;

  // The predefined type that all elements have (MPI_DOUBLE_INT counts as one), or null.
  const Datatype* uniform() const;
  // Not null for a predefined type that is a number or a pair.
  const BasicType* basic() const { return basic_; }
  const PairType* pair() const { return pair_; }

  // Predefined types are not counted: these calls then do nothing.
  void retain() const;
  static void release(const Datatype* type);

  // MPI_Type_get_contents hands out further handles, each to be freed by the program; attributes
  // are deleted with the last one. drop_handle returns how many are left.
  void add_handle() { ++handles_; }
  std::int32_t drop_handle() { return --handles_; }

  MPI_Datatype handle() const;
  const Contents& contents() const { return contents_; }
  const std::string& name() const { return name_; }
  void set_name(std::string name) { name_ = std::move(name); }
  // Slot for the attributes; null for predefined types, whose attributes belong to each rank.
  void** attributes() { return predefined_ ? nullptr : &attributes_; }

 private:
  friend class PredefinedTypes;
  friend const Datatype* find_type(MPI_Datatype handle);
  Datatype(Shape shape, Contents contents);
  ~Datatype();

  static constexpr std::uint32_t alive = 0x57454654;
  // Distinguishes a datatype from anything else that a handle may point to.
  std::uint32_t life_ = alive;
  mutable std::atomic<std::int32_t> references_ = 1;
  std::int32_t handles_ = 1;
  bool predefined_ = false;
  bool committed_ = false;
  std::uint16_t handle_ = 0;  // For a predefined type.
  const BasicType* basic_ = nullptr;
  const PairType* pair_ = nullptr;
  void* attributes_ = nullptr;
  Shape shape_;
  Contents contents_;
  std::string name_;
};

// The datatype of a handle; null for MPI_DATATYPE_NULL and invalid handles.
const Datatype* find_type(MPI_Datatype handle);
// The same for modification (commit, name); null for predefined types as well.
Datatype* find_derived_type(MPI_Datatype handle);

// A Fortran type selected by decimal precision and range (MPI_UNDEFINED: any). Its handle encodes
// all parameters, so equal arguments give equal handles, as the standard requires.
// MPI_DATATYPE_NULL if there is no such type.
enum class FortranKind : std::uint8_t { integer, real, complex };
struct FortranType {
  FortranKind kind;
  int precision;
  int range;
};
MPI_Datatype fortran_type_handle(const FortranType& type);
std::optional<FortranType> find_fortran_type(MPI_Datatype handle);  // Empty: not such a handle.

// The representation "external32": big-endian numbers.
std::int64_t external_size(const Datatype& type, std::int64_t count);
// Converts packed bytes of whole elements to the external format and back. The spans must have
// matching sizes.
void to_external(const Datatype& type, std::span<const std::byte> native,
                 std::span<std::byte> external);
void from_external(const Datatype& type, std::span<const std::byte> external,
                   std::span<std::byte> native);

}  // namespace weft::mpi
