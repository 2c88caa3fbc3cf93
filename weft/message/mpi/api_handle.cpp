// SPDX-License-Identifier: Apache-2.0
// Handles as integers, for Fortran. Predefined handles are their own numbers, as the ABI requires.
#include <algorithm>
#include <cstdint>

#include <weft/message/mpi/call.hpp>
#include <weft/message/mpi/file.hpp>
#include <weft/message/mpi/group.hpp>
#include <weft/message/mpi/handlers.hpp>
#include <weft/message/mpi/session.hpp>
#include <weft/message/mpi/taken.hpp>
#include <weft/message/mpi/window.hpp>

using weft::mpi::first_free_handle;
using weft::mpi::Inside;
using weft::mpi::self;

namespace {

// Also covers small values that are not predefined handles: they are no pointers either.
constexpr std::uintptr_t numbers_end = std::uintptr_t{1} << 30;

std::uintptr_t value_of(const void* handle) {
  return reinterpret_cast<std::uintptr_t>(handle);
}
void* handle_of_value(int number) {
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(number));
}

template <typename AnyPool>
int to_number(const AnyPool& pool, const void* handle) {
  if (value_of(handle) < first_free_handle) return static_cast<int>(value_of(handle));
  const auto* const object = pool.find(handle);
  return object ? pool.number(object) : -1;
}

// A number without an object gives an invalid handle, which the next call reports.
template <typename AnyPool>
void* from_number(const AnyPool& pool, int number) {
  if (number >= 0 && static_cast<std::uintptr_t>(number) < first_free_handle) {
    return handle_of_value(number);
  }
  return pool.numbered(number);
}

// Datatypes and operators do not live in a pool.
int to_listed(const void* handle) {
  if (value_of(handle) < numbers_end) return static_cast<int>(value_of(handle));
  auto& listed = self().numbered;
  const auto found = std::find(listed.begin(), listed.end(), handle);
  const auto index = static_cast<int>(found - listed.begin());
  if (found == listed.end()) listed.push_back(const_cast<void*>(handle));
  return static_cast<int>(numbers_end) + index;
}
void* from_listed(int number) {
  if (number >= 0 && static_cast<std::uintptr_t>(number) < numbers_end) {
    return handle_of_value(number);
  }
  const auto index = static_cast<std::size_t>(number) - numbers_end;
  const auto& listed = self().numbered;
  return index < listed.size() ? listed[index] : nullptr;
}

}  // namespace

#define WEFT_POOLED_HANDLE(type, name, pool)                    \
  WEFT_MPI(name##_toint)(type handle) {                         \
    const Inside inside;                                        \
    return to_number(self().pool, handle);                      \
  }                                                             \
  WEFT_MPI_AS(type, name##_fromint)(int number) {               \
    const Inside inside;                                        \
    return static_cast<type>(from_number(self().pool, number)); \
  }
#define WEFT_LISTED_HANDLE(type, name)             \
  WEFT_MPI(name##_toint)(type handle) {            \
    const Inside inside;                           \
    return to_listed(handle);                      \
  }                                                \
  WEFT_MPI_AS(type, name##_fromint)(int number) {  \
    const Inside inside;                           \
    return static_cast<type>(from_listed(number)); \
  }

WEFT_POOLED_HANDLE(MPI_Comm, Comm, communicators)
WEFT_POOLED_HANDLE(MPI_Errhandler, Errhandler, handlers)
WEFT_POOLED_HANDLE(MPI_Group, Group, groups)
WEFT_POOLED_HANDLE(MPI_Info, Info, infos)
WEFT_POOLED_HANDLE(MPI_Message, Message, taken)
WEFT_POOLED_HANDLE(MPI_Request, Request, requests)
WEFT_POOLED_HANDLE(MPI_File, File, files)
WEFT_LISTED_HANDLE(MPI_Op, Op)
WEFT_POOLED_HANDLE(MPI_Session, Session, sessions)
WEFT_LISTED_HANDLE(MPI_Datatype, Type)
WEFT_POOLED_HANDLE(MPI_Win, Win, windows)
