// SPDX-License-Identifier: Apache-2.0
// Error classes and codes: those of the standard, whose codes equal their classes, and those that
// the program adds.
#pragma once

#include <string>
#include <vector>

#include <weft/message/mpi/include/mpi.h>

namespace weft::mpi {

class ErrorCodes {
 public:
  int add_class();
  // Returns -1 if there is no such class.
  int add_code(int error_class);
  // Return an error for standard classes and codes, for removed ones and for those still in use.
  int remove_class(int error_class);
  int remove_code(int code);
  int set_text(int code, const std::string& text);
  int remove_text(int code);

  // Returns -1 if there is no such code.
  int class_of(int code) const;
  const std::string* text(int code) const;
  int last_used() const;

 private:
  struct Entry {
    int error_class = -1;  // -1: removed. Equal to its own number: a class.
    std::string text;
    int codes = 0;  // Of a class: how many codes it has besides its own.
  };
  static constexpr int first = MPI_ERR_LASTCODE + 1;
  Entry* find(int code);
  const Entry* find(int code) const { return const_cast<ErrorCodes*>(this)->find(code); }
  std::vector<Entry> entries_;
};

// The description of a standard class; null for other numbers.
const char* standard_text(int error_class);

}  // namespace weft::mpi
