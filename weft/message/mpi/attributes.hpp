// SPDX-License-Identifier: Apache-2.0
// What happens to the attributes of a datatype when it is copied and when it ends. The datatype
// itself only keeps a slot for them. All ranks share the predefined types, so that what one rank
// says of them is kept here too.
#pragma once

#include <string>

#include <weft/message/mpi/include/mpi.h>

namespace weft::mpi {

// Calls the copy functions of the attributes of from; on success to has its own. Returns the first
// error that a copy function returned.
int copy_attributes(MPI_Datatype from, MPI_Datatype to);

// Calls the delete functions. On an error the datatype lives on.
int delete_attributes(MPI_Datatype datatype);

// The name that this rank gave to a predefined type; null if it has its own.
const std::string* given_name(MPI_Datatype predefined);
void give_name(MPI_Datatype predefined, std::string name);

}  // namespace weft::mpi
