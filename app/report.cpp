// SPDX-License-Identifier: Apache-2.0
// weft report: shows records of runs as a page, as pictures and as tables.
#include <filesystem>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "command.hpp"
#include "home.hpp"
#include "output.hpp"
#include "piped_file.hpp"
#include "shared_options.hpp"
#include <fmt/format.h>

#include <weft/base/file.hpp>
#include <weft/base/quantity.hpp>
#include <weft/base/version.hpp>
#include <weft/output/report/load.hpp>
#include <weft/output/report/page.hpp>
#include <weft/output/report/picture.hpp>
#include <weft/output/report/settings.hpp>
#include <weft/output/report/tables.hpp>

namespace weft::app {
namespace {

using report::RunView;

struct ReportOptions {
  std::vector<std::string> runs;
  std::string output, title, format = "html", picture, table, at;
  double scale = 2;
  bool list = false, quiet = false, relative = false;
  bool png = false;  // Requested by the former name of --picture.

  bool is_page() const { return !list && format == "html" && picture.empty() && table.empty(); }
};

// A run is called NAME if it is given as "NAME=PATH", else by its path.
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
  report::add_differences(views);
  return views;
}

Status check_options(const ReportOptions& o) {
  if (o.runs.empty()) {
    return Error::call(
        "which run? Give a folder of weft sim --record or weft run --record, or a --json file of "
        "weft traffic, map or probe");
  }
  const int outputs = (o.list ? 1 : 0) + (o.format == "html" ? 0 : 1) +
                      (o.picture.empty() ? 0 : 1) + (o.table.empty() ? 0 : 1);
  if (outputs > 1)
    return Error::call("--list, --format text or json, --picture and --table: one at a time");
  if (!o.at.empty() && o.picture.empty())
    return Error::call("--at is the time of a picture: add --picture");
  if (o.relative && o.picture.empty())
    return Error::call(
        "--relative is for the colours of a picture: add --picture; the page has a control for it");
  if (o.scale < 0.1 || o.scale > 20) return Error::call("--scale: must lie in 0.1 to 20");
  return {};
}

Status write_output(const ReportOptions& options, const std::string& text) {
  return options.output.empty() ? print(text) : write_file(options.output, text);
}

Status write_picture(const ReportOptions& options, std::span<const RunView> views) {
  report::PictureRequest request;
  request.id = options.picture;
  request.relative = options.relative;
  if (!options.at.empty()) {
    const auto at = parse_duration(options.at);
    if (!at) return Error::call("--at: " + at.error().message());
    request.at = Time::zero() + *at;
  }
  const auto svg = report::draw(views, request);
  if (!svg) return Error(svg.error());
  if (!options.png && !options.output.ends_with(".png")) return write_output(options, *svg);
  if (options.output.empty()) return Error::call("a PNG picture needs -o FILE");
  const auto png = report::to_png(*svg, options.scale);
  if (!png) return Error(png.error());
  return write_file(options.output, *png);
}

// Keeps a page below 20 MB, so that it opens quickly and can be sent by mail.
constexpr std::size_t page_bytes_max = std::size_t{19} << 20;

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
    head.title = options.title.empty() ? report::page_title(*views) : options.title;
    auto made = report::make_page(*page_template, head, *views);
    if (!made) return std::move(made).error();
    page = *std::move(made);
    if (page.size() <= page_bytes_max || limits.heat_bytes < (std::size_t{1} << 20)) break;
    limits.heat_bytes /= 2;
    limits.pairs /= 2;
    limits.spans /= 2;
  }
  const std::string output = options.output.empty() ? "report.html" : options.output;
  if (Status wrote = write_file(output, page); !wrote) return wrote;
  if (page.size() > page_bytes_max)
    tell("weft: warning: {} is large; show fewer runs in one page\n", output);
  if (options.quiet) return {};
  return print(fmt::format("{}: {:.1f} MB, opens in any browser\n", output,
                           static_cast<double>(page.size()) / 1e6));
}

