// SPDX-License-Identifier: Apache-2.0
// The entry points that construct datatypes. Each constructor is written once, for int and for
// MPI_Count.
#include <limits>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <weft/message/mpi/attributes.hpp>
#include <weft/message/mpi/datatype.hpp>
#include <weft/message/mpi/errors.hpp>
#include <weft/message/mpi/include/mpi.h>
#include <weft/message/port/call_lock.hpp>

namespace weft::mpi {
namespace {

// What all constructors share: the old type, the arguments to remember, the first error.
class Construction {
 public:
  Construction(int combiner, MPI_Datatype* made) : made_(made) {
    contents_.combiner = combiner;
    if (made == nullptr) fail(MPI_ERR_ARG);
  }

  void fail(int error) {
    if (error_ == MPI_SUCCESS) error_ = error;
  }
  bool good() const { return error_ == MPI_SUCCESS; }

  template <typename Int>
  void count(Int value) {
    if (value < 0) fail(MPI_ERR_COUNT);
    contents_.put(value);
  }

  template <typename Int>
  void number(Int value, std::int64_t least = std::numeric_limits<std::int64_t>::min()) {
    if (value < least) fail(MPI_ERR_ARG);
    contents_.put(value);
  }

  // An address in the small form is a large count in the large form, though the types are the same.
  template <typename Int>
  void address(std::int64_t value) {
    if constexpr (std::is_same_v<Int, int>) {
      contents_.put_address(value);
    } else {
      contents_.put(MPI_Count{value});
    }
  }

  template <typename Int>
  std::vector<std::int64_t> numbers(std::int64_t count, const Int* values,
                                    std::int64_t least = std::numeric_limits<Int>::min()) {
    std::vector<std::int64_t> wide;
    if (!array(count, values)) return wide;
    wide.assign(values, values + count);
    for (const Int* value = values; value != values + count; ++value) number(*value, least);
    return wide;
  }

  template <typename Int>
  std::vector<std::int64_t> addresses(std::int64_t count, const std::int64_t* values) {
    std::vector<std::int64_t> wide;
    if (!array(count, values)) return wide;
    wide.assign(values, values + count);
    for (const std::int64_t value : wide) address<Int>(value);
    return wide;
  }

  const Datatype* type(MPI_Datatype handle) {
    const Datatype* found = find_type(handle);
    if (found == nullptr) {
      fail(MPI_ERR_TYPE);
    } else {
      contents_.types.push_back(handle);
    }
    return found;
  }

  // Whether an array of the caller may be read.
  bool array(std::int64_t count, const void* values) {
    if (count > 0 && values == nullptr) fail(MPI_ERR_ARG);
    return good();
  }

  int finish(std::optional<Shape> shape) {
    if (!shape) fail(MPI_ERR_VALUE_TOO_LARGE);
    if (!good()) return report(MPI_COMM_NULL, error_);
    *made_ = Datatype::make(*std::move(shape), std::move(contents_))->handle();
    return MPI_SUCCESS;
  }
  int finish() { return report(MPI_COMM_NULL, error_); }

