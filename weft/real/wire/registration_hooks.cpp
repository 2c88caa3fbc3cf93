// SPDX-License-Identifier: Apache-2.0
// What a program calls to change its mappings. Belongs into the shared library that the program
// links first; there it stands before the C library's own. Without RDMA rails each costs one look
// at a flag more.
#include <cerrno>
#include <cstdarg>
#include <cstddef>
#include <cstdint>

#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <weft/real/wire/registration_watch.hpp>

using weft::wire::RegistrationWatch;

namespace {

constexpr std::size_t page = 4096;

// Rounded up as the system does; more is never wrong.
std::size_t whole_pages(std::size_t size) {
  const std::size_t rounded = (size + page - 1) & ~(page - 1);
  return rounded < size ? size : rounded;
}

void* as_pointer(long result) {
  return reinterpret_cast<void*>(result);
}

}  // namespace

// The names and the declarations are the C library's.
// NOLINTBEGIN(readability-identifier-naming,readability-function-size)
extern "C" {

bool weft_memory_hooks() {
  return true;
}

void* __sbrk(std::intptr_t change);

#pragma GCC visibility push(default)

void* mmap(void* wish, std::size_t size, int protection, int flags, int file,
           off_t offset) noexcept {
  if ((flags & MAP_FIXED) != 0) RegistrationWatch::gone(wish, whole_pages(size));
  void* const made = as_pointer(::syscall(SYS_mmap, wish, size, protection, flags, file, offset));
  if (made != MAP_FAILED && (flags & MAP_ANONYMOUS) != 0) {
    RegistrationWatch::mapped(made, whole_pages(size));
  }
  return made;
}

void* mmap64(void* wish, std::size_t size, int protection, int flags, int file,
             off64_t offset) noexcept {
  return ::mmap(wish, size, protection, flags, file, offset);
}

int munmap(void* begin, std::size_t size) noexcept {
  RegistrationWatch::gone(begin, whole_pages(size));
  return static_cast<int>(::syscall(SYS_munmap, begin, size));
}

// Where it goes is not known afterwards: it may have been a file.
void* mremap(void* begin, std::size_t size, std::size_t wanted, int flags, ...) noexcept {
  void* place = nullptr;
  if ((flags & MREMAP_FIXED) != 0) {
    va_list more;
    va_start(more, flags);
    place = va_arg(more, void*);
    va_end(more);
    RegistrationWatch::gone(place, whole_pages(wanted));
  }
  RegistrationWatch::gone(begin, whole_pages(size));
  return as_pointer(::syscall(SYS_mremap, begin, size, wanted, flags, place));
}

int madvise(void* begin, std::size_t size, int advice) noexcept {
  constexpr int free_later = 8;  // MADV_FREE
  if (advice == MADV_DONTNEED || advice == MADV_REMOVE || advice == free_later) {
    RegistrationWatch::emptied(begin, whole_pages(size));
  }
  return static_cast<int>(::syscall(SYS_madvise, begin, size, advice));
}

void* sbrk(std::intptr_t change) noexcept {
  if (change < 0) {
    const auto size = static_cast<std::size_t>(-change);
    const char* const top = static_cast<const char*>(__sbrk(0));
    RegistrationWatch::emptied(top - size, size);
  }
  return __sbrk(change);
}

int brk(void* end) noexcept {
  static const auto next = reinterpret_cast<int (*)(void*)>(::dlsym(RTLD_NEXT, "brk"));
  const char* const top = static_cast<const char*>(__sbrk(0));
  const char* const wanted = static_cast<const char*>(end);
  if (wanted < top) RegistrationWatch::emptied(wanted, static_cast<std::size_t>(top - wanted));
  return next(end);
}

int malloc_trim(std::size_t keep) noexcept {
  static const auto next =
      reinterpret_cast<int (*)(std::size_t)>(::dlsym(RTLD_NEXT, "malloc_trim"));
  RegistrationWatch::emptied(nullptr, SIZE_MAX);
  return next(keep);
}

#pragma GCC visibility pop

}  // extern "C"
// NOLINTEND(readability-identifier-naming,readability-function-size)
