// SPDX-License-Identifier: Apache-2.0
// The entry points that query datatypes: sizes, bounds, construction, names.
#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include <weft/message/mpi/attributes.hpp>
#include <weft/message/mpi/datatype.hpp>
#include <weft/message/mpi/errors.hpp>
#include <weft/message/mpi/include/mpi.h>
#include <weft/message/port/call_lock.hpp>

namespace weft::mpi {
namespace {

// Numbers that do not fit into the caller's type become MPI_UNDEFINED.
template <typename Int>
void store(std::int64_t value, Int* out) {
  const bool fits =
      value >= std::numeric_limits<Int>::min() && value <= std::numeric_limits<Int>::max();
  *out = fits ? static_cast<Int>(value) : static_cast<Int>(MPI_UNDEFINED);
}

template <typename Int>
int get_size(MPI_Datatype datatype, Int* size) {
  const Datatype* type = find_type(datatype);
  if (type == nullptr) return report(MPI_COMM_NULL, MPI_ERR_TYPE);
  if (size == nullptr) return report(MPI_COMM_NULL, MPI_ERR_ARG);
  store(type->size(), size);
  return MPI_SUCCESS;
}

template <typename Int>
int get_extent(MPI_Datatype datatype, Int* lower, Int* extent) {
  const Datatype* type = find_type(datatype);
  if (type == nullptr) return report(MPI_COMM_NULL, MPI_ERR_TYPE);
  if (lower == nullptr || extent == nullptr) return report(MPI_COMM_NULL, MPI_ERR_ARG);
  store(type->lower_bound(), lower);
  store(type->extent(), extent);
  return MPI_SUCCESS;
}

template <typename Int>
int get_true_extent(MPI_Datatype datatype, Int* lower, Int* extent) {
  const Datatype* type = find_type(datatype);
  if (type == nullptr) return report(MPI_COMM_NULL, MPI_ERR_TYPE);
  if (lower == nullptr || extent == nullptr) return report(MPI_COMM_NULL, MPI_ERR_ARG);
  store(type->true_lower_bound(), lower);
  store(type->true_extent(), extent);
  return MPI_SUCCESS;
}

// Parameterised Fortran types have their arguments in the handle.
Contents contents_of(MPI_Datatype handle, const Datatype& type) {
  const auto fortran = find_fortran_type(handle);
  if (!fortran) return type.contents();
  switch (fortran->kind) {
    case FortranKind::integer:
      return {MPI_COMBINER_F90_INTEGER, {fortran->range}, {}, {}, {}};
    case FortranKind::real:
      return {MPI_COMBINER_F90_REAL, {fortran->precision, fortran->range}, {}, {}, {}};
    case FortranKind::complex:
      break;
  }
  return {MPI_COMBINER_F90_COMPLEX, {fortran->precision, fortran->range}, {}, {}, {}};
}

template <typename T, typename Out>
void copy_out(const std::vector<T>& values, Out* out) {
  std::copy(values.begin(), values.end(), out);
}

// Each handle that is returned must be freed by the program.
void copy_types(const std::vector<MPI_Datatype>& types, MPI_Datatype* out) {
  const CallLockHeld held;
  for (const MPI_Datatype handle : types) {
    if (Datatype* type = find_derived_type(handle)) {
      type->retain();
      type->add_handle();
    }
    *out++ = handle;
  }
}

struct Room {
  MPI_Count integers;
  MPI_Count addresses;
  MPI_Count large_counts;
  MPI_Count types;

