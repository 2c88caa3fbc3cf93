// SPDX-License-Identifier: Apache-2.0
// weft doctor: checks the installation, and says what is missing and what needs it.
#include "doctor.hpp"

#include <algorithm>
#include <memory>
#include <string>

#include "command.hpp"
#include "home.hpp"
#include "interrupts.hpp"
#include "output.hpp"
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <weft/base/quantity.hpp>
#include <weft/base/version.hpp>

namespace weft::app {
namespace {

using Json = nlohmann::ordered_json;

struct DoctorOptions {
  std::string format = "text";
  bool quick = false;
  std::string limit = "60 s";
};

const char* to_text(Health health) {
  switch (health) {
    case Health::ok:
      return "ok";
    case Health::note:
      return "note";
    case Health::missing:
      return "missing";
  }
  return "";
}

std::ptrdiff_t count_of(const Checks& checks, Health health) {
  return std::count_if(checks.begin(), checks.end(),
                       [&](const Check& check) { return check.health == health; });
}

std::string one_line(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
  return text;
}

std::string line_of(const Check& check) {
  std::string line = fmt::format("{:<8} {:<15} {} [for {}]", to_text(check.health), check.name,
                                 check.found, check.use);
  if (!check.remedy.empty()) line += "; remedy: " + check.remedy;
  return one_line(std::move(line)) + "\n";
}

Json as_json(const Checks& checks) {
  Json list = Json::array();
  for (const Check& check : checks)
    list.push_back({{"group", check.group},
                    {"name", check.name},
                    {"state", to_text(check.health)},
                    {"found", check.found},
                    {"for", check.use},
                    {"remedy", check.remedy}});
  return {{"weft", version()},
          {"program", find_home().program},
          {"missing", count_of(checks, Health::missing)},
          {"notes", count_of(checks, Health::note)},
          {"checks", list}};
}

class Report {
 public:
  explicit Report(bool json) : json_(json) {}

  // Prints text at once, because the checks of compilers take a while.
  Status add(const Checks& checks) {
    if (interrupted().load()) return Error::run("interrupted");
    for (const Check& check : checks) {
      all_.push_back(check);
      if (json_) continue;
      const bool first = all_.size() == 1 || all_[all_.size() - 2].group != check.group;
      if (Status s = print((first ? check.group + "\n" : "") + line_of(check)); !s) return s;
    }
    return {};
  }
  Status finish() const {
    const auto missing = count_of(all_, Health::missing);
    if (json_) {
      const std::string text = as_json(all_).dump(2, ' ', false, Json::error_handler_t::replace);
      if (Status s = print(text + "\n"); !s) return s;
    }
    if (missing > 0)
      return Error::run(fmt::format("{} of {} checks found something missing that weft needs",
                                    missing, all_.size()));
    const auto notes = count_of(all_, Health::note);
    if (json_) return {};
    return print(fmt::format("{}: {} checks, nothing needed is missing, {} note{}\n",
                             notes == 0 ? "all is well" : "ready", all_.size(), notes,
                             notes == 1 ? "" : "s"));
  }

 private:
  bool json_;
  Checks all_;
};

Status run_doctor(const DoctorOptions& options) {
  const auto limit = parse_duration(options.limit);
  if (!limit) return Error::call("--timeout: " + limit.error().message());
  if (*limit < Duration::ms(10) || *limit > Duration::ms(3'600'000))
    return Error::call("--timeout: must lie in 10 ms to 1 h");
  const Interrupts interrupts;
  Report report(options.format == "json");
  if (Status s = report.add(check_parts()); !s) return s;
  if (!options.quick)
    if (Status s = report.add(check_programs(*limit)); !s) return s;
  if (Status s = report.add(check_machine()); !s) return s;
  return report.finish();
}

std::function<Status()> set_up(CLI::App& parser) {
  auto options = std::make_shared<DoctorOptions>();
  auto* const format = parser.add_option("--format", options->format, "Output format")
                           ->check(CLI::IsMember({"text", "json"}))
                           ->capture_default_str();
  keep_former_name(parser.add_flag_callback("--json", [options] { options->format = "json"; }),
                   format);
  parser.add_flag("--quick", options->quick, "Leave out the checks of compilers");
  parser
      .add_option("--timeout", options->limit,
                  "Time limit of each program that is tried, compilers included")
      ->type_name("TIME")
      ->capture_default_str();
  parser.footer(
      "Each check prints a line: ok, note (something optional is absent or a limit is low) or "
      "missing\n"
      "(weft needs it); then what was found, what needs it, and the remedy. Programs are compiled "
      "and run\nin a temporary folder (TMPDIR), which is removed.\n"
      "Exit code: 0 done, 1 something is missing, 2 usage.");
  return [options] { return run_doctor(*options); };
}

}  // namespace

Command doctor_command() {
  return {"doctor", "Check the installation and say what is missing", &set_up};
}

}  // namespace weft::app
