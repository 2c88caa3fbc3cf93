// SPDX-License-Identifier: Apache-2.0
// The entry points that pack and unpack, and those that count received elements.
#include <cstring>
#include <limits>
#include <vector>

#include <weft/message/mpi/datatype.hpp>
#include <weft/message/mpi/errors.hpp>
#include <weft/message/mpi/include/mpi.h>
#include <weft/message/mpi/status.hpp>

namespace weft::mpi {
namespace {

// Elements in the program's memory.
struct Memory {
  const void* buffer;
  std::int64_t count;
  MPI_Datatype datatype;
};

// Checks the elements and finds their type.
int check(const Memory& memory, const Datatype*& type) {
  if (memory.count < 0) return MPI_ERR_COUNT;
  type = find_type(memory.datatype);
  if (type == nullptr || !type->committed()) return MPI_ERR_TYPE;
  return type->fits(memory.count) ? MPI_SUCCESS : MPI_ERR_VALUE_TOO_LARGE;
}

// The packed buffer from the position on; the position advances by what was taken.
template <typename Int>
class Packed {
 public:
  Packed(const void* memory, std::int64_t size, Int* position)
      : memory_(static_cast<std::byte*>(const_cast<void*>(memory))),
        size_(size),
        position_(position) {}

  int check(std::int64_t bytes) const {
    if (position_ == nullptr || *position_ < 0 || size_ < 0) return MPI_ERR_ARG;
    if (memory_ == nullptr && bytes > 0) return MPI_ERR_BUFFER;
    return bytes > size_ - *position_ ? MPI_ERR_TRUNCATE : MPI_SUCCESS;
  }

  std::span<std::byte> take(std::int64_t bytes) {
    if (bytes == 0) return {};
    const std::span<std::byte> taken(memory_ + *position_, static_cast<std::size_t>(bytes));
    *position_ = static_cast<Int>(*position_ + bytes);
    return taken;
  }

