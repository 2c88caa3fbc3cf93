// SPDX-License-Identifier: Apache-2.0
#include "weft/base/check.hpp"

#include <cstdio>
#include <cstdlib>

namespace weft::detail {

void check_failed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "weft: internal error: %s:%d: %s does not hold\n", file, line, condition);
  std::abort();
}

}  // namespace weft::detail
