// SPDX-License-Identifier: Apache-2.0
// weft sim --compare-models packet,flow: the same run by several models of the network, in a table.
#pragma once

#include <string>
#include <vector>

#include <weft/base/result.hpp>

namespace weft::app {

// `command`: the words of this command, the program and its arguments among them from `program` on.
Status compare_models(const std::string& models, const std::vector<std::string>& command,
                      std::size_t program);

// The words that this process was started with.
std::vector<std::string> own_words();

}  // namespace weft::app