 private:
  std::byte* memory_;
  std::int64_t size_;
  Int* position_;
};

template <typename Int>
int pack(const Memory& from, Packed<Int> to, MPI_Comm comm) {
  const Datatype* type = nullptr;
  if (comm == MPI_COMM_NULL) return report(MPI_COMM_NULL, MPI_ERR_COMM);
  if (const int error = check(from, type)) return report(comm, error);
  const std::int64_t bytes = from.count * type->size();
  if (const int error = to.check(bytes)) return report(comm, error);
  type->pack(from.buffer, from.count, 0, to.take(bytes));
  return MPI_SUCCESS;
}

template <typename Int>
int unpack(Packed<Int> from, const Memory& to, MPI_Comm comm) {
  const Datatype* type = nullptr;
  if (comm == MPI_COMM_NULL) return report(MPI_COMM_NULL, MPI_ERR_COMM);
  if (const int error = check(to, type)) return report(comm, error);
  const std::int64_t bytes = to.count * type->size();
  if (const int error = from.check(bytes)) return report(comm, error);
  type->unpack(const_cast<void*>(to.buffer), to.count, 0, from.take(bytes));
  return MPI_SUCCESS;
}

template <typename Int>
int pack_size(std::int64_t count, MPI_Datatype datatype, MPI_Comm comm, Int* size) {
  const Datatype* type = nullptr;
  if (comm == MPI_COMM_NULL) return report(MPI_COMM_NULL, MPI_ERR_COMM);
  if (const int error = check({nullptr, count, datatype}, type)) return report(comm, error);
  if (size == nullptr) return report(comm, MPI_ERR_ARG);
  const std::int64_t bytes = count * type->size();
  *size = bytes > std::numeric_limits<Int>::max() ? static_cast<Int>(MPI_UNDEFINED)
                                                  : static_cast<Int>(bytes);
  return MPI_SUCCESS;
}

bool is_external(const char* representation) {
  return representation != nullptr && std::strcmp(representation, "external32") == 0;
}

int pack_external(const char* representation, const Memory& from, Packed<std::int64_t> to) {
  const Datatype* type = nullptr;
  if (!is_external(representation)) return report(MPI_COMM_NULL, MPI_ERR_ARG);
  if (const int error = check(from, type)) return report(MPI_COMM_NULL, error);
  const std::int64_t bytes = external_size(*type, from.count);
  if (const int error = to.check(bytes)) return report(MPI_COMM_NULL, error);
  std::vector<std::byte> native(static_cast<std::size_t>(from.count * type->size()));
  type->pack(from.buffer, from.count, 0, native);
  to_external(*type, native, to.take(bytes));
  return MPI_SUCCESS;
}

int unpack_external(const char* representation, Packed<std::int64_t> from, const Memory& to) {
  const Datatype* type = nullptr;
  if (!is_external(representation)) return report(MPI_COMM_NULL, MPI_ERR_ARG);
  if (const int error = check(to, type)) return report(MPI_COMM_NULL, error);
  const std::int64_t bytes = external_size(*type, to.count);
  if (const int error = from.check(bytes)) return report(MPI_COMM_NULL, error);
  std::vector<std::byte> native(static_cast<std::size_t>(to.count * type->size()));
  from_external(*type, from.take(bytes), native);
  type->unpack(const_cast<void*>(to.buffer), to.count, 0, native);
  return MPI_SUCCESS;
}

int pack_external_size(const char* representation, std::int64_t count, MPI_Datatype datatype,
                       std::int64_t* size) {
  const Datatype* type = nullptr;
  if (!is_external(representation)) return report(MPI_COMM_NULL, MPI_ERR_ARG);
  if (const int error = check({nullptr, count, datatype}, type)) {
    return report(MPI_COMM_NULL, error);
  }
  if (size == nullptr) return report(MPI_COMM_NULL, MPI_ERR_ARG);
  *size = external_size(*type, count);
  return MPI_SUCCESS;
}

// A number of elements, which may be too large for the caller's type.
template <typename Int>
int give(std::optional<std::int64_t> elements, Int* count) {
  const bool fits = elements && *elements <= std::numeric_limits<Int>::max();
  *count = fits ? static_cast<Int>(*elements) : static_cast<Int>(MPI_UNDEFINED);
  return MPI_SUCCESS;
}

template <typename Int>
int get_count(const MPI_Status* status, MPI_Datatype datatype, Int* count) {
  const Datatype* type = find_type(datatype);
  if (type == nullptr) return report(MPI_COMM_NULL, MPI_ERR_TYPE);
  if (status == nullptr || count == nullptr) return report(MPI_COMM_NULL, MPI_ERR_ARG);
  const std::int64_t bytes = status_bytes(*status);
  if (bytes == 0) return give<Int>(0, count);
  if (type->size() == 0 || bytes % type->size() != 0) return give<Int>(std::nullopt, count);
  return give<Int>(bytes / type->size(), count);
}

template <typename Int>
int get_elements(const MPI_Status* status, MPI_Datatype datatype, Int* count) {
  const Datatype* type = find_type(datatype);
  if (type == nullptr) return report(MPI_COMM_NULL, MPI_ERR_TYPE);
  if (status == nullptr || count == nullptr) return report(MPI_COMM_NULL, MPI_ERR_ARG);
  return give<Int>(type->elements_in(status_bytes(*status)), count);
}

int set_elements(MPI_Status* status, MPI_Datatype datatype, MPI_Count count) {
  const Datatype* type = find_type(datatype);
  if (type == nullptr) return report(MPI_COMM_NULL, MPI_ERR_TYPE);
  if (count < 0) return report(MPI_COMM_NULL, MPI_ERR_COUNT);
  if (status == nullptr) return report(MPI_COMM_NULL, MPI_ERR_ARG);
  set_status_bytes(*status, type->bytes_of(count));
  return MPI_SUCCESS;
}

}  // namespace
}  // namespace weft::mpi

using namespace weft::mpi;

// The standard chose the arguments. NOLINTBEGIN(readability-function-size)

WEFT_MPI(Pack)
(const void* inbuf, int incount, MPI_Datatype datatype, void* outbuf, int outsize, int* position,
 MPI_Comm comm) {
  return pack(Memory{inbuf, incount, datatype}, Packed(outbuf, outsize, position), comm);
}
WEFT_MPI(Pack_c)
(const void* inbuf, MPI_Count incount, MPI_Datatype datatype, void* outbuf, MPI_Count outsize,
 MPI_Count* position, MPI_Comm comm) {
  return pack(Memory{inbuf, incount, datatype}, Packed(outbuf, outsize, position), comm);
}

WEFT_MPI(Unpack)
(const void* inbuf, int insize, int* position, void* outbuf, int outcount, MPI_Datatype datatype,
 MPI_Comm comm) {
  return unpack(Packed(inbuf, insize, position), Memory{outbuf, outcount, datatype}, comm);
}
WEFT_MPI(Unpack_c)
(const void* inbuf, MPI_Count insize, MPI_Count* position, void* outbuf, MPI_Count outcount,
 MPI_Datatype datatype, MPI_Comm comm) {
  return unpack(Packed(inbuf, insize, position), Memory{outbuf, outcount, datatype}, comm);
}

