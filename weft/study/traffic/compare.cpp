// SPDX-License-Identifier: Apache-2.0
#include "weft/study/traffic/compare.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include <weft/base/text.hpp>

namespace weft {
namespace {

constexpr std::array<std::string_view, 3> basis_names = {"own", "vcs", "buffers"};
constexpr std::array all_bases = {Basis::own, Basis::vcs, Basis::buffers};

Status check_once(std::string_view option, const std::vector<std::string>& values) {
  for (std::size_t i = 0; i < values.size(); ++i)
    if (std::find(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(i), values[i]) !=
        values.begin() + static_cast<std::ptrdiff_t>(i))
      return Error::call(fmt::format("--{}: '{}' is there twice", option, values[i]));
  return {};
}

// "crossline:escape,cut,dor": the comma was meant to be part of a name.
Status check_separator(const std::vector<std::string>& policies) {
  for (std::size_t i = 1; i < policies.size(); ++i) {
    const std::string_view name = std::string_view(policies[i]).substr(0, policies[i].find(':'));
    const auto known = builtin_policies();
    if (policies[i - 1].find(':') == std::string::npos ||
        std::any_of(known.begin(), known.end(),
                    [&](const PolicyEntry& entry) { return entry.name == name; }))
      continue;
    return Error::call(fmt::format(
        "--compare: unknown routing '{0}'; if it belongs to '{1},{0}', separate policies by ';'",
        policies[i], policies[i - 1]));
  }
  return {};
}

Status check_routing_free(const ScenarioRequest& request,
                          const std::vector<Variation>& variations) {
  if (request.options.contains("routing"))
    return Error::call("--compare names the routing policies itself; leave out --routing");
  for (const Variation& variation : variations)
    if (variation.key == "routing" || variation.key == "routing.policy")
      return Error::call(fmt::format(
          "--compare names the routing policies itself; leave out --vary {}", variation.key));
  return {};
}

std::string scenario_label(const Scenario& made, const Scenario& own, int vcs_max) {
  const int vcs = made.hardware.vcs;
  std::string text = fmt::format("{}, {} VC{}", made.routing, vcs, vcs == 1 ? "" : "s");
  const std::int64_t now = made.hardware.buffer_size().count;
  const std::int64_t before = own.hardware.buffer_size().count;
  if (now == before) return text;
  text += fmt::format(", {:.3g}x buffer", static_cast<double>(vcs_max) / vcs);
  return now * vcs == before * vcs_max ? text : text + " rounded up";
}

// One combination of the variations.
class BlockMaker {
 public:
  BlockMaker(const Combination& combination, const ComparisonRequest& comparison,
             ScenarioMaker& maker)
      : combination_(combination), comparison_(comparison), maker_(maker) {}

  Result<std::vector<Scenario>> make(std::size_t block) {
    for (const std::string& policy : comparison_.policies)
      if (Status s = add_own(policy); !s) return std::move(s).error();
    const bool vcs_given = own_.front().vcs_given;
    if (vcs_given && !comparison_.bases.empty())
      return Error::call(
          "--basis is about the number of VCs, but that is given (by --vcs, --vary or router.vcs "
          "of the network file); leave out one of them");
    std::vector<Basis> bases = comparison_.bases;
    if (bases.empty()) bases.assign(all_bases.begin(), all_bases.end());
    if (vcs_given) bases = {Basis::own};
    std::vector<Scenario> made;
    for (const Scenario& own : own_) {
      const std::size_t first = made.size();
      for (const Basis basis : bases) {
        auto scenario = make_on(basis, own);
        if (!scenario) return std::move(scenario).error();
        if (std::any_of(made.begin() + static_cast<std::ptrdiff_t>(first), made.end(),
                        [&](const Scenario& other) { return same_hardware(other, *scenario); }))
          continue;
        place(*scenario, own, basis, block);
        made.push_back(*std::move(scenario));
      }
    }
    return made;
  }

