// SPDX-License-Identifier: Apache-2.0
// weft report: records of runs as a page, as pictures and as tables.
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "command.hpp"
#include "home.hpp"
#include "output.hpp"
#include <fmt/format.h>

#include <weft/base/file.hpp>
#include <weft/base/quantity.hpp>
#include <weft/base/version.hpp>
#include <weft/output/report/load.hpp>
#include <weft/output/report/page.hpp>
#include <weft/output/report/picture.hpp>
#include <weft/output/report/tables.hpp>

namespace weft::app {
namespace {

using report::RunView;

struct ReportOptions {
  std::vector<std::string> runs;
  std::string output, title, svg, png, csv, at;
  double scale = 2;
  bool list = false, json = false, quiet = false;
};

// "NAME=PATH" gives a run its name; otherwise the path does.
Result<std::vector<RunView>> load_runs(const ReportOptions& options, const report::Limits& limits) {
  std::vector<RunView> views;
  std::set<std::string> names;
  for (const std::string& word : options.runs) {
    const std::size_t equals = word.find('=');
    std::error_code failed;
    const bool named = equals != std::string::npos && !std::filesystem::exists(word, failed);
    const std::string path = named ? word.substr(equals + 1) : word;
    auto view = report::load(path, limits);
    if (!view) return std::move(view).error();
    std::string trimmed = path;
    while (trimmed.size() > 1 && trimmed.back() == '/') trimmed.pop_back();
    view->name = named ? word.substr(0, equals) : trimmed;
    if (!names.insert(view->name).second) {
      return Error::call("two runs are called '" + view->name +
                         "': give them names, as in before=DIR after=OTHER");
    }
    views.push_back(*std::move(view));
  }
  return views;
}

Status check_options(const ReportOptions& o) {
  if (o.runs.empty()) {
    return Error::call(
        "which run? Give a folder of weft sim --record or weft run --record, or a --json file of "
        "weft traffic, map or probe");
  }
  const int ways = (o.list ? 1 : 0) + (o.json ? 1 : 0) + (o.svg.empty() ? 0 : 1) +
                   (o.png.empty() ? 0 : 1) + (o.csv.empty() ? 0 : 1);
  if (ways > 1) return Error::call("--list, --json, --csv, --svg and --png: one at a time");
  if (o.runs.size() > 1 && (!o.svg.empty() || !o.png.empty() || !o.csv.empty()))
    return Error::call("a picture or table is of one run; give one");
  if (!o.at.empty() && o.svg.empty() && o.png.empty())
    return Error::call("--at is the moment of a picture: add --svg or --png");
  if (o.scale < 0.1 || o.scale > 20) return Error::call("--scale: must lie in 0.1 to 20");
  return {};
}

Status put_out(const ReportOptions& options, const std::string& text) {
  return options.output.empty() ? print(text) : write_file(options.output, text);
}

Status write_picture(const ReportOptions& options, const RunView& view) {
  report::PictureRequest wish;
  wish.id = options.svg.empty() ? options.png : options.svg;
  if (!options.at.empty()) {
    const auto at = parse_duration(options.at);
    if (!at) return Error::call("--at: " + at.error().message());
    wish.at = Time::zero() + *at;
  }
  const auto svg = report::draw(view, wish);
  if (!svg) return Error(svg.error());
  if (options.png.empty()) return put_out(options, *svg);
  if (options.output.empty()) return Error::call("--png needs -o FILE");
  const auto png = report::to_png(*svg, options.scale);
  if (!png) return Error(png.error());
  return write_file(options.output, *png);
}

// A page must stay below 20 MB, so that it opens quickly and can be sent by mail.
constexpr std::size_t page_most = std::size_t{19} << 20;

Status write_page(const ReportOptions& options) {
  const auto page_template = read_page_template();
  if (!page_template) return Error(page_template.error());
  report::PageHead head;
  head.made_by = "weft " + std::string(version());
  std::string page;
  report::Limits limits;
  for (;;) {
    auto views = load_runs(options, limits);
    if (!views) return std::move(views).error();
    head.title = options.title.empty() ? views->front().name : options.title;
    auto made = report::make_page(*page_template, head, *views);
    if (!made) return std::move(made).error();
    page = *std::move(made);
    if (page.size() <= page_most || limits.heat_bytes < (std::size_t{1} << 20)) break;
    limits.heat_bytes /= 2;
    limits.pairs /= 2;
    limits.spans /= 2;
  }
  const std::string output = options.output.empty() ? "report.html" : options.output;
  if (Status wrote = write_file(output, page); !wrote) return wrote;
  if (page.size() > page_most)
    fmt::print(stderr, "weft: warning: {} is large; show fewer runs in one page\n", output);
  if (options.quiet) return {};
  return print(fmt::format("{}: {:.1f} MB, opens in any browser\n", output,
                           static_cast<double>(page.size()) / 1e6));
}

Status run_report(const ReportOptions& options) {
  if (Status s = check_options(options); !s) return s;
  const bool page = !options.list && !options.json && options.svg.empty() && options.png.empty() &&
                    options.csv.empty();
  if (page) return write_page(options);
  const auto views = load_runs(options, {});
  if (!views) return Error(views.error());
  if (options.list) return put_out(options, report::list_contents(*views));
  if (options.json) return put_out(options, report::to_json(*views));
  if (options.csv.empty()) return write_picture(options, views->front());
  const auto csv = report::table_csv(views->front(), options.csv);
  if (!csv) return Error(csv.error());
  return put_out(options, *csv);
}

std::function<Status()> set_up(CLI::App& parser) {
  auto options = std::make_shared<ReportOptions>();
  parser
      .add_option("RUN", options->runs,
                  "folders of weft sim --record or weft run --record, --json files of weft "
                  "traffic, map or probe; NAME=RUN names it")
      ->type_name("RUN");
  parser
      .add_option("-o,--output", options->output,
                  "the page (report.html), or the file of --svg, --png, --csv, --json")
      ->type_name("FILE");
  parser.add_option("--title", options->title, "of the page (default: the first run's name)");
  parser.add_flag("--list", options->list, "list tables and pictures");
  parser.add_option("--svg", options->svg, "this picture instead of the page")
      ->type_name("PICTURE");
  parser.add_option("--png", options->png, "the same as pixels; needs -o")->type_name("PICTURE");
  parser.add_option("--at", options->at, "moment of a heat map: 35us (default: mean of all time)")
      ->type_name("TIME");
  parser.add_option("--scale", options->scale, "of --png, pixels per unit")->capture_default_str();
  parser.add_option("--csv", options->csv, "this table instead of the page")->type_name("TABLE");
  parser.add_flag("--json", options->json, "all numbers, tables and curves instead of the page");
  parser.add_flag("-q,--quiet", options->quiet, "do not say what was written");
  parser.footer(
      "Examples:\n"
      "  weft sim --net torus:8x8x8 --record run ./halo3d && weft report run -o halo.html\n"
      "  weft report before=run1 after=run2 -o compare.html\n"
      "  weft report predicted=sim measured=run -o twin.html\n"
      "  weft report run --svg link-heat --at 35us -o heat.svg\n"
      "  weft report run --csv calls\n"
      "Exit code: 0, 1 it could not be written, 2 usage, 3 bad input.");
  return [options] { return run_report(*options); };
}

}  // namespace

Command report_command() {
  return {"report", "Show runs: one page with pictures, or single pictures and tables", &set_up};
}

}  // namespace weft::app