WEFT_MPI(Pack_size)(int incount, MPI_Datatype datatype, MPI_Comm comm, int* size) {
  return pack_size(incount, datatype, comm, size);
}
WEFT_MPI(Pack_size_c)
(MPI_Count incount, MPI_Datatype datatype, MPI_Comm comm, MPI_Count* size) {
  return pack_size(incount, datatype, comm, size);
}

WEFT_MPI(Pack_external)
(const char* datarep, const void* inbuf, int incount, MPI_Datatype datatype, void* outbuf,
 MPI_Aint outsize, MPI_Aint* position) {
  return pack_external(datarep, {inbuf, incount, datatype}, {outbuf, outsize, position});
}
WEFT_MPI(Pack_external_c)
(const char* datarep, const void* inbuf, MPI_Count incount, MPI_Datatype datatype, void* outbuf,
 MPI_Count outsize, MPI_Count* position) {
  return pack_external(datarep, {inbuf, incount, datatype}, {outbuf, outsize, position});
}

WEFT_MPI(Unpack_external)
(const char* datarep, const void* inbuf, MPI_Aint insize, MPI_Aint* position, void* outbuf,
 int outcount, MPI_Datatype datatype) {
  return unpack_external(datarep, {inbuf, insize, position}, {outbuf, outcount, datatype});
}
WEFT_MPI(Unpack_external_c)
(const char* datarep, const void* inbuf, MPI_Count insize, MPI_Count* position, void* outbuf,
 MPI_Count outcount, MPI_Datatype datatype) {
  return unpack_external(datarep, {inbuf, insize, position}, {outbuf, outcount, datatype});
}

WEFT_MPI(Pack_external_size)
(const char* datarep, int incount, MPI_Datatype datatype, MPI_Aint* size) {
  return pack_external_size(datarep, incount, datatype, size);
}
WEFT_MPI(Pack_external_size_c)
(const char* datarep, MPI_Count incount, MPI_Datatype datatype, MPI_Count* size) {
  return pack_external_size(datarep, incount, datatype, size);
}

WEFT_MPI(Get_address)(const void* location, MPI_Aint* address) {
  if (address == nullptr) return report(MPI_COMM_NULL, MPI_ERR_ARG);
  *address = reinterpret_cast<MPI_Aint>(location);
  return MPI_SUCCESS;
}

// Addresses wrap around like unsigned numbers.
WEFT_MPI_AS(MPI_Aint, Aint_add)(MPI_Aint base, MPI_Aint disp) {
  return static_cast<MPI_Aint>(static_cast<std::uintptr_t>(base) +
                               static_cast<std::uintptr_t>(disp));
}
WEFT_MPI_AS(MPI_Aint, Aint_diff)(MPI_Aint addr1, MPI_Aint addr2) {
  return static_cast<MPI_Aint>(static_cast<std::uintptr_t>(addr1) -
                               static_cast<std::uintptr_t>(addr2));
}

WEFT_MPI(Get_count)(const MPI_Status* status, MPI_Datatype datatype, int* count) {
  return get_count(status, datatype, count);
}
WEFT_MPI(Get_count_c)(const MPI_Status* status, MPI_Datatype datatype, MPI_Count* count) {
  return get_count(status, datatype, count);
}

WEFT_MPI(Get_elements)(const MPI_Status* status, MPI_Datatype datatype, int* count) {
  return get_elements(status, datatype, count);
}
WEFT_MPI(Get_elements_c)(const MPI_Status* status, MPI_Datatype datatype, MPI_Count* count) {
  return get_elements(status, datatype, count);
}
WEFT_MPI(Get_elements_x)(const MPI_Status* status, MPI_Datatype datatype, MPI_Count* count) {
  return get_elements(status, datatype, count);
}

WEFT_MPI(Status_set_elements)(MPI_Status* status, MPI_Datatype datatype, int count) {
  return set_elements(status, datatype, count);
}
WEFT_MPI(Status_set_elements_c)(MPI_Status* status, MPI_Datatype datatype, MPI_Count count) {
  return set_elements(status, datatype, count);
}
WEFT_MPI(Status_set_elements_x)(MPI_Status* status, MPI_Datatype datatype, MPI_Count count) {
  return set_elements(status, datatype, count);
}

// NOLINTEND(readability-function-size)
