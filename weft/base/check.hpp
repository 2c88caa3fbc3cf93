// SPDX-License-Identifier: Apache-2.0
// Assertions about weft itself. A failed check is a bug in weft, never bad input: it prints its
// location and aborts, in release builds too.
#pragma once  // Public, for all who build on weft: names and meanings stay within 0.1.

namespace weft::detail {
[[noreturn]] void check_failed(const char* condition, const char* file, int line);
}  // namespace weft::detail

#define WEFT_CHECK(condition)         \
  ((condition) ? static_cast<void>(0) \
               : ::weft::detail::check_failed(#condition, __FILE__, __LINE__))

// For checks that a benchmark has shown to be too slow for release builds.
#ifdef NDEBUG
#define WEFT_DCHECK(condition) static_cast<void>(0)
#else
#define WEFT_DCHECK(condition) WEFT_CHECK(condition)
#endif