 private:
  MPI_Datatype* made_;
  int error_ = MPI_SUCCESS;
  Contents contents_;
};

std::optional<Shape> vector_shape(const Shape& old, std::int64_t count, std::int64_t blocklength,
                                  Wide stride) {
  ShapeBuilder block;
  block.add(old, 0, blocklength);
  const auto shape = block.finish();
  if (!shape) return std::nullopt;
  ShapeBuilder builder;
  builder.add(*shape, 0, count, stride);
  return builder.finish();
}

template <typename Int>
int make_contiguous(Int count, MPI_Datatype oldtype, MPI_Datatype* newtype) {
  Construction make(MPI_COMBINER_CONTIGUOUS, newtype);
  make.count(count);
  const Datatype* old = make.type(oldtype);
  if (!make.good()) return make.finish();
  ShapeBuilder builder;
  builder.add(old->shape(), 0, count);
  return make.finish(builder.finish());
}

template <typename Int>
int make_vector(Int count, Int blocklength, Int stride, MPI_Datatype oldtype,
                MPI_Datatype* newtype) {
  Construction make(MPI_COMBINER_VECTOR, newtype);
  make.count(count);
  make.number(blocklength, 0);
  make.number(stride);
  const Datatype* old = make.type(oldtype);
  if (!make.good()) return make.finish();
  return make.finish(
      vector_shape(old->shape(), count, blocklength, static_cast<Wide>(stride) * old->extent()));
}

template <typename Int>
int make_hvector(Int count, Int blocklength, std::int64_t stride, MPI_Datatype oldtype,
                 MPI_Datatype* newtype) {
  Construction make(MPI_COMBINER_HVECTOR, newtype);
  make.count(count);
  make.number(blocklength, 0);
  make.address<Int>(stride);
  const Datatype* old = make.type(oldtype);
  if (!make.good()) return make.finish();
  return make.finish(vector_shape(old->shape(), count, blocklength, stride));
}

// Blocks with individual lengths (or all with the first one) at displacements in units of bytes.
std::optional<Shape> indexed_shape(const Shape& old, std::span<const std::int64_t> lengths,
                                   std::span<const std::int64_t> displacements, std::int64_t unit) {
  ShapeBuilder builder;
  for (std::size_t i = 0; i < displacements.size(); ++i) {
    const std::int64_t length = lengths.size() == 1 ? lengths[0] : lengths[i];
    builder.add(old, static_cast<Wide>(displacements[i]) * unit, length);
  }
  return builder.finish();
}

template <typename Int>
int make_indexed(Int count, const Int* lengths, const Int* displacements, MPI_Datatype oldtype,
                 MPI_Datatype* newtype) {
  Construction make(MPI_COMBINER_INDEXED, newtype);
  make.count(count);
  const auto wide_lengths = make.numbers(count, lengths, 0);
  const auto wide_displacements = make.numbers(count, displacements);
  const Datatype* old = make.type(oldtype);
  if (!make.good()) return make.finish();
  return make.finish(indexed_shape(old->shape(), wide_lengths, wide_displacements, old->extent()));
}

template <typename Int>
int make_hindexed(Int count, const Int* lengths, const std::int64_t* displacements,
                  MPI_Datatype oldtype, MPI_Datatype* newtype) {
  Construction make(MPI_COMBINER_HINDEXED, newtype);
  make.count(count);
  const auto wide_lengths = make.numbers(count, lengths, 0);
  const auto wide_displacements = make.addresses<Int>(count, displacements);
  const Datatype* old = make.type(oldtype);
  if (!make.good()) return make.finish();
  return make.finish(indexed_shape(old->shape(), wide_lengths, wide_displacements, 1));
}

template <typename Int>
int make_indexed_block(Int count, Int length, const Int* displacements, MPI_Datatype oldtype,
                       MPI_Datatype* newtype) {
  Construction make(MPI_COMBINER_INDEXED_BLOCK, newtype);
  make.count(count);
  make.number(length, 0);
  const auto wide = make.numbers(count, displacements);
  const Datatype* old = make.type(oldtype);
  if (!make.good()) return make.finish();
  const std::int64_t lengths[] = {length};
  return make.finish(indexed_shape(old->shape(), lengths, wide, old->extent()));
}

template <typename Int>
int make_hindexed_block(Int count, Int length, const std::int64_t* displacements,
                        MPI_Datatype oldtype, MPI_Datatype* newtype) {
  Construction make(MPI_COMBINER_HINDEXED_BLOCK, newtype);
  make.count(count);
  make.number(length, 0);
  const auto wide = make.addresses<Int>(count, displacements);
  const Datatype* old = make.type(oldtype);
  if (!make.good()) return make.finish();
  const std::int64_t lengths[] = {length};
  return make.finish(indexed_shape(old->shape(), lengths, wide, 1));
}

template <typename Int>
int make_struct(Int count, const Int* lengths, const std::int64_t* displacements,
                const MPI_Datatype* types, MPI_Datatype* newtype) {
  Construction make(MPI_COMBINER_STRUCT, newtype);
  make.count(count);
  const auto wide_lengths = make.numbers(count, lengths, 0);
  const auto wide_displacements = make.addresses<Int>(count, displacements);
  ShapeBuilder builder;
  if (!make.array(count, types)) return make.finish();
  for (std::size_t i = 0; i < wide_lengths.size(); ++i) {
    const Datatype* type = make.type(types[i]);
    if (type == nullptr) return make.finish();
    builder.add(type->shape(), wide_displacements[i], wide_lengths[i]);
  }
  return make.finish(builder.finish());
}

template <typename Int>
struct SubarrayArguments {
  int ndims;
  const Int* sizes;
  const Int* subsizes;
  const Int* starts;
  int order;
};

bool valid_order(int order) {
  return order == MPI_ORDER_C || order == MPI_ORDER_FORTRAN;
}

template <typename Int>
int make_subarray(const SubarrayArguments<Int>& given, MPI_Datatype oldtype,
                  MPI_Datatype* newtype) {
  Construction make(MPI_COMBINER_SUBARRAY, newtype);
  make.number(given.ndims, 1);
  const auto sizes = make.numbers(given.ndims, given.sizes, 1);
  const auto subsizes = make.numbers(given.ndims, given.subsizes, 1);
  const auto starts = make.numbers(given.ndims, given.starts, 0);
  make.number(given.order);
  if (!valid_order(given.order)) make.fail(MPI_ERR_ARG);
  const Datatype* old = make.type(oldtype);
  if (!make.good()) return make.finish();
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    if (subsizes[d] > sizes[d] || starts[d] > sizes[d] - subsizes[d]) make.fail(MPI_ERR_ARG);
  }
  const bool fortran = given.order == MPI_ORDER_FORTRAN;
  return make.finish(subarray_shape(old->shape(), {sizes, subsizes, starts, fortran}));
}

template <typename Int>
struct DarrayArguments {
  int size;
  int rank;
  int ndims;
  const Int* gsizes;
  const int* distribs;
  const int* dargs;
  const int* psizes;
  int order;
};

// The distribution of one dimension; empty if the arguments contradict each other.
std::optional<Distribution> find_distribution(std::int64_t size, int kind, int argument,
                                              int processes) {
  Distribution distribution{size, kind, 1, processes, 0};
  const bool usual = argument == MPI_DISTRIBUTE_DFLT_DARG;
  switch (kind) {
    case MPI_DISTRIBUTE_NONE:
      if (processes != 1) return std::nullopt;
      return distribution;
    case MPI_DISTRIBUTE_BLOCK:
      distribution.block = usual ? (size - 1) / processes + 1 : argument;
      if (distribution.block < 1 || static_cast<Wide>(distribution.block) * processes < size) {
        return std::nullopt;
      }
      return distribution;
    case MPI_DISTRIBUTE_CYCLIC:
      distribution.block = usual ? 1 : argument;
      if (distribution.block < 1) return std::nullopt;
      return distribution;
    default:
      return std::nullopt;
  }
}

// Processes are numbered with the last dimension fastest, whatever the order of the array.
bool set_coordinates(std::vector<Distribution>& dimensions, int size, int rank) {
  Wide grid = 1;
  std::int64_t rest = rank;
  for (auto dimension = dimensions.rbegin(); dimension != dimensions.rend(); ++dimension) {
    dimension->coordinate = rest % dimension->processes;
    rest /= dimension->processes;
    grid *= dimension->processes;
    if (grid > size) return false;
  }
  return grid == size;
}

template <typename Int>
int make_darray(const DarrayArguments<Int>& given, MPI_Datatype oldtype, MPI_Datatype* newtype) {
  Construction make(MPI_COMBINER_DARRAY, newtype);
  make.number(given.size, 1);
  make.number(given.rank, 0);
  if (given.rank >= given.size) make.fail(MPI_ERR_ARG);
  make.number(given.ndims, 1);
  const auto sizes = make.numbers(given.ndims, given.gsizes, 1);
  make.numbers(given.ndims, given.distribs);
  make.numbers(given.ndims, given.dargs);
  make.numbers(given.ndims, given.psizes, 1);
  make.number(given.order);
  if (!valid_order(given.order)) make.fail(MPI_ERR_ARG);
  const Datatype* old = make.type(oldtype);
  if (!make.good()) return make.finish();
  std::vector<Distribution> dimensions;
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    const auto dimension =
        find_distribution(sizes[d], given.distribs[d], given.dargs[d], given.psizes[d]);
    if (!dimension) make.fail(MPI_ERR_ARG);
    if (dimension) dimensions.push_back(*dimension);
  }
  if (make.good() && !set_coordinates(dimensions, given.size, given.rank)) make.fail(MPI_ERR_ARG);
  if (!make.good()) return make.finish();
  return make.finish(darray_shape(old->shape(), dimensions, given.order == MPI_ORDER_FORTRAN));
}

