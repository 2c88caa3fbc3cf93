// SPDX-License-Identifier: Apache-2.0
// The table of policies: command line, listing and conformance test all read it.
#include <array>
#include <bit>
#include <string>
#include <utility>
#include <vector>

#include <weft/base/text.hpp>
#include <weft/network/route/families.hpp>
#include <weft/network/route/legs.hpp>
#include <weft/network/route/policy.hpp>

namespace weft {
namespace {

using namespace detail;

constexpr std::array table = {
    PolicyEntry{"dor", "dimension order, the shorter way round a ring", &vcs_dor, &make_dor,
                dor_words, &vcs_dor_with, &make_dor_with},
    PolicyEntry{"dor-balanced", "dimension order on a torus, VC halves evenly loaded",
                &vcs_dor_balanced, &make_dor_balanced},
    PolicyEntry{"xy-yx", "dimension order up or down on a mesh, by coin at the source", &vcs_xy_yx,
                &make_xy_yx},
    PolicyEntry{"xy-yx-adaptive", "as xy-yx, but the order whose first output has more room",
                &vcs_xy_yx, &make_xy_yx_adaptive},
    PolicyEntry{"planar-adaptive", "x or y on a 2-D mesh, whichever has more room",
                &vcs_planar_adaptive, &make_planar_adaptive},
    PolicyEntry{"planar-adaptive-booksim",
                "x, then y, in a third of the VCs, as BookSim's planar_adapt", &vcs_planar_adaptive,
                &make_planar_adaptive_booksim},
    PolicyEntry{"min-adaptive", "any shortest direction, by room; dimension order as escape",
                &vcs_min_adaptive, &make_min_adaptive},
    PolicyEntry{"min-adaptive-booksim",
                "dimension order in two sorts of VCs, as BookSim's min_adapt", &vcs_min_adaptive,
                &make_min_adaptive_booksim},
    PolicyEntry{"rca-1d", "as min-adaptive, by free VCs along the whole row or column (RCA-1D)",
                &vcs_min_adaptive, &make_rca_1d},
    PolicyEntry{"crossline", "any shortest direction, by the free VCs of whole rows and columns",
                &vcs_cross_line, &make_cross_line, cross_line_words, &vcs_cross_line_with,
                &make_cross_line_with},
    PolicyEntry{"foresight", "dimension order until the line ahead is jammed, then the freest way",
                &vcs_foresight, &make_foresight},
    PolicyEntry{"minimal", "shortest way by local, global, local cables or dimension by dimension",
                &vcs_minimal, &make_minimal},
    PolicyEntry{"valiant", "to a random router, then to the destination", &vcs_two_legs,
                &make_valiant},
    PolicyEntry{"ugal-l", "straight or by a random router, by local queue length times hops",
                &vcs_two_legs, &make_ugal_l},
    PolicyEntry{"source-up", "fat tree: up by the source's number (s-mod-k)", &vcs_fat_tree,
                &make_source_up},
    PolicyEntry{"dest-down", "fat tree: up by the destination's number (d-mod-k)", &vcs_fat_tree,
                &make_dest_down},
    PolicyEntry{"adaptive-up", "fat tree: up where least is queued", &vcs_fat_tree,
                &make_adaptive_up},
    PolicyEntry{"up-down", "shortest up*/down* path on any graph", &vcs_up_down, &make_up_down},
    PolicyEntry{"shortest", "shortest path on any graph, VC rising with each hop", &vcs_shortest,
                &make_shortest},
};

// Names that others use.
constexpr std::array<std::pair<std::string_view, std::string_view>, 2> aliases = {
    {{"adaptive", "min-adaptive"}, {"cross-line", "crossline"}}};

const PolicyEntry* find_policy(std::string_view name) {
  for (const auto& [alias, meant] : aliases)
    if (name == alias) name = meant;
  for (const PolicyEntry& entry : table)
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
  known.reserve(table.size());
  for (const PolicyEntry& entry : table) known.push_back(entry.name);
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
  for (const PolicyEntry& entry : table) {
    const std::string form = fitting_form(entry, topology);
    if (!form.empty()) fitting += (fitting.empty() ? "" : ", ") + form;
  }
  return "routing '" + std::string(name) + "' does not fit " + topology.name +
         "; fitting: " + fitting;
}

Result<Asked> parse_asked(std::string_view text) {
  const std::size_t colon = text.find(':');
  Asked asked{find_policy(text.substr(0, colon)), {}};
  if (asked.entry == nullptr) return Error::input(unknown(text.substr(0, colon)));
  if (colon == std::string_view::npos) return asked;
  const PolicyEntry& entry = *asked.entry;
  std::vector<bool> given(entry.groups.size(), false);
  for (const PolicyWords& group : entry.groups) asked.words.push_back(split(group.words, '|')[0]);
  for (const std::string_view word : split(text.substr(colon + 1), ',')) {
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

}  // namespace

bool detail::single_vcs(const LegMasks& masks, unsigned classes_used) {
  for (std::size_t c = 0; c < masks.size(); ++c)
    if (((classes_used >> c) & 1u) != 0 && std::popcount(masks[c]) != 1) return false;
  return true;
}

std::span<const PolicyEntry> builtin_policies() {
  return table;
}

Result<std::unique_ptr<Policy>> make_policy(std::string_view name, const Topology& topology,
                                            int vcs) {
  const auto asked = parse_asked(name);
  if (!asked) return asked.error();
  const int needed = asked->vcs_needed(topology);
  if (needed == 0) return Error::input(misfit(name, topology));
  if (vcs > max_vcs)
    return Error::input("at most " + std::to_string(max_vcs) + " VCs are supported, " +
                        std::to_string(vcs) + " given; set vcs = " + std::to_string(max_vcs) +
                        " or less");
  if (vcs < needed) {
    const std::string count = std::to_string(needed);
    return Error::input("routing '" + std::string(name) + "' on " + topology.name +
                        " needs at least " + count + (needed == 1 ? " VC" : " VCs") +
                        " to be free of deadlock, " + std::to_string(vcs) +
                        " given; set vcs = " + count);
  }
  return asked->make(topology, vcs);
}

std::string default_routing(const Topology& topology) {
  if (std::holds_alternative<Cube>(topology.shape)) return "dor";
  if (std::holds_alternative<FatTree>(topology.shape)) return "dest-down";
  if (std::holds_alternative<Irregular>(topology.shape)) return "up-down";
  return "minimal";
}

int vcs_needed(std::string_view routing, const Topology& topology) {
  const auto asked = parse_asked(routing);
  return asked ? asked->vcs_needed(topology) : 0;
}

}  // namespace weft
