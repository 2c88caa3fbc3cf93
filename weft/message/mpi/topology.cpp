// SPDX-License-Identifier: Apache-2.0
#include "topology.hpp"

#include <numeric>
#include <tuple>
#include <utility>

namespace weft::mpi {

Cartesian::Cartesian(std::span<const int> extents, std::vector<bool> periodic)
    : periodic_(std::move(periodic)) {
  grid_.extents.assign(extents.begin(), extents.end());
}

int Cartesian::size() const {
  int size = 1;
  for (const int extent : grid_.extents) size *= extent;
  return size;
}

std::vector<int> Cartesian::coordinates(int rank) const {
  std::vector<int> result(grid_.extents.size());
  for (std::size_t i = result.size(); i > 0; --i) {
    result[i - 1] = rank % grid_.extents[i - 1];
    rank /= grid_.extents[i - 1];
  }
  return result;
}

std::optional<int> Cartesian::rank(std::span<const int> coordinates) const {
  int result = 0;
  for (std::size_t i = 0; i < grid_.extents.size(); ++i) {
    const int extent = grid_.extents[i];
    int coordinate = coordinates[i];
    if (periodic_[i]) {
      coordinate %= extent;
      if (coordinate < 0) coordinate += extent;
    } else if (coordinate < 0 || coordinate >= extent) {
      return std::nullopt;
    }
    result = result * extent + coordinate;
  }
  return result;
}

int Cartesian::shifted(int from, int dimension, int distance) const {
  std::vector<int> place = coordinates(from);
  const auto i = static_cast<std::size_t>(dimension);
  const std::int64_t extent = grid_.extents[i];
  std::int64_t coordinate = std::int64_t{place[i]} + distance;
  if (!periodic_[i] && (coordinate < 0 || coordinate >= extent)) return MPI_PROC_NULL;
  coordinate = (coordinate % extent + extent) % extent;
  place[i] = static_cast<int>(coordinate);
  return *rank(place);
}

std::span<const int> Graph::neighbours(int rank) const {
  const auto i = static_cast<std::size_t>(rank);
  const int first = rank == 0 ? 0 : index[i - 1];
  return std::span(edges).subspan(static_cast<std::size_t>(first),
                                  static_cast<std::size_t>(index[i] - first));
}

namespace {

std::vector<int> around(const Cartesian& cartesian, int rank) {
  std::vector<int> result;
  for (int i = 0; i < cartesian.dimensions(); ++i) {
    result.push_back(cartesian.shifted(rank, i, -1));
    result.push_back(cartesian.shifted(rank, i, 1));
  }
  return result;
}

std::vector<int> list(std::span<const int> ranks) {
  return {ranks.begin(), ranks.end()};
}

}  // namespace

std::vector<int> Topology::sources(int rank) const {
  if (cartesian()) return around(*cartesian(), rank);
  return graph() ? list(graph()->neighbours(rank)) : local_graph()->sources;
}

std::vector<int> Topology::destinations(int rank) const {
  if (cartesian()) return around(*cartesian(), rank);
  return graph() ? list(graph()->neighbours(rank)) : local_graph()->destinations;
}

namespace {

// Divisors in ascending order.
std::vector<int> divisors(int number) {
  std::vector<int> small;
  std::vector<int> large;
  for (int i = 1; i <= number / i; ++i) {
    if (number % i != 0) continue;
    small.push_back(i);
    if (i != number / i) large.push_back(number / i);
  }
  small.insert(small.end(), large.rbegin(), large.rend());
  return small;
}

// factor^times >= number
bool reaches(std::int64_t factor, int times, std::int64_t number) {
  std::int64_t power = 1;
  for (int i = 0; i < times && power < number; ++i) power *= factor;
  return power >= number;
}

// Finds the descending factors of a number whose first and last differ least; of those the ones
// with the all_max last; and of those the ones with the smallest sum, which equal factors have.
// The first factor grows from the root of the number on, so that the search ends soon after the
// best.
class Balance {
 public:
  Balance(int number, int count) : divisors_(divisors(number)), count_(count) {
    current_.resize(static_cast<std::size_t>(count));
    while (!reaches(root_, count, number)) ++root_;
    search(number, number, 0);
  }
  const std::vector<int>& best() const { return best_; }

 private:
  void search(int number, int most, int done) {
    const auto place = static_cast<std::size_t>(done);
    if (done + 1 == count_) {
      if (number > most) return;
      current_[place] = number;
      if (best_.empty() || cost(current_) <= cost(best_)) best_ = current_;
      return;
    }
    for (const int divisor : divisors_) {
      if (divisor > most) break;
      // The smallest factor is at most the root.
      if (!best_.empty() && (done == 0 ? divisor : current_[0]) - root_ > spread(best_)) break;
      // Too small: the others, which must not be greater, could not make up for it.
      if (number % divisor != 0 || !reaches(divisor, count_ - done, number)) continue;
      current_[place] = divisor;
      search(number / divisor, divisor, done + 1);
    }
  }
  static int spread(const std::vector<int>& factors) { return factors.front() - factors.back(); }
  static std::tuple<int, int, std::int64_t> cost(const std::vector<int>& factors) {
    return {spread(factors), -factors.back(),
            std::accumulate(factors.begin(), factors.end(), std::int64_t{0})};
  }

  std::vector<int> divisors_;
  int count_;
  int root_ = 1;
  std::vector<int> current_, best_;
};

}  // namespace

bool balance(int nodes, std::span<int> extents) {
  std::int64_t given = 1;
  int open = 0;
  for (const int extent : extents) {
    if (extent < 0) return false;
    if (extent == 0) {
      ++open;
    } else {
      given *= extent;
      if (given > nodes) return false;
    }
  }
  if (nodes % given != 0) return false;
  if (open == 0) return given == nodes;
  const Balance found(static_cast<int>(nodes / given), open);
  auto next = found.best().begin();
  for (int& extent : extents) {
    if (extent == 0) extent = *next++;
  }
  return true;
}

}  // namespace weft::mpi