template <typename Int>
int make_resized(MPI_Datatype oldtype, std::int64_t lower, std::int64_t extent,
                 MPI_Datatype* newtype) {
  Construction make(MPI_COMBINER_RESIZED, newtype);
  make.address<Int>(lower);
  make.address<Int>(extent);
  const Datatype* old = make.type(oldtype);
  if (!make.good()) return make.finish();
  return make.finish(resized_shape(old->shape(), lower, extent));
}

int make_dup(MPI_Datatype oldtype, MPI_Datatype* newtype) {
  const CallLockHeld held;  // Attributes are copied.
  Construction make(MPI_COMBINER_DUP, newtype);
  const Datatype* old = make.type(oldtype);
  if (!make.good()) return make.finish();
  Datatype* made = Datatype::make(old->shape(), {MPI_COMBINER_DUP, {}, {}, {}, {oldtype}});
  if (old->committed()) made->commit();
  if (const int error = copy_attributes(oldtype, made->handle())) {
    Datatype::release(made);
    *newtype = MPI_DATATYPE_NULL;
    return report(MPI_COMM_NULL, error);
  }
  *newtype = made->handle();
  return MPI_SUCCESS;
}

int make_fortran(const FortranType& wanted, MPI_Datatype* newtype) {
  const bool any = wanted.kind != FortranKind::integer && wanted.precision == MPI_UNDEFINED &&
                   wanted.range == MPI_UNDEFINED;
  const bool negative = (wanted.precision < 0 && wanted.precision != MPI_UNDEFINED) ||
                        (wanted.range < 0 && wanted.range != MPI_UNDEFINED);
  if (newtype == nullptr || any || negative) return report(MPI_COMM_NULL, MPI_ERR_ARG);
  const MPI_Datatype type = fortran_type_handle(wanted);
  if (type == MPI_DATATYPE_NULL) return report(MPI_COMM_NULL, MPI_ERR_ARG);
  *newtype = type;
  return MPI_SUCCESS;
}

}  // namespace
}  // namespace weft::mpi

