// SPDX-License-Identifier: Apache-2.0
#include "output.hpp"

#include <cerrno>
#include <cstring>

#include <unistd.h>

namespace weft::app {

Status print(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0)
      return Error::run(std::string("cannot write to standard output: ") + std::strerror(errno));
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

}  // namespace weft::app
