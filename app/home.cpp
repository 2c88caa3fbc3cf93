// SPDX-License-Identifier: Apache-2.0
#include "home.hpp"

#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>

#include <unistd.h>

#include <weft/base/file.hpp>
#include <weft/base/text.hpp>

namespace weft::app {

Home find_home() {
  std::error_code failed;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", failed);
  const std::filesystem::path prefix = program.parent_path().parent_path();
  return {program.string(), (prefix / WEFT_LIB_FOLDER).string(),
          (prefix / WEFT_INCLUDE_FOLDER).string(), (prefix / WEFT_SHARE_FOLDER).string(),
          (prefix / WEFT_DOC_FOLDER / "docs").string()};
}

void put_own_library_first() {
  constexpr const char* name = "LD_LIBRARY_PATH";
  const char* const others = std::getenv(name);
  const std::string own = find_home().lib;
  const bool none = others == nullptr || *others == '\0';
  ::setenv(name, (none ? own : own + ":" + others).c_str(), 1);
}

Result<std::string> read_page_template() {
  const std::string path = find_home().share + "/report.html";
  std::error_code failed;
  if (std::filesystem::exists(path, failed)) return read_file(path);
  return Error::run(path +
                    " is missing: this weft was built without pages; build it with -DWEFT_WEB=ON "
                    "(needs nodejs and npm). Tables and pictures work: weft report RUN --list");
}

std::string find_in_path(const std::string& name) {
  const char* const path = std::getenv("PATH");
  for (const std::string_view folder : split(path == nullptr ? "/usr/bin:/bin" : path, ':')) {
    std::string candidate = std::string(folder) + "/" + name;
    if (!folder.empty() && ::access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return {};
}

}  // namespace weft::app
