// SPDX-License-Identifier: Apache-2.0
// For tests of datatypes and operators without the rest of the library: replacements for what they
// need.
#include "datatype_test_support.hpp"

#include <cstdint>

#include <weft/message/mpi/attributes.hpp>
#include <weft/message/mpi/errors.hpp>

namespace weft::mpi {

AttributeCalls& attribute_calls() {
  static AttributeCalls calls;
  return calls;
}

int report(MPI_Comm, int error_class) {
  return error_class;
}

int copy_attributes(MPI_Datatype from, MPI_Datatype to) {
  attribute_calls().copied_from = from;
  attribute_calls().copied_to = to;
  return attribute_calls().result;
}

int delete_attributes(MPI_Datatype datatype) {
  attribute_calls().deleted = datatype;
  ++attribute_calls().deletions;
  return attribute_calls().result;
}

const std::string* given_name(MPI_Datatype) {
  return nullptr;
}

void give_name(MPI_Datatype, std::string) {}  // NOLINT(performance-unnecessary-value-param)

}  // namespace weft::mpi

WEFT_MPI(Type_toint)(MPI_Datatype datatype) {
  return static_cast<int>(reinterpret_cast<std::uintptr_t>(datatype) & 0xffff);
}