 private:
  ScenarioRequest request_for(const std::string& policy) const {
    ScenarioRequest request = combination_.request;
    request.options["routing"] = policy;
    request.routing_from = "compare";
    return request;
  }
  Status add_own(const std::string& policy) {
    auto scenario = maker_.make(request_for(policy));
    if (!scenario) return std::move(scenario).error();
    vcs_max_ = std::max(vcs_max_, scenario->hardware.vcs);
    own_.push_back(*std::move(scenario));
    return {};
  }
  Result<Scenario> make_on(Basis basis, const Scenario& own) {
    if (basis == Basis::own || own.hardware.vcs == vcs_max_) return own;
    ScenarioRequest request = request_for(own.routing);
    if (basis == Basis::vcs) request.options["vcs"] = std::to_string(vcs_max_);
    if (basis == Basis::buffers) request.buffers = {.times = vcs_max_, .over = own.hardware.vcs};
    return maker_.make(request);
  }
  static bool same_hardware(const Scenario& a, const Scenario& b) {
    return a.hardware.vcs == b.hardware.vcs && a.hardware.buffer_size() == b.hardware.buffer_size();
  }
  void place(Scenario& scenario, const Scenario& own, Basis basis, std::size_t block) const {
    const std::string& combination = combination_.label;
    std::string label = scenario_label(scenario, own, vcs_max_);
    scenario.label = combination.empty() ? label : combination + ", " + label;
    scenario.compared = Compared{block, combination, std::move(label), to_text(basis)};
  }

  const Combination& combination_;
  const ComparisonRequest& comparison_;
  ScenarioMaker& maker_;
  std::vector<Scenario> own_;  // As the policies.
  int vcs_max_ = 0;
};

}  // namespace

const char* to_text(Basis basis) {
  return basis_names[static_cast<std::size_t>(basis)].data();
}

Result<ComparisonRequest> parse_comparison(std::string_view policies,
                                           const std::optional<std::string>& bases) {
  ComparisonRequest request;
  auto names = split_values(policies);
  if (!names)
    return Error::call(fmt::format(
        "--compare: '{}' must look like A,B (or A;B where names hold commas)", policies));
  if (Status s = check_once("compare", *names); !s) return std::move(s).error();
  if (policies.find(';') == std::string_view::npos)
    if (Status s = check_separator(*names); !s) return std::move(s).error();
  request.policies = *std::move(names);
  if (!bases) return request;
  const auto words = split_values(*bases);
  if (!words)
    return Error::call(fmt::format("--basis: '{}' must look like own,vcs,buffers", *bases));
  if (Status s = check_once("basis", *words); !s) return std::move(s).error();
  for (const std::string& word : *words) {
    const auto found = std::find(basis_names.begin(), basis_names.end(), word);
    if (found == basis_names.end())
      return Error::call(
          fmt::format("--basis: unknown basis '{}'{}", word, suggest(word, basis_names)));
    request.bases.push_back(all_bases[static_cast<std::size_t>(found - basis_names.begin())]);
  }
  return request;
}

Result<std::vector<Scenario>> make_comparison(const ScenarioRequest& request,
                                              const std::vector<Variation>& variations,
                                              const ComparisonRequest& comparison) {
  if (Status s = check_routing_free(request, variations); !s) return std::move(s).error();
  auto combinations = combine(request, variations);
  if (!combinations) return std::move(combinations).error();
  std::vector<Scenario> scenarios;
  ScenarioMaker maker;
  for (std::size_t block = 0; block < combinations->size(); ++block) {
    auto made = BlockMaker((*combinations)[block], comparison, maker).make(block);
    if (!made) return std::move(made).error();
    for (Scenario& scenario : *made) scenarios.push_back(std::move(scenario));
    if (scenarios.size() > scenarios_max)
      return Error::call(fmt::format("--compare: more than {} curves", scenarios_max));
  }
  return scenarios;
}

}  // namespace weft
