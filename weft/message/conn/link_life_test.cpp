// SPDX-License-Identifier: Apache-2.0
// Walks every edge of link_life.hpp, tries every other step, and compares the table with README.md.
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weft/message/conn/link_life.hpp>

namespace weft::conn {
namespace {

std::vector<std::string> cells(const std::string& line) {
  std::vector<std::string> all;
  std::istringstream in(line.substr(1));
  for (std::string cell; std::getline(in, cell, '|');) {
    std::erase_if(cell, [](char c) { return c == '`' || c == ' '; });
    all.push_back(cell);
  }
  return all;
}

// {state, event} to the next state: a column for each state, a row for each event.
std::map<std::pair<std::string, std::string>, std::string> read_drawn() {
  std::ifstream file(WEFT_CONN_README);
  std::map<std::pair<std::string, std::string>, std::string> drawn;
  std::vector<std::string> states;
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with('|')) {
      states.clear();
      continue;
    }
    const std::vector<std::string> row = cells(line);
    if (row[0] == "event") states = row;
    if (row[0] == "event" || states.empty() || row[0].starts_with("---")) continue;
    for (std::size_t i = 1; i < row.size() && i < states.size(); ++i) {
      if (!row[i].empty()) drawn[{states[i], row[0]}] = row[i];
    }
  }
  return drawn;
}

TEST(LinkLife, EveryEdgeIsWalkedAndDrawnAndNoOther) {
  const auto drawn = read_drawn();
  std::size_t edges = 0;
  std::set<LinkState> reached, left;
  for (std::size_t s = 0; s < link_states.size(); ++s) {
    for (std::size_t e = 0; e < link_events.size(); ++e) {
      auto state = static_cast<LinkState>(s);
      const auto on = static_cast<LinkEvent>(e);
      SCOPED_TRACE(std::string(link_states[s]) + " on " + std::string(link_events[e]));
      const LinkTransition* const edge = find_transition(state, on);
      const auto shown = drawn.find({std::string(link_states[s]), std::string(link_events[e])});
      ASSERT_EQ(edge != nullptr, shown != drawn.end());
      if (edge == nullptr) {
        EXPECT_DEATH(step(state, on), "edge != nullptr");
        continue;
      }
      ++edges;
      step(state, on);
      EXPECT_EQ(state, edge->to);
      EXPECT_EQ(link_states[static_cast<std::size_t>(state)], shown->second);
      reached.insert(edge->to);
      left.insert(edge->from);
    }
  }
  EXPECT_EQ(edges, link_life.size()) << "two edges for the same state and event";
  EXPECT_EQ(edges, drawn.size()) << "README.md has a state or an event that does not exist";
  EXPECT_EQ(reached.size(), link_states.size()) << "a state that nothing leads to";
  EXPECT_EQ(left.size(), link_states.size()) << "a state that nothing leads out of";
}

}  // namespace
}  // namespace weft::conn
