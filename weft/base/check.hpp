// SPDX-License-Identifier: Apache-2.0
// Checks of our own promises. A failed check is a bug of weft, never of its input: it prints where
// and aborts, in release too.
#pragma once

namespace weft::detail {
[[noreturn]] void check_failed(const char* condition, const char* file, int line);
}  // namespace weft::detail

#define WEFT_CHECK(condition)         \
  ((condition) ? static_cast<void>(0) \
               : ::weft::detail::check_failed(#condition, __FILE__, __LINE__))

// Only where a benchmark shows that the check costs.
#ifdef NDEBUG
#define WEFT_DCHECK(condition) static_cast<void>(0)
#else
#define WEFT_DCHECK(condition) WEFT_CHECK(condition)
#endif
