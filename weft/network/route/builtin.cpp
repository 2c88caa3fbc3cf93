// SPDX-License-Identifier: Apache-2.0
// Policies by name: the table, its errors, and what is asked of a routing by its text.
#include <algorithm>
#include <array>
#include <bit>
#include <string>
#include <utility>
#include <vector>

#include <weft/base/text.hpp>
#include <weft/network/route/aliases.hpp>
#include <weft/network/route/cables_down.hpp>
#include <weft/network/route/legs.hpp>
#include <weft/network/route/plane_policy.hpp>
#include <weft/network/route/plugin.hpp>
#include <weft/network/route/policy.hpp>

namespace weft {

namespace detail {
#define WEFT_POLICY(name) extern const PolicyEntry name##_policy;
#include <weft/network/route/policies.inc>
#undef WEFT_POLICY
}  // namespace detail

std::span<const PolicyEntry> builtin_policies() {
  static const std::array table = {
#define WEFT_POLICY(name) detail::name##_policy,
#include <weft/network/route/policies.inc>
#undef WEFT_POLICY
  };
  return table;
}

std::span<const PolicyAlias> policy_aliases() {
  // Names that others use.
  static constexpr std::array<PolicyAlias, 2> aliases = {
      {{"adaptive", "min-adaptive"}, {"cross-line", "crossline"}}};
  return aliases;
}

namespace {

const PolicyEntry* find_policy(std::string_view name) {
  for (const PolicyAlias& alias : policy_aliases())
    if (name == alias.name) name = alias.policy;
  for (const PolicyEntry& entry : builtin_policies())
    if (entry.name == name) return &entry;
  return nullptr;
}

// A policy's name and words, "crossline:escape,cut".
struct Asked {
  const PolicyEntry* entry = nullptr;
  ChosenWords words;

