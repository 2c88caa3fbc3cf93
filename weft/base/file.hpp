// SPDX-License-Identifier: Apache-2.0
// Reads and writes whole files. A reader sees the old contents or the new ones, never a mixture.
#pragma once

#include <string>
#include <string_view>

#include <weft/base/result.hpp>

namespace weft {

// Writes beside the target and renames. Devices, pipes and everything under /dev are written
// directly, since they cannot be replaced. No name is special ("-" is a file of that name).
Status write_file(const std::string& path, std::string_view contents);

// At most 1 GiB: weft reads descriptions whole, never data sets.
Result<std::string> read_file(const std::string& path);

}  // namespace weft