  bool holds(const Contents& contents) const {
    return std::ssize(contents.integers) <= integers &&
           std::ssize(contents.addresses) <= addresses &&
           std::ssize(contents.large_counts) <= large_counts && std::ssize(contents.types) <= types;
  }
};

struct ContentsOut {
  int* integers;
  MPI_Aint* addresses;
  MPI_Count* large_counts;
  MPI_Datatype* types;
};

int get_contents(MPI_Datatype datatype, const Room& room, const ContentsOut& out) {
  const Datatype* type = find_type(datatype);
  if (type == nullptr) return report(MPI_COMM_NULL, MPI_ERR_TYPE);
  const Contents contents = contents_of(datatype, *type);
  if (contents.combiner == MPI_COMBINER_NAMED) return report(MPI_COMM_NULL, MPI_ERR_TYPE);
  if (!room.holds(contents)) return report(MPI_COMM_NULL, MPI_ERR_ARG);
  copy_out(contents.integers, out.integers);
  copy_out(contents.addresses, out.addresses);
  copy_out(contents.large_counts, out.large_counts);
  copy_types(contents.types, out.types);
  return MPI_SUCCESS;
}

int match_size(int typeclass, int size, MPI_Datatype* datatype) {
  struct Match {
    int typeclass;
    int size;
    MPI_Datatype type;
  };
  const std::array matches = {
      Match{MPI_TYPECLASS_LOGICAL, 1, MPI_LOGICAL1},
      Match{MPI_TYPECLASS_LOGICAL, 2, MPI_LOGICAL2},
      Match{MPI_TYPECLASS_LOGICAL, 4, MPI_LOGICAL4},
      Match{MPI_TYPECLASS_LOGICAL, 8, MPI_LOGICAL8},
      Match{MPI_TYPECLASS_LOGICAL, 16, MPI_LOGICAL16},
      Match{MPI_TYPECLASS_INTEGER, 1, MPI_INTEGER1},
      Match{MPI_TYPECLASS_INTEGER, 2, MPI_INTEGER2},
      Match{MPI_TYPECLASS_INTEGER, 4, MPI_INTEGER4},
      Match{MPI_TYPECLASS_INTEGER, 8, MPI_INTEGER8},
      Match{MPI_TYPECLASS_INTEGER, 16, MPI_INTEGER16},
      Match{MPI_TYPECLASS_REAL, 2, MPI_REAL2},
      Match{MPI_TYPECLASS_REAL, 4, MPI_REAL4},
      Match{MPI_TYPECLASS_REAL, 8, MPI_REAL8},
      Match{MPI_TYPECLASS_REAL, 16, MPI_REAL16},
      Match{MPI_TYPECLASS_COMPLEX, 4, MPI_COMPLEX4},
      Match{MPI_TYPECLASS_COMPLEX, 8, MPI_COMPLEX8},
      Match{MPI_TYPECLASS_COMPLEX, 16, MPI_COMPLEX16},
      Match{MPI_TYPECLASS_COMPLEX, 32, MPI_COMPLEX32},
  };
  for (const Match& match : matches) {
    if (match.typeclass != typeclass || match.size != size) continue;
    *datatype = match.type;
    return MPI_SUCCESS;
  }
  return report(MPI_COMM_NULL, MPI_ERR_ARG);
}

}  // namespace
}  // namespace weft::mpi

using namespace weft::mpi;

// The standard chose the arguments. NOLINTBEGIN(readability-function-size)

WEFT_MPI(Type_size)(MPI_Datatype datatype, int* size) {
  return get_size(datatype, size);
}
WEFT_MPI(Type_size_c)(MPI_Datatype datatype, MPI_Count* size) {
  return get_size(datatype, size);
}
WEFT_MPI(Type_size_x)(MPI_Datatype datatype, MPI_Count* size) {
  return get_size(datatype, size);
}

WEFT_MPI(Type_get_extent)(MPI_Datatype datatype, MPI_Aint* lb, MPI_Aint* extent) {
  return get_extent(datatype, lb, extent);
}
WEFT_MPI(Type_get_extent_c)(MPI_Datatype datatype, MPI_Count* lb, MPI_Count* extent) {
  return get_extent(datatype, lb, extent);
}
WEFT_MPI(Type_get_extent_x)(MPI_Datatype datatype, MPI_Count* lb, MPI_Count* extent) {
  return get_extent(datatype, lb, extent);
}

WEFT_MPI(Type_get_true_extent)(MPI_Datatype datatype, MPI_Aint* lb, MPI_Aint* extent) {
  return get_true_extent(datatype, lb, extent);
}
WEFT_MPI(Type_get_true_extent_c)(MPI_Datatype datatype, MPI_Count* lb, MPI_Count* extent) {
  return get_true_extent(datatype, lb, extent);
}
WEFT_MPI(Type_get_true_extent_x)(MPI_Datatype datatype, MPI_Count* lb, MPI_Count* extent) {
  return get_true_extent(datatype, lb, extent);
}

WEFT_MPI(Type_get_envelope)
(MPI_Datatype datatype, int* num_integers, int* num_addresses, int* num_datatypes, int* combiner) {
  const Datatype* type = find_type(datatype);
  if (type == nullptr) return report(MPI_COMM_NULL, MPI_ERR_TYPE);
  const Contents contents = contents_of(datatype, *type);
  // A type that was created with large counts can only be queried with them.
  if (!contents.large_counts.empty()) return report(MPI_COMM_NULL, MPI_ERR_TYPE);
  store(std::ssize(contents.integers), num_integers);
  store(std::ssize(contents.addresses), num_addresses);
  store(std::ssize(contents.types), num_datatypes);
  *combiner = contents.combiner;
  return MPI_SUCCESS;
}