  int vcs_needed(const Topology& t) const {
    return words.empty() ? entry->vcs_needed(t) : entry->vcs_needed_with(t, words);
  }
  Result<std::unique_ptr<Policy>> make(const Topology& t, int vcs) const {
    return words.empty() ? entry->make(t, vcs) : entry->make_with(t, vcs, words);
  }
};

Error bad_word(const PolicyEntry& entry, std::string_view word) {
  std::vector<std::string_view> known;
  for (const PolicyWords& group : entry.groups)
    for (const std::string_view one : split(group.words, '|')) known.push_back(one);
  if (known.empty())
    return Error::input("routing '" + std::string(entry.name) +
                        "' takes no words; leave out ':" + std::string(word) + "'");
  return Error::input("routing '" + std::string(entry.name) + "' knows no word '" +
                      std::string(word) + "'" + suggest(word, known));
}

std::string unknown(std::string_view name) {
  std::vector<std::string_view> known;
  known.reserve(builtin_policies().size());
  for (const PolicyEntry& entry : builtin_policies()) known.push_back(entry.name);
  return "unknown routing '" + std::string(name) + "'" + suggest(name, known);
}

// How the policy would fit: by its name, or else with the first word that makes it so.
std::string fitting_form(const PolicyEntry& entry, const Topology& topology) {
  if (entry.vcs_needed(topology) > 0) return std::string(entry.name);
  for (const PolicyWords& group : entry.groups)
    for (const std::string_view word : split(group.words, '|'))
      if (entry.vcs_needed_with(topology, {word}) > 0)
        return std::string(entry.name) + ":" + std::string(word);
  return "";
}

std::string misfit(std::string_view name, const Topology& topology) {
  std::string fitting;
  for (const PolicyEntry& entry : builtin_policies()) {
    const std::string form = fitting_form(entry, topology);
    if (!form.empty()) fitting += (fitting.empty() ? "" : ", ") + form;
  }
  return "routing '" + std::string(name) + "' does not fit " + topology.name +
         "; fitting: " + fitting;
}

std::string too_few_vcs(std::string_view name, const Topology& topology, int vcs, int needed) {
  std::string enough;
  for (const PolicyEntry& entry : builtin_policies()) {
    const int other = entry.vcs_needed(topology);
    if (other > 0 && other <= vcs) enough += (enough.empty() ? "" : ", ") + std::string(entry.name);
  }
  const std::string count = std::to_string(needed);
  return "routing '" + std::string(name) + "' on " + topology.name + " needs at least " + count +
         (needed == 1 ? " VC" : " VCs") + " to be free of deadlock, " + std::to_string(vcs) +
         " given; set vcs = " + count + (enough.empty() ? "" : ", or use " + enough);
}

// Adds the words behind the name, "escape,cut", to a policy that was found.
Result<Asked> with_words(const PolicyEntry& entry, std::string_view text) {
  Asked asked{&entry, {}};
  std::vector<bool> given(entry.groups.size(), false);
  for (const PolicyWords& group : entry.groups) asked.words.push_back(split(group.words, '|')[0]);
  for (const std::string_view word : split(text, ',')) {
    bool known = false;
    for (std::size_t g = 0; g < entry.groups.size(); ++g) {
      for (const std::string_view one : split(entry.groups[g].words, '|')) {
        if (one != word) continue;
        if (given[g] && asked.words[g] != one)
          return Error::input("routing '" + std::string(entry.name) + "' cannot be both '" +
                              std::string(asked.words[g]) + "' and '" + std::string(one) + "'");
        known = given[g] = true;
        asked.words[g] = one;
      }
    }
    if (!known) return bad_word(entry, word);
  }
  return asked;
}

Result<Asked> parse_asked(std::string_view text) {
  if (names_plugin(text)) {
    const detail::PluginText parts = detail::parse_plugin(text);
    const auto entry = detail::load_policy(parts);
    if (!entry) return entry.error();
    return parts.has_words ? with_words(**entry, parts.words) : Asked{*entry, {}};
  }
  const std::size_t colon = text.find(':');
  const PolicyEntry* const entry = find_policy(text.substr(0, colon));
  if (entry == nullptr) return Error::input(unknown(text.substr(0, colon)));
  if (colon == std::string_view::npos) return Asked{entry, {}};
  return with_words(*entry, text.substr(colon + 1));
}

using Parts = std::span<const Topology* const>;

// The most that any part needs; 0: it does not fit one of them.
template <typename Needed>
int most_vcs(Parts parts, Needed needed) {
  int most = 0;
  for (const Topology* const part : parts) {
    const int vcs = needed(*part);
    if (vcs == 0) return 0;
    most = std::max(most, vcs);
  }
  return most;
}

bool reaches_all(const PolicyEntry& entry, Parts parts) {
  return entry.any_graph || std::all_of(parts.begin(), parts.end(), [&](const Topology* part) {
           return part->graph.all_up() ||
                  (entry.reaches_all != nullptr && entry.reaches_all(*part));
         });
}

// The first usual one that fits and reaches all. Policies of families stand for themselves while
// all cables are up; others give way to those that need fewer VCs.
const PolicyEntry& usual_policy(const Topology& topology, int vcs) {
  const detail::RoutedParts parts(topology);
  const PolicyEntry* found = nullptr;
  for (const PolicyEntry& entry : builtin_policies()) {
    if (!entry.usual || !reaches_all(entry, parts.all())) continue;
    const int needed = most_vcs(parts.all(), entry.vcs_needed);
    if (needed == 0) continue;
    found = &entry;
    if (needed <= vcs || (topology.graph.all_up() && !entry.any_graph)) break;
  }
  WEFT_CHECK(found != nullptr);  // One of them fits any graph.
  return *found;
}

}  // namespace

bool detail::single_vcs(const LegMasks& masks, unsigned classes_used) {
  for (std::size_t c = 0; c < masks.size(); ++c)
    if (((classes_used >> c) & 1u) != 0 && std::popcount(masks[c]) != 1) return false;
  return true;
}

Result<std::unique_ptr<Policy>> make_policy(std::string_view name, const Topology& topology,
                                            int vcs) {
  if (topology.shape->planes() != nullptr) return detail::make_plane_policy(name, topology, vcs);
  const auto asked = parse_asked(name);
  if (!asked) return asked.error();
  const int needed = asked->vcs_needed(topology);
  if (needed == 0) return Error::input(misfit(name, topology));
  if (vcs > max_vcs)
    return Error::input("at most " + std::to_string(max_vcs) + " VCs are supported, " +
                        std::to_string(vcs) + " given; set vcs = " + std::to_string(max_vcs) +
                        " or less");
  if (vcs < needed) return Error::input(too_few_vcs(name, topology, vcs, needed));
  return asked->make(topology, vcs);
}

std::string default_routing(const Topology& topology, int vcs) {
  return std::string(usual_policy(topology, vcs).name);
}

std::string default_one_path_routing(const Topology& topology) {
  const PolicyEntry& entry = usual_policy(topology, max_vcs);
  const std::string words(entry.one_path_words);
  return std::string(entry.name) + (words.empty() ? "" : ":" + words);
}

std::string routings_that_reach_all(const Topology& topology) {
  const detail::RoutedParts parts(topology);
  std::string names;
  for (const PolicyEntry& entry : builtin_policies())
    if (reaches_all(entry, parts.all()) &&
        (entry.any_graph || most_vcs(parts.all(), entry.vcs_needed) > 0))
      names += (names.empty() ? "" : ", ") + std::string(entry.name);
  return names;
}

bool detail::takes_family_paths(std::string_view routing, const Topology& topology) {
  const auto asked = parse_asked(routing);
  if (!asked || !asked->entry->any_graph || asked->entry->reaches_all == nullptr) return false;
  const RoutedParts parts(topology);
  const auto all = parts.all();
  return std::all_of(all.begin(), all.end(),
                     [&](const Topology* part) { return asked->entry->reaches_all(*part); });
}

bool detail::goes_round(std::string_view routing, const Topology& topology) {
  const auto asked = parse_asked(routing);
  return asked && reaches_all(*asked->entry, RoutedParts(topology).all());
}

int vcs_needed(std::string_view routing, const Topology& topology) {
  const auto asked = parse_asked(routing);
  if (!asked) return 0;
  return most_vcs(detail::RoutedParts(topology).all(),
                  [&](const Topology& part) { return asked->vcs_needed(part); });
}

int vcs_usual(std::string_view routing, const Topology& topology) {
  const auto asked = parse_asked(routing);
  if (!asked) return 0;
  return most_vcs(detail::RoutedParts(topology).all(), [&](const Topology& part) {
    const int needed = asked->vcs_needed(part);
    if (needed == 0 || asked->entry->vcs_usual == nullptr) return needed;
    return asked->entry->vcs_usual(part);
  });
}

std::optional<TieRule> dimension_order(std::string_view routing, const Topology& topology) {
  if (topology.shape->planes() != nullptr) return std::nullopt;  // Its routers are on no lattice.
  const auto asked = parse_asked(routing);
  if (!asked || asked->entry->dimension_order == nullptr || asked->vcs_needed(topology) == 0)
    return std::nullopt;
  return asked->entry->dimension_order(asked->words);
}

}  // namespace weft
