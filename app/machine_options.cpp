// SPDX-License-Identifier: Apache-2.0
#include "machine_options.hpp"

#include <cstdio>
#include <set>

#include "output.hpp"
#include "piped_file.hpp"
#include "presets.hpp"
#include <fmt/format.h>

#include <weft/network/route/aliases.hpp>
#include <weft/network/route/policy.hpp>
#include <weft/simulate/machine/profiles.hpp>

namespace weft::app {
namespace {

constexpr const char* machine_group = "Machine";
constexpr const char* network_help =
    "Network: a spec (torus:8x8x8) or a preset (preset:infiniband-hdr; weft net --list shows "
    "both), a *.toml file or a graph file";

std::string routing_list() {
  std::string text = "Routing policies:\n";
  for (const PolicyEntry& entry : builtin_policies()) {
    text += fmt::format("  {:<26} {}\n", entry.name, entry.help);
    for (const PolicyWords& words : entry.groups)
      text += fmt::format("    :{:<23} {}\n", words.words, words.help);
    for (const PolicyAlias& alias : policy_aliases())
      if (alias.policy == entry.name)
        text += fmt::format("  {:<26} another name of {}\n", alias.name, entry.name);
  }
  return text;
}

void add_common_options(CLI::App& parser, MachineOptions& options) {
  MachineWords& words = options.words;
  parser
      .add_option(
          "--profile", words.profile,
          fmt::format("Profile, which holds the defaults of keys that the description leaves "
                      "out, or 'list' (default: as in the description, else {})",
                      usual_profile))
      ->type_name("NAME")
      ->group(machine_group);
  parser
      .add_option("--routing", words.routing,
                  "Routing policy, or 'list' (default: as in the description, else by network)")
      ->type_name("NAME")
      ->group(machine_group);
  parser
      .add_option("--set", words.sets,
                  "Set a key of the description: link.rate='5 GB/s'; can be repeated")
      ->type_name("TABLE.KEY=VALUE")
      ->allow_extra_args(false)
      ->group(machine_group);
  parser
      .add_option_function<std::vector<std::string>>(
          "--fail",
          [&words](const std::vector<std::string>& cables) {
            for (const std::string& cable : cables) words.sets.push_back("network.down+=" + cable);
          },
          "Break a cable, named by its two routers: '(0,0)-(1,0)', "
          "or random ones: random:3[,seed=2]; can be repeated")
      ->type_name("A-B|random:N")
      ->allow_extra_args(false)
      ->group(machine_group);
  parser
      .add_flag("--show-machine", options.show,
                "Print the complete description and do nothing else")
      ->group(machine_group);
}

}  // namespace

void add_machine_options(CLI::App& parser, MachineOptions& options) {
  reads_file(parser.add_option("--net", options.words.net, network_help))
      ->type_name("SPEC|FILE")
      ->transform(resolve_preset)
      ->group(machine_group);
  add_common_options(parser, options);
}

void add_machine_options(CLI::App& parser, MachineOptions& options, const char* network_position) {
  options.words.net_option.clear();
  reads_file(parser.add_option(network_position, options.words.net, network_help))
      ->type_name("SPEC|FILE")
      ->transform(resolve_preset);
  add_common_options(parser, options);
}

std::vector<std::string> to_arguments(const MachineOptions& options) {
  const MachineWords& words = options.words;
  std::vector<std::string> out = {"--net", words.net};
  if (!words.profile.empty()) out.insert(out.end(), {"--profile", words.profile});
  if (!words.routing.empty()) out.insert(out.end(), {"--routing", words.routing});
  for (const std::string& set : words.sets) out.insert(out.end(), {"--set", set});
  return out;
}

void warn_of(const std::vector<std::string>& warnings) {
  static std::set<std::string> known;
  for (const std::string& line : warnings)
    if (known.insert(line).second) tell("weft: warning: {}\n", line);
}

std::string requested_lists(const MachineOptions& options) {
  std::string text;
  if (options.words.profile == "list") text += list_profiles();
  if (options.words.routing == "list") text += routing_list();
  return text;
}

Result<std::optional<std::string>> requested_text(const MachineOptions& options) {
  if (std::string lists = requested_lists(options); !lists.empty()) return std::optional(lists);
  if (!options.show) return std::optional<std::string>();
  auto machine = read_machine(options.words);
  if (!machine) return std::move(machine).error();
  return std::optional(std::move(machine->text));
}

}  // namespace weft::app
