// SPDX-License-Identifier: Apache-2.0
#include "home.hpp"

#include <filesystem>
#include <system_error>

namespace weft::app {

Home find_home() {
  std::error_code failed;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", failed);
  const std::filesystem::path prefix = program.parent_path().parent_path();
  return {program.string(), (prefix / WEFT_LIB_FOLDER).string(),
          (prefix / WEFT_INCLUDE_FOLDER).string(), (prefix / WEFT_SHARE_FOLDER).string()};
}

}  // namespace weft::app