Status run_report(const ReportOptions& options) {
  if (Status s = check_options(options); !s) return s;
  if (options.is_page()) return write_page(options);
  const auto views = load_runs(options, {});
  if (!views) return Error(views.error());
  if (options.list) return write_output(options, report::list_contents(*views));
  if (options.format == "json") return write_output(options, report::to_json(*views));
  if (options.format == "text") return write_output(options, report::summary_text(*views));
  if (options.table.empty()) return write_picture(options, *views);
  const auto csv = views->size() > 1 ? report::side_by_side_csv(*views, options.table)
                                     : report::table_csv(views->front(), options.table);
  if (!csv) return Error(csv.error());
  return write_output(options, *csv);
}

void add_picture_options(CLI::App& parser, const std::shared_ptr<ReportOptions>& options) {
  auto* const picture =
      parser
          .add_option("--picture", options->picture,
                      "Write this picture instead of the page: SVG, or PNG if -o ends in .png")
          ->type_name("NAME");
  keep_former_name(parser.add_option("--svg", options->picture), picture);
  const auto draw_png = [options](const std::string& name) {
    options->picture = name;
    options->png = true;
  };
  keep_former_name(parser.add_option_function<std::string>("--png", draw_png), picture);
  parser
      .add_option("--at", options->at, "Time of a heat map, as 35us (default: mean over all time)")
      ->type_name("TIME");
  parser.add_flag("--relative", options->relative,
                  "Colours of a heat map up to its largest value (default: up to 100 %)");
  parser.add_option("--scale", options->scale, "Pixels per unit of a PNG picture")
      ->type_name("X")
      ->capture_default_str();
}

std::function<Status()> set_up(CLI::App& parser) {
  auto options = std::make_shared<ReportOptions>();
  reads_file(
      parser.add_option("RUN", options->runs,
                        "Folder of weft sim --record or weft run --record, or --json file of weft "
                        "traffic, map or probe; NAME=RUN gives it a name"))
      ->type_name("RUN");
  parser
      .add_option("-o,--output", options->output,
                  "Output file (default: report.html; for pictures, tables and JSON: standard "
                  "output)")
      ->type_name("FILE");
  auto* const format =
      parser
          .add_option("--format", options->format,
                      "Output format: a page, the summary as text, or all data as JSON")
          ->check(CLI::IsMember({"html", "text", "json"}))
          ->capture_default_str();
  keep_former_name(parser.add_flag_callback("--json", [options] { options->format = "json"; }),
                   format);
  parser.add_option("--title", options->title, "Title of the page (default: names of all runs)")
      ->type_name("TEXT");
  parser.add_flag("--list", options->list, "List the tables and pictures that the runs have");
  auto* const table =
      parser
          .add_option("--table", options->table,
                      "Write this table instead of the page, as CSV; of several runs summary or "
                      "settings, side by side")
          ->type_name("NAME");
  keep_former_name(parser.add_option("--csv", options->table), table);
  add_picture_options(parser, options);
  add_quiet_flag(parser, options->quiet, "line about the page that was written");
  parser.footer(
      "Examples:\n"
      "  weft sim --net torus:8x8x8 --record run ./halo3d && weft report run -o halo.html\n"
      "  weft report before=run1 after=run2 -o compare.html\n"
      "  weft report predicted=sim measured=run -o twin.html\n"
      "  weft report run --picture link-heat --at 35us -o heat.svg\n"
      "  weft report a=run1 b=run2 --picture latency -o latency.png\n"
      "  weft report run --table calls\n"
      "  weft report run1 run2 --format text\n"
      "Exit code: 0 done, 1 the output could not be written, 2 usage, 3 bad input.");
  return [options] { return run_report(*options); };
}

}  // namespace

Command report_command() {
  return {"report", "Show runs as a page with pictures, or as single pictures and tables", &set_up};
}

}  // namespace weft::app
