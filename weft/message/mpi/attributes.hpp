// SPDX-License-Identifier: Apache-2.0
// Attributes of a datatype when it is copied and when it is freed. The datatype itself only keeps a
// slot for them. All ranks share the predefined types, so attributes and names that a rank gives
// them are kept here too.
#pragma once

#include <string>

#include <weft/message/mpi/include/mpi.h>

namespace weft::mpi {

// Calls the copy functions of the attributes of `from`; on success `to` has its own. Returns the
// first error of a copy function.
int copy_attributes(MPI_Datatype from, MPI_Datatype to);

// Calls the delete functions. On an error the datatype is not freed.
int delete_attributes(MPI_Datatype datatype);

// The name that this rank gave to a predefined type; null if none.
const std::string* given_name(MPI_Datatype predefined);
void give_name(MPI_Datatype predefined, std::string name);

}  // namespace weft::mpi