using namespace weft::mpi;

// The standard chose the arguments. NOLINTBEGIN(readability-function-size)

WEFT_MPI(Type_contiguous)(int count, MPI_Datatype oldtype, MPI_Datatype* newtype) {
  return make_contiguous(count, oldtype, newtype);
}
WEFT_MPI(Type_contiguous_c)(MPI_Count count, MPI_Datatype oldtype, MPI_Datatype* newtype) {
  return make_contiguous(count, oldtype, newtype);
}

WEFT_MPI(Type_vector)
(int count, int blocklength, int stride, MPI_Datatype oldtype, MPI_Datatype* newtype) {
  return make_vector(count, blocklength, stride, oldtype, newtype);
}
WEFT_MPI(Type_vector_c)
(MPI_Count count, MPI_Count blocklength, MPI_Count stride, MPI_Datatype oldtype,
 MPI_Datatype* newtype) {
  return make_vector(count, blocklength, stride, oldtype, newtype);
}

WEFT_MPI(Type_create_hvector)
(int count, int blocklength, MPI_Aint stride, MPI_Datatype oldtype, MPI_Datatype* newtype) {
  return make_hvector(count, blocklength, stride, oldtype, newtype);
}
WEFT_MPI(Type_create_hvector_c)
(MPI_Count count, MPI_Count blocklength, MPI_Count stride, MPI_Datatype oldtype,
 MPI_Datatype* newtype) {
  return make_hvector(count, blocklength, stride, oldtype, newtype);
}

WEFT_MPI(Type_indexed)
(int count, const int lengths[], const int displacements[], MPI_Datatype oldtype,
 MPI_Datatype* newtype) {
  return make_indexed(count, lengths, displacements, oldtype, newtype);
}
WEFT_MPI(Type_indexed_c)
(MPI_Count count, const MPI_Count lengths[], const MPI_Count displacements[], MPI_Datatype oldtype,
 MPI_Datatype* newtype) {
  return make_indexed(count, lengths, displacements, oldtype, newtype);
}

WEFT_MPI(Type_create_hindexed)
(int count, const int lengths[], const MPI_Aint displacements[], MPI_Datatype oldtype,
 MPI_Datatype* newtype) {
  return make_hindexed(count, lengths, displacements, oldtype, newtype);
}
WEFT_MPI(Type_create_hindexed_c)
(MPI_Count count, const MPI_Count lengths[], const MPI_Count displacements[], MPI_Datatype oldtype,
 MPI_Datatype* newtype) {
  return make_hindexed(count, lengths, displacements, oldtype, newtype);
}

WEFT_MPI(Type_create_indexed_block)
(int count, int blocklength, const int displacements[], MPI_Datatype oldtype,
 MPI_Datatype* newtype) {
  return make_indexed_block(count, blocklength, displacements, oldtype, newtype);
}
WEFT_MPI(Type_create_indexed_block_c)
(MPI_Count count, MPI_Count blocklength, const MPI_Count displacements[], MPI_Datatype oldtype,
 MPI_Datatype* newtype) {
  return make_indexed_block(count, blocklength, displacements, oldtype, newtype);
}

