// SPDX-License-Identifier: Apache-2.0
// Walks every edge of the two tables of connection_life.hpp, tries every other step, and compares
// both tables with the ones that README.md shows.
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weft/real/wire/connection_life.hpp>

namespace weft::wire {
namespace {

std::string trimmed(std::string text) {
  std::erase(text, '`');
  const std::size_t begin = text.find_first_not_of(' ');
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

std::vector<std::string> cells(const std::string& line) {
  std::vector<std::string> all;
  std::istringstream in(line.substr(1));
  for (std::string cell; std::getline(in, cell, '|');) all.push_back(trimmed(cell));
  return all;
}

// {state, event} to "next, action", from the table with this corner: a column for each state, a row
// for each event.
using Drawn = std::map<std::pair<std::string, std::string>, std::string>;
Drawn read_drawn(const std::string& corner) {
  std::ifstream file(WEFT_WIRE_README);
  Drawn drawn;
  std::vector<std::string> states;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] != '|') {
      states.clear();
      continue;
    }
    const std::vector<std::string> row = cells(line);
    if (states.empty()) {
      if (row[0] == corner) states = row;
      continue;
    }
    if (row[0].starts_with("---")) continue;
    for (std::size_t i = 1; i < row.size() && i < states.size(); ++i) {
      if (!row[i].empty()) drawn[{states[i], row[0]}] = row[i];
    }
  }
  return drawn;
}

struct Names {
  std::span<const std::string_view> states, events, actions;
};

// As README.md writes an edge: "stays", "next", either with ", action".
template <typename Edge>
std::string cell_of(const Edge& edge, const Names& names) {
  std::string text =
      edge.to == edge.from ? "stays" : std::string(names.states[static_cast<std::size_t>(edge.to)]);
  const std::string_view action = names.actions[static_cast<std::size_t>(edge.action)];
  if (action != "none") text += ", " + std::string(action);
  return text;
}

template <typename State, typename Event, typename Action>
void walk(std::span<const Transition<State, Event, Action>> table, const Names& names,
          const Drawn& drawn) {
  std::size_t edges = 0;
  std::set<std::size_t> reached = {0};
  for (std::size_t s = 0; s < names.states.size(); ++s) {
    for (std::size_t e = 0; e < names.events.size(); ++e) {
      const auto on = static_cast<Event>(e);
      const auto* const edge = find_transition(table, static_cast<State>(s), on);
      const auto shown = drawn.find({std::string(names.states[s]), std::string(names.events[e])});
      State state = static_cast<State>(s);
      SCOPED_TRACE(std::string(names.states[s]) + " on " + std::string(names.events[e]));
      ASSERT_EQ(edge != nullptr, shown != drawn.end());
      if (edge == nullptr) {
        EXPECT_DEATH(step(state, on), "edge != nullptr");
        continue;
      }
      ++edges;
      EXPECT_EQ(step(state, on), edge->action);
      EXPECT_EQ(state, edge->to);
      EXPECT_EQ(cell_of(*edge, names), shown->second);
      if (edge->to != edge->from) reached.insert(static_cast<std::size_t>(edge->to));
    }
  }
  EXPECT_EQ(edges, table.size()) << "two edges for the same state and event";
  EXPECT_EQ(edges, drawn.size()) << "README.md has a state or an event that does not exist";
  EXPECT_EQ(reached.size(), names.states.size()) << "a state that nothing leads to";
}

TEST(ConnectionLife, OfALink) {
  walk(std::span<const LinkTransition>(link_life), {link_states, link_events, link_actions},
       read_drawn("link"));
}

TEST(ConnectionLife, OfARail) {
  walk(std::span<const RailTransition>(rail_life), {rail_states, rail_events, rail_actions},
       read_drawn("rail"));
}

}  // namespace
}  // namespace weft::wire
