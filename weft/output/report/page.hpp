// SPDX-License-Identifier: Apache-2.0
// The page: a template that the build has made, with the data of one or several runs put in.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include <weft/base/result.hpp>
#include <weft/output/report/blocks.hpp>
#include <weft/output/report/view.hpp>

namespace weft::report {

// A run as the page's index has it; what is large goes into the blocks.
Json run_json(const RunView& view, Blocks& blocks);
// The same without anything that is large.
Json run_json_small(const RunView& view);

struct PageHead {
  std::string title;
  std::string made_by;
  bool live = false;
};

// The template's place for data must be there once.
Result<std::string> make_page(std::string_view page_template, const PageHead& head,
                              std::span<const RunView> runs);

}  // namespace weft::report
