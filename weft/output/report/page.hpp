// SPDX-License-Identifier: Apache-2.0
// The report page: a template made by the build, with the data of one or several runs inserted.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include <weft/base/result.hpp>
#include <weft/output/report/blocks.hpp>
#include <weft/output/report/view.hpp>

namespace weft::report {

// The index entry of a run; large arrays go into the blocks.
Json run_json(const RunView& view, Blocks& blocks);
// The same without large arrays.
Json run_json_small(const RunView& view);

// Names every run: "a, b and c".
std::string page_title(std::span<const RunView> runs);

struct PageHead {
  std::string title;
  std::string made_by;
  bool live = false;
};

// The template must contain the place for data exactly once.
Result<std::string> make_page(std::string_view page_template, const PageHead& head,
                              std::span<const RunView> runs);

}  // namespace weft::report
