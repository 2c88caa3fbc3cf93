// SPDX-License-Identifier: Apache-2.0
// What a mapping has won: before and after, how far from what is proved to be possible, and what
// else was tried. As text for a terminal, JSON and CSV for programs, and one HTML page that loads
// nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <weft/study/map/judge.hpp>
#include <weft/study/map/problem.hpp>

namespace weft::map {

struct ReportSide {
  std::string name{};  // Such as "x,y,z order" or "bisection + annealing".
  Judgement judgement{};
  std::vector<std::uint32_t> nodes{};  // By rank.
  std::optional<double> seconds{};     // Simulated time, where it was asked for.
};

// What no map can beat. Absent: nothing is proved.
struct ReportBounds {
  std::optional<double> hops{}, hop_bytes{}, link_max{}, link_mean{}, value{};
};

struct ReportCandidate {
  std::string name{};
  double value = 0;  // The objective.
};

struct MapReport {
  std::string title{};  // Empty: "weft map".
  // As the user may say them; what is empty is not shown.
  std::string network{}, pattern{}, routing{}, objective{};
  std::uint32_t ranks = 0;
  ReportSide before{}, after{};
  ReportBounds bounds{};
  std::vector<ReportCandidate> candidates{};                 // In any order.
  std::vector<std::pair<std::string, std::string>> facts{};  // Further lines: "seed", "3".
  std::vector<std::string> warnings{};                       // What of the machine holds what back.
};

// Aligned columns, ready to print.
std::string table(const MapReport& report);
std::string to_json(const MapReport& report);
// "name,value,ratio", best first; ratio to the best.
std::string to_csv(const std::vector<ReportCandidate>& candidates);
// The problem is the one that both sides solve.
std::string to_html(const MapReport& report, const Problem& problem);

// Links by what they carry, for the links that are there: `bins` even steps from 0 to `top`, what
// lies above in the last one.
std::vector<std::uint64_t> load_histogram(const Judgement& judgement, const Graph& graph,
                                          double top, std::size_t bins);

}  // namespace weft::map