WEFT_MPI(Type_get_envelope_c)
(MPI_Datatype datatype, MPI_Count* num_integers, MPI_Count* num_addresses,
 MPI_Count* num_large_counts, MPI_Count* num_datatypes, int* combiner) {
  const Datatype* type = find_type(datatype);
  if (type == nullptr) return report(MPI_COMM_NULL, MPI_ERR_TYPE);
  const Contents contents = contents_of(datatype, *type);
  *num_integers = std::ssize(contents.integers);
  *num_addresses = std::ssize(contents.addresses);
  *num_large_counts = std::ssize(contents.large_counts);
  *num_datatypes = std::ssize(contents.types);
  *combiner = contents.combiner;
  return MPI_SUCCESS;
}

WEFT_MPI(Type_get_contents)
(MPI_Datatype datatype, int max_integers, int max_addresses, int max_datatypes, int integers[],
 MPI_Aint addresses[], MPI_Datatype datatypes[]) {
  return get_contents(datatype, {max_integers, max_addresses, 0, max_datatypes},
                      {integers, addresses, nullptr, datatypes});
}

WEFT_MPI(Type_get_contents_c)
(MPI_Datatype datatype, MPI_Count max_integers, MPI_Count max_addresses, MPI_Count max_large_counts,
 MPI_Count max_datatypes, int integers[], MPI_Aint addresses[], MPI_Count large_counts[],
 MPI_Datatype datatypes[]) {
  return get_contents(datatype, {max_integers, max_addresses, max_large_counts, max_datatypes},
                      {integers, addresses, large_counts, datatypes});
}

WEFT_MPI(Type_get_name)(MPI_Datatype datatype, char* type_name, int* resultlen) {
  const weft::CallLockHeld held;
  // A null handle has a name as well.
  const Datatype* type = find_type(datatype);
  if (type == nullptr && datatype != MPI_DATATYPE_NULL) return report(MPI_COMM_NULL, MPI_ERR_TYPE);
  if (type_name == nullptr || resultlen == nullptr) return report(MPI_COMM_NULL, MPI_ERR_ARG);
  const std::string* given = find_derived_type(datatype) ? nullptr : given_name(datatype);
  const std::string name = type == nullptr ? "MPI_DATATYPE_NULL" : given ? *given : type->name();
  std::memcpy(type_name, name.c_str(), name.size() + 1);
  *resultlen = static_cast<int>(name.size());
  return MPI_SUCCESS;
}

WEFT_MPI(Type_set_name)(MPI_Datatype datatype, const char* type_name) {
  const weft::CallLockHeld held;
  if (find_type(datatype) == nullptr) return report(MPI_COMM_NULL, MPI_ERR_TYPE);
  if (type_name == nullptr) return report(MPI_COMM_NULL, MPI_ERR_ARG);
  std::string name(type_name, strnlen(type_name, MPI_MAX_OBJECT_NAME - 1));
  if (Datatype* type = find_derived_type(datatype)) {
    type->set_name(std::move(name));
  } else {
    give_name(datatype, std::move(name));
  }
  return MPI_SUCCESS;
}

WEFT_MPI(Type_match_size)(int typeclass, int size, MPI_Datatype* datatype) {
  if (datatype == nullptr) return report(MPI_COMM_NULL, MPI_ERR_ARG);
  return match_size(typeclass, size, datatype);
}

WEFT_MPI(Type_get_value_index)
(MPI_Datatype value_type, MPI_Datatype index_type, MPI_Datatype* pair_type) {
  const Datatype* value = find_type(value_type);
  const Datatype* index = find_type(index_type);
  if (value == nullptr || index == nullptr) return report(MPI_COMM_NULL, MPI_ERR_TYPE);
  if (pair_type == nullptr) return report(MPI_COMM_NULL, MPI_ERR_ARG);
  *pair_type = MPI_DATATYPE_NULL;
  if (value->basic() == nullptr || index->basic() == nullptr) return MPI_SUCCESS;
  for (const PairType& pair : pair_types()) {
    if (pair.value != value->basic()->handle || pair.index != index->basic()->handle) continue;
    *pair_type = reinterpret_cast<MPI_Datatype>(  // NOLINT(performance-no-int-to-ptr)
        static_cast<std::uintptr_t>(pair.handle));
  }
  return MPI_SUCCESS;
}

// NOLINTEND(readability-function-size)
