// SPDX-License-Identifier: Apache-2.0
// Attributes: values that a program attaches to communicators, datatypes and windows, under keys
// with functions to copy and to delete them.
#pragma once

#include <cstdint>
#include <vector>

#include <weft/message/mpi/include/mpi.h>

namespace weft::mpi {

class Call;
struct Process;

struct Keyval {
  enum class Kind : std::uint8_t { comm, type, win };
  union Copy {
    MPI_Comm_copy_attr_function* comm;
    MPI_Type_copy_attr_function* type;
    MPI_Win_copy_attr_function* win;
  };
  union Delete {
    MPI_Comm_delete_attr_function* comm;
    MPI_Type_delete_attr_function* type;
    MPI_Win_delete_attr_function* win;
  };
  Kind kind = Kind::comm;
  bool freed = false;       // By the program; kept while attributes use it.
  std::uint32_t users = 0;  // Attributes, and functions that run.
  Copy copy = {nullptr};
  Delete remove = {nullptr};
  void* extra_state = nullptr;
};

// The attributes of one object. The object's handle is passed to the program's functions, which may
// set and delete attributes, also of the same object: no reference into the list outlives a call.
class Attributes {
 public:
  int set(Process& process, void* object, int keyval, void* value);
  bool get(int keyval, void** value) const;
  int erase(Process& process, void* object, int keyval);
  // For a duplicate: calls the copy functions. On an error the caller clears `to`.
  int copy_to(Process& process, void* object, Attributes& to);
  // Last set, first deleted. Stops at the first error.
  int clear(Process& process, void* object);
  bool empty() const { return values_.empty(); }

 private:
  struct Value {
    int keyval;
    void* value;
  };
  Value* find(int keyval);  // Null: none.

  std::vector<Value> values_;
};

// The key of this kind; null if there is none. A freed key can be used as long as attributes need
// it, since they are deleted with its functions.
Keyval* find_keyval(Process& process, int keyval, Keyval::Kind kind);

// For the entry points of all kinds; errors have been reported.
int make_keyval(Call& call, const Keyval& key, int* keyval);
int free_keyval(Call& call, int* keyval, Keyval::Kind kind);

}  // namespace weft::mpi
