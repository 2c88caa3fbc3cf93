// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <utility>

#include <weft/base/check.hpp>
#include <weft/study/map/board.hpp>
#include <weft/study/map/power.hpp>

namespace weft::map {

namespace {

// ln(1 + x) near enough and the same on every machine; only its order and slope matter.
double grown(double x) {
  return x / (1 + x / 2);
}

// One link's part of the p-norm, p = 2^squarings.
double term(double load, int squarings) {
  for (int i = 0; i < squarings; ++i) load *= load;
  return load;
}

}  // namespace

Board::Board(const Problem& problem, const Objective& objective, std::unique_ptr<Paths> paths)
    : problem_(problem),
      objective_(objective),
      paths_(std::move(paths)),
      whole_(paths_->whole()),
      links_(objective.needs_links()) {
  const std::size_t links = problem.topology().graph.link_count();
  deltas_.by_link.assign(links, 0);
  if (links_ && LineTrial::fits(problem)) lines_trial_ = std::make_unique<LineTrial>(problem);
  set_norm(static_cast<int>(objective.norm));
}

void Board::set(const RankMap& map) {
  slot_of_ = map;
  rank_at_.resize(map.size());
  node_of_.resize(map.size());
  for (std::uint32_t r = 0; r < map.size(); ++r) {
    rank_at_[map[r]] = r;
    node_of_[r] = problem_.node(map[r]);
  }
  hops_ = 0;
  hop_bytes_ = 0;
  load_.assign(problem_.topology().graph.link_count(), 0);
  for (const Flow& flow : problem_.traffic().flows()) {
    if (flow.from == flow.to) continue;
    const NodeId from = problem_.node(map[flow.from]);
    const NodeId to = problem_.node(map[flow.to]);
    const std::uint32_t hops = paths_->hops(from, to);
    hops_ += hops;
    hop_bytes_ += static_cast<double>(flow.bytes) * hops;
    if (!links_) continue;
    for (const Crossing& c : paths_->between(from, to))
      load_[c.link] += static_cast<double>(flow.bytes) * c.share;
  }
  max_known_ = false;
  // As the unit the busiest link, so that powers stay small.
  typical_ = 0;
  for (const double load : load_) typical_ = std::max(typical_, load);
  if (typical_ <= 0) typical_ = 1;
  scale_.assign(1, 1 / typical_);
  if (!problem_.slowness().empty()) {
    scale_ = problem_.slowness();
    for (double& s : scale_) s /= typical_;
  }
  sum_norm();
}

void Board::set_norm(int p) {
  squarings_ = 0;
  while ((1 << squarings_) < p) ++squarings_;
  if (!load_.empty()) sum_norm();
}

void Board::sum_norm() {
  norm_ = 0;
  kept_ = 0;
  if (lines_trial_ != nullptr) {
    lines_trial_->set(load_, scale_[0], squarings_);
    norm_ = lines_trial_->norm();
    return;
  }
  const bool alike = scale_.size() == 1;
  for (std::size_t l = 0; l < load_.size(); ++l)
    if (load_[l] != 0) norm_ += term(load_[l] * scale_[alike ? 0 : l], squarings_);
}

// What a rank says and hears, when it moves and its peer (if that is not `other`, which comes the
// opposite way) stays.
template <typename Shift>
void Board::move_talks(std::uint32_t rank, NodeId from, NodeId to, std::uint32_t other,
                       Shift shift) {
  for (const Talk& talk : problem_.talks(rank)) {
    if (talk.peer == other) continue;
    const NodeId peer = node_of_[talk.peer];
    if (talk.sends) {
      const std::int64_t change = shift(to, peer, talk.out) - shift(from, peer, -talk.out);
      tried_.hops += change;
      tried_.hop_bytes += talk.out * static_cast<double>(change);
    }
    if (talk.hears) {
      const std::int64_t change = shift(peer, to, talk.in) - shift(peer, from, -talk.in);
      tried_.hops += change;
      tried_.hop_bytes += talk.in * static_cast<double>(change);
    }
  }
}

// Two that talk with each other change places: what went there comes back.
template <typename Shift>
void Board::turn_talk(const Talk& talk, NodeId a, NodeId b, Shift shift) {
  const std::int64_t there = paths_->hops(a, b);
  const std::int64_t back = paths_->hops(b, a);
  if (talk.sends) tried_.hops += back - there;
  if (talk.hears) tried_.hops += there - back;
  tried_.hop_bytes += (talk.out - talk.in) * static_cast<double>(back - there);
  if (!links_ || talk.out == talk.in) return;
  shift(a, b, talk.in - talk.out);
  shift(b, a, talk.out - talk.in);
}

template <int squarings>
double Board::norm_change() {
  const bool alike = scale_.size() == 1;
  const double common = scale_[0];
  double sum = 0;
  for (const Change& c : changes_) {
    const double scale = alike ? common : scale_[c.link];
    sum += term((load_[c.link] + c.by) * scale, squarings) - term(load_[c.link] * scale, squarings);
  }
  return sum;
}

void Board::count_changes() {
  changes_.resize(deltas_.count);
  std::size_t count = 0;
  for (std::size_t i = 0; i < deltas_.count; ++i) {
    const std::uint32_t link = deltas_.touched[i];
    changes_[count] = {link, std::exchange(deltas_.by_link[link], 0.0)};
    count += changes_[count].by != 0 ? 1 : 0;
  }
  changes_.resize(count);
  switch (squarings_) {
    case 1:
      tried_.norm = norm_change<1>();
      break;
    case 2:
      tried_.norm = norm_change<2>();
      break;
    case 3:
      tried_.norm = norm_change<3>();
      break;
    case 4:
      tried_.norm = norm_change<4>();
      break;
    case 5:
      tried_.norm = norm_change<5>();
      break;
    default:
      tried_.norm = norm_change<6>();
      break;
  }
}

template <typename Shift>
void Board::try_moves_with(NodeId a, NodeId b, Shift shift) {
  const std::uint32_t u = rank_at_[tried_.slot_a];
  const std::uint32_t v = rank_at_[tried_.slot_b];
  move_talks(u, a, b, v, shift);
  move_talks(v, b, a, u, shift);
  for (const Talk& talk : problem_.talks(u))
    if (talk.peer == v) turn_talk(talk, a, b, shift);
}

void Board::try_moves(NodeId a, NodeId b) {
  deltas_.count = 0;
  if (!links_) {
    try_moves_with(a, b, [this](NodeId from, NodeId to, double) {
      return static_cast<std::int64_t>(paths_->hops(from, to));
    });
  } else if (exact_) {
    try_moves_with(a, b, [this](NodeId from, NodeId to, double bytes) {
      return static_cast<std::int64_t>(paths_->pour(from, to, bytes, deltas_));
    });
    count_changes();
  } else {
    LineTrial& trial = *lines_trial_;
    try_moves_with(a, b, [&trial](NodeId from, NodeId to, double bytes) {
      return static_cast<std::int64_t>(trial.add(from, to, static_cast<float>(bytes)));
    });
    tried_.norm = trial.finish();
  }
}

double Board::try_swap(std::uint32_t slot_a, std::uint32_t slot_b) {
  const NodeId a = problem_.node(slot_a);
  const NodeId b = problem_.node(slot_b);
  tried_ = {slot_a, slot_b, 0, 0, 0};
  changes_.clear();
  if (a == b) return 0;
  exact_ = lines_trial_ == nullptr;
  try_moves(a, b);
  double cost = 0;
  if (objective_.hops > 0 && hops_ > 0)
    cost += objective_.hops * grown(static_cast<double>(tried_.hops) / static_cast<double>(hops_));
  if (objective_.hop_bytes > 0 && hop_bytes_ > 0)
    cost += objective_.hop_bytes * grown(tried_.hop_bytes / hop_bytes_);
  const double link_weight = objective_.link_max + objective_.link_norm;
  if (link_weight > 0 && norm_ > 0)
    cost += link_weight * grown(tried_.norm / norm_) / (1 << squarings_);
  return cost;
}

void Board::keep() {
  if (lines_trial_ != nullptr) {  // What was tried by lines is now done link by link.
    tried_ = {tried_.slot_a, tried_.slot_b, 0, 0, 0};
    exact_ = true;
    const NodeId a = problem_.node(tried_.slot_a);
    const NodeId b = problem_.node(tried_.slot_b);
    if (a != b) try_moves(a, b);
  }
  const std::uint32_t u = rank_at_[tried_.slot_a];
  const std::uint32_t v = rank_at_[tried_.slot_b];
  std::swap(rank_at_[tried_.slot_a], rank_at_[tried_.slot_b]);
  std::swap(slot_of_[u], slot_of_[v]);
  std::swap(node_of_[u], node_of_[v]);
  hops_ += tried_.hops;
  hop_bytes_ += tried_.hop_bytes;
  norm_ += tried_.norm;
  const bool alike = scale_.size() == 1;
  for (const Change& c : changes_) {
    const double scale = alike ? scale_[0] : scale_[c.link];
    const double before = load_[c.link] * scale;
    const double after = (load_[c.link] += c.by) * scale;
    if (lines_trial_ != nullptr) lines_trial_->change(c.link, load_[c.link]);
    if (!max_known_) continue;
    if (after > max_)
      max_ = after;
    else if (before == max_)
      max_known_ = false;
  }
  if (lines_trial_ != nullptr) {
    lines_trial_->settle();
    norm_ = lines_trial_->norm();
  }
  // Rounding must not add up, nor leave a norm below zero.
  if (++kept_ == 4096 || norm_ <= 0) sum_norm();
}

double Board::link_max() {
  if (!max_known_) {
    max_ = 0;
    const bool alike = scale_.size() == 1;
    for (std::size_t l = 0; l < load_.size(); ++l)
      max_ = std::max(max_, load_[l] * scale_[alike ? 0 : l]);
    max_known_ = true;
  }
  return max_ * typical_ / whole_;
}

double Board::value() {
  double made =
      power(static_cast<double>(hops_), objective_.hops) * power(hop_bytes_, objective_.hop_bytes);
  if (objective_.link_max > 0) made *= power(link_max(), objective_.link_max);
  if (objective_.link_norm > 0) {
    std::size_t links = 0;
    for (std::uint32_t l = 0; l < load_.size(); ++l)
      links += problem_.topology().graph.port(LinkId(l)).usable() ? 1 : 0;
    made *= power(
        typical_ / whole_ * power(norm_ / static_cast<double>(links), 1.0 / (1 << squarings_)),
        objective_.link_norm);
  }
  return made;
}

}  // namespace weft::map