WEFT_MPI(Type_create_hindexed_block)
(int count, int blocklength, const MPI_Aint displacements[], MPI_Datatype oldtype,
 MPI_Datatype* newtype) {
  return make_hindexed_block(count, blocklength, displacements, oldtype, newtype);
}
WEFT_MPI(Type_create_hindexed_block_c)
(MPI_Count count, MPI_Count blocklength, const MPI_Count displacements[], MPI_Datatype oldtype,
 MPI_Datatype* newtype) {
  return make_hindexed_block(count, blocklength, displacements, oldtype, newtype);
}

WEFT_MPI(Type_create_struct)
(int count, const int lengths[], const MPI_Aint displacements[], const MPI_Datatype types[],
 MPI_Datatype* newtype) {
  return make_struct(count, lengths, displacements, types, newtype);
}
WEFT_MPI(Type_create_struct_c)
(MPI_Count count, const MPI_Count lengths[], const MPI_Count displacements[],
 const MPI_Datatype types[], MPI_Datatype* newtype) {
  return make_struct(count, lengths, displacements, types, newtype);
}

WEFT_MPI(Type_create_subarray)
(int ndims, const int sizes[], const int subsizes[], const int starts[], int order,
 MPI_Datatype oldtype, MPI_Datatype* newtype) {
  return make_subarray<int>({ndims, sizes, subsizes, starts, order}, oldtype, newtype);
}
WEFT_MPI(Type_create_subarray_c)
(int ndims, const MPI_Count sizes[], const MPI_Count subsizes[], const MPI_Count starts[],
 int order, MPI_Datatype oldtype, MPI_Datatype* newtype) {
  return make_subarray<MPI_Count>({ndims, sizes, subsizes, starts, order}, oldtype, newtype);
}

WEFT_MPI(Type_create_darray)
(int size, int rank, int ndims, const int gsizes[], const int distribs[], const int dargs[],
 const int psizes[], int order, MPI_Datatype oldtype, MPI_Datatype* newtype) {
  return make_darray<int>({size, rank, ndims, gsizes, distribs, dargs, psizes, order}, oldtype,
                          newtype);
}
WEFT_MPI(Type_create_darray_c)
(int size, int rank, int ndims, const MPI_Count gsizes[], const int distribs[], const int dargs[],
 const int psizes[], int order, MPI_Datatype oldtype, MPI_Datatype* newtype) {
  return make_darray<MPI_Count>({size, rank, ndims, gsizes, distribs, dargs, psizes, order},
                                oldtype, newtype);
}

WEFT_MPI(Type_create_resized)
(MPI_Datatype oldtype, MPI_Aint lb, MPI_Aint extent, MPI_Datatype* newtype) {
  return make_resized<int>(oldtype, lb, extent, newtype);
}
WEFT_MPI(Type_create_resized_c)
(MPI_Datatype oldtype, MPI_Count lb, MPI_Count extent, MPI_Datatype* newtype) {
  return make_resized<MPI_Count>(oldtype, lb, extent, newtype);
}

WEFT_MPI(Type_dup)(MPI_Datatype oldtype, MPI_Datatype* newtype) {
  return make_dup(oldtype, newtype);
}

WEFT_MPI(Type_create_f90_integer)(int r, MPI_Datatype* newtype) {
  return make_fortran({FortranKind::integer, MPI_UNDEFINED, r}, newtype);
}
WEFT_MPI(Type_create_f90_real)(int p, int r, MPI_Datatype* newtype) {
  return make_fortran({FortranKind::real, p, r}, newtype);
}
WEFT_MPI(Type_create_f90_complex)(int p, int r, MPI_Datatype* newtype) {
  return make_fortran({FortranKind::complex, p, r}, newtype);
}

WEFT_MPI(Type_commit)(MPI_Datatype* datatype) {
  if (datatype == nullptr) return report(MPI_COMM_NULL, MPI_ERR_ARG);
  if (find_type(*datatype) == nullptr) return report(MPI_COMM_NULL, MPI_ERR_TYPE);
  if (Datatype* type = find_derived_type(*datatype)) type->commit();
  return MPI_SUCCESS;
}

WEFT_MPI(Type_free)(MPI_Datatype* datatype) {
  const weft::CallLockHeld held;  // Handles and attributes are counted.
  if (datatype == nullptr) return report(MPI_COMM_NULL, MPI_ERR_ARG);
  Datatype* type = find_derived_type(*datatype);
  if (type == nullptr) return report(MPI_COMM_NULL, MPI_ERR_TYPE);
  if (type->drop_handle() == 0) {
    if (const int error = delete_attributes(*datatype)) {
      type->add_handle();
      return report(MPI_COMM_NULL, error);
    }
  }
  Datatype::release(type);
  *datatype = MPI_DATATYPE_NULL;
  return MPI_SUCCESS;
}

// NOLINTEND(readability-function-size)
