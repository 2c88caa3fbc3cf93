// SPDX-License-Identifier: Apache-2.0
#include "error_codes.hpp"

#include <array>
#include <cstddef>

namespace weft::mpi {

namespace {

// In numerical order, starting with MPI_SUCCESS.
constexpr std::array<const char*, 63> texts = {
    "no error",
    "invalid buffer",
    "invalid count",
    "invalid datatype",
    "invalid tag",
    "invalid communicator",
    "invalid rank",
    "invalid request",
    "invalid root",
    "invalid group",
    "invalid reduction operation",
    "invalid topology",
    "invalid dimensions",
    "invalid argument",
    "unknown error",
    "message truncated",
    "other error",
    "internal error",
    "request still pending",
    "error code is in the status",
    "permission denied",
    "invalid mode of access",
    "invalid assertion",
    "invalid file name",
    "invalid base of memory",
    "error in conversion of data",
    "invalid displacement",
    "data representation defined twice",
    "file exists",
    "file is in use",
    "invalid file",
    "invalid key of info",
    "no such key in info",
    "invalid value of info",
    "invalid info",
    "error in input or output",
    "invalid key of attribute",
    "invalid type of lock",
    "unknown service name",
    "out of memory",
    "arguments differ between ranks",
    "no space left",
    "no such file",
    "invalid port",
    "quota exceeded",
    "read-only file",
    "memory cannot be attached",
    "conflicting accesses to a window",
    "outside of the window",
    "memory cannot be shared",
    "wrong synchronization of a window",
    "unknown service",
    "invalid size",
    "processes cannot be started",
    "unsupported data representation",
    "unsupported operation",
    "invalid window",
    "wrong flavor of window",
    "a process has aborted",
    "value too large",
    "invalid session",
    "invalid error handler",
    "error in the binary interface",
};
static_assert(texts.size() == MPI_ERR_ABI + 1);

// Beyond those of the standard.
const char* text_of_failure(int error_class) {
  switch (error_class) {
    case MPI_ERR_PROC_FAILED:
      return "a process has failed";
    case MPI_ERR_PROC_FAILED_PENDING:
      return "a process has failed, and the request waits for any";
    case MPI_ERR_REVOKED:
      return "the communicator is revoked";
    default:
      return nullptr;
  }
}

}  // namespace

const char* standard_text(int error_class) {
  if (error_class == MPI_ERR_LASTCODE) return "last error code of the standard";
  if (const char* text = text_of_failure(error_class)) return text;
  if (error_class < 0 || error_class >= static_cast<int>(texts.size())) return nullptr;
  return texts[static_cast<std::size_t>(error_class)];
}

ErrorCodes::Entry* ErrorCodes::find(int code) {
  const int index = code - first;
  if (index < 0 || index >= static_cast<int>(entries_.size())) return nullptr;
  Entry& entry = entries_[static_cast<std::size_t>(index)];
  return entry.error_class < 0 ? nullptr : &entry;
}

int ErrorCodes::last_used() const {
  return MPI_ERR_LASTCODE + static_cast<int>(entries_.size());
}

int ErrorCodes::add_class() {
  const int number = last_used() + 1;
  entries_.push_back({number, {}, 0});
  return number;
}

int ErrorCodes::add_code(int error_class) {
  Entry* known = find(error_class);
  if (standard_text(error_class) == nullptr && (!known || known->error_class != error_class)) {
    return -1;
  }
  if (known) ++known->codes;
  const int number = last_used() + 1;
  entries_.push_back({error_class, {}, 0});
  return number;
}

int ErrorCodes::remove_class(int error_class) {
  Entry* entry = find(error_class);
  if (!entry || entry->error_class != error_class) return MPI_ERR_ARG;
  if (entry->codes > 0 || !entry->text.empty()) return MPI_ERR_ARG;
  entry->error_class = -1;
  return MPI_SUCCESS;
}

int ErrorCodes::remove_code(int code) {
  Entry* entry = find(code);
  if (!entry || entry->error_class == code || !entry->text.empty()) return MPI_ERR_ARG;
  if (Entry* const of_class = find(entry->error_class)) --of_class->codes;
  entry->error_class = -1;
  return MPI_SUCCESS;
}

int ErrorCodes::set_text(int code, const std::string& text) {
  Entry* entry = find(code);
  if (!entry) return MPI_ERR_ARG;
  entry->text = text;
  return MPI_SUCCESS;
}

int ErrorCodes::remove_text(int code) {
  Entry* entry = find(code);
  if (!entry || entry->text.empty()) return MPI_ERR_ARG;
  entry->text.clear();
  return MPI_SUCCESS;
}

int ErrorCodes::class_of(int code) const {
  if (standard_text(code)) return code;
  const Entry* entry = find(code);
  return entry ? entry->error_class : -1;
}

const std::string* ErrorCodes::text(int code) const {
  const Entry* entry = find(code);
  return entry ? &entry->text : nullptr;
}

}  // namespace weft::mpi
