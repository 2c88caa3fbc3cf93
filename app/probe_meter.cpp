// SPDX-License-Identifier: Apache-2.0
#include "probe_meter.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <utility>

#include <mpi.h>

namespace weft::app {
namespace {

enum Tag {
  tag_ping = 1,
  tag_pong,
  tag_measure,
  tag_send,
  tag_receive,
  tag_answer,
  tag_end,
  tag_data,
  tag_last
};

constexpr int timeout_ms = 100;
constexpr int lost_max = 2;      // Consecutive lost echoes after which a host counts as absent.
constexpr int pings_factor = 4;  // Maximum number of pings, relative to the requested one.
constexpr std::size_t window = 6;
constexpr std::size_t messages_min = 6;
constexpr double settle_share = 0.2, end_share = 0.95;  // Only the flow between these counts.

void send_words(const std::vector<double>& words, int to, int tag) {
  MPI_Send(words.data(), static_cast<int>(words.size()), MPI_DOUBLE, to, tag, MPI_COMM_WORLD);
}

// The next message from any rank.
std::vector<double> next_words(MPI_Status& status) {
  MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
  int count = 0;
  MPI_Get_count(&status, MPI_DOUBLE, &count);
  std::vector<double> words(static_cast<std::size_t>(std::max(count, 0)));
  MPI_Recv(words.data(), count, MPI_DOUBLE, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD,
           &status);
  return words;
}

// Disturbances only lengthen round trips, and by different amounts. So the minimum is right if the
// shortest few agree. Sorts these to the front.
bool shortest_agree(std::vector<double>& times) {
  constexpr std::size_t agreeing = 3;
  constexpr double share = 0.01;
  if (times.size() < agreeing) return false;
  std::partial_sort(times.begin(), times.begin() + agreeing, times.end());
  return times[agreeing - 1] <= times[0] * (1 + share);
}

struct Arrival {
  double at_s = 0, bytes = 0;
};

// The rate between the time when the flow has settled and the time when others may have ended.
double rate_of(const std::vector<Arrival>& arrivals) {
  if (arrivals.size() < 2) return 0;
  const double begin = arrivals.front().at_s, all = arrivals.back().at_s - begin;
  if (all <= 0) return 0;
  const Arrival *first = &arrivals.front(), *last = &arrivals.back();
  for (const Arrival& one : arrivals) {
    if (one.at_s <= begin + settle_share * all) first = &one;
    if (one.at_s <= begin + end_share * all) last = &one;
  }
  if (last->at_s <= first->at_s) return 0;
  double bytes = 0;
  for (const Arrival* one = first + 1; one <= last; ++one) bytes += one->bytes;
  return bytes * 8 / (last->at_s - first->at_s);
}

}  // namespace

ProbeRank::ProbeRank(const ProbeSettings& settings)
    : settings_(settings), rng_(Rng(settings.seed).stream("probe noise")) {
  MPI_Comm_rank(MPI_COMM_WORLD, &self_);
  MPI_Comm_size(MPI_COMM_WORLD, &count_);
  MPI_Comm_dup(MPI_COMM_WORLD, &flows_);
  rng_ = Rng(settings.seed).stream("probe noise", static_cast<std::uint64_t>(self_));
}

void ProbeRank::choose_echoes() {
  if (settings_.messages_only || count_ == 1) return;
  const EchoAddresses own = own_addresses();
  addresses_.resize(static_cast<std::size_t>(count_));
  MPI_Allgather(&own, sizeof own, MPI_BYTE, addresses_.data(), sizeof own, MPI_BYTE,
                MPI_COMM_WORLD);
  int works = echo_.usable() ? 1 : 0;
  use_icmp_ = true;
  if (works != 0 && ping((self_ + 1) % count_) < 0) works = 0;
  int all = 0;
  MPI_Allreduce(&works, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  use_icmp_ = all != 0;
}

double ProbeRank::disturbed(double value, bool delay) {
  if (settings_.noise <= 0) return value;
  const double uniform = static_cast<double>(rng_.next() >> 11) * 0x1p-53;
  if (delay) return value * (1 - settings_.noise * std::log(1 - uniform));
  return value * (1 + settings_.noise * (uniform - 0.5));
}

double ProbeRank::ping_by_message(int target) {
  double word = 0;
  const double begin = MPI_Wtime();
  MPI_Send(&word, 1, MPI_DOUBLE, target, tag_ping, MPI_COMM_WORLD);
  MPI_Recv(&word, 1, MPI_DOUBLE, target, tag_pong, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return (MPI_Wtime() - begin) * 1e9;
}

// The minimum of several pings: fewer where they agree, more where they are disturbed. One more
// goes first, to resolve addresses and open connections.
double ProbeRank::ping(int target) {
  std::vector<double> times;
  int lost = 0;
  const auto address = use_icmp_ ? choose_address(addresses_[static_cast<std::size_t>(self_)],
                                                  addresses_[static_cast<std::size_t>(target)])
                                 : 0;
  for (int i = 0; i <= pings_factor * settings_.pings && lost < lost_max; ++i) {
    const double time =
        use_icmp_ ? echo_.round_trip_ns(address, timeout_ms) : ping_by_message(target);
    lost = time < 0 ? lost + 1 : 0;
    if (time < 0 || i == 0) continue;
    times.push_back(disturbed(time, true));
    if (i * 2 >= settings_.pings && shortest_agree(times)) break;
  }
  return times.empty() ? probe::no_answer : *std::min_element(times.begin(), times.end());
}

std::vector<double> ProbeRank::measure(const std::vector<double>& targets) {
  std::vector<double> times;
  for (const double target : targets) times.push_back(ping(static_cast<int>(target)));
  return times;
}

void ProbeRank::send_flow(int to, double seconds, std::size_t size) {
  const std::vector<char> data(size);
  std::deque<MPI_Request> in_flight;
  const double end = MPI_Wtime() + seconds;
  const auto bytes = static_cast<int>(size);
  for (std::size_t sent = 0; sent < messages_min || MPI_Wtime() < end; ++sent) {
    if (in_flight.size() == window) {
      MPI_Wait(&in_flight.front(), MPI_STATUS_IGNORE);
      in_flight.pop_front();
    }
    in_flight.emplace_back();
    MPI_Isend(data.data(), bytes, MPI_BYTE, to, tag_data, flows_, &in_flight.back());
  }
  for (MPI_Request& request : in_flight) MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (std::size_t i = 0; i < window; ++i) MPI_Send(data.data(), 1, MPI_BYTE, to, tag_last, flows_);
}

// Keeps one receive posted for each message in flight; each gets a last message at the end.
double ProbeRank::receive_flow(int from, std::size_t size) {
  std::array<std::vector<char>, window> room;
  std::array<MPI_Request, window> open;
  const auto post = [&](std::size_t i) {
    room[i].resize(size);
    MPI_Irecv(room[i].data(), static_cast<int>(size), MPI_BYTE, from, MPI_ANY_TAG, flows_,
              &open[i]);
  };
  for (std::size_t i = 0; i < window; ++i) post(i);
  std::vector<Arrival> arrivals;
  for (std::size_t ended = 0, i = 0; ended < window; i = (i + 1) % window) {
    if (open[i] == MPI_REQUEST_NULL) continue;
    MPI_Status status;
    MPI_Wait(&open[i], &status);
    if (status.MPI_TAG == tag_last) {
      ++ended;
      continue;
    }
    arrivals.push_back({MPI_Wtime(), static_cast<double>(size)});
    post(i);
  }
  return disturbed(rate_of(arrivals), false);
}

void ProbeRank::handle(int source, int tag, const std::vector<double>& words) {
  switch (tag) {
    case tag_ping:
      send_words(words, source, tag_pong);
      break;
    case tag_measure:
      send_words(measure(words), 0, tag_answer);
      break;
    case tag_send:
      send_flow(static_cast<int>(words[0]), words[1], static_cast<std::size_t>(words[2]));
      break;
    case tag_receive:
      send_words({receive_flow(static_cast<int>(words[0]), static_cast<std::size_t>(words[2]))}, 0,
                 tag_answer);
      break;
    default:
      break;
  }
}

std::vector<double> ProbeRank::next_answer(std::size_t& from) {
  for (;;) {
    MPI_Status status;
    std::vector<double> words = next_words(status);
    from = static_cast<std::size_t>(status.MPI_SOURCE);
    if (status.MPI_TAG == tag_answer) return words;
    handle(status.MPI_SOURCE, status.MPI_TAG, words);
  }
}

void ProbeRank::serve() {
  for (;;) {
    MPI_Status status;
    const std::vector<double> words = next_words(status);
    if (status.MPI_TAG == tag_end) return;
    handle(status.MPI_SOURCE, status.MPI_TAG, words);
  }
}

ProbeMeter::ProbeMeter(ProbeRank& self, const std::atomic<bool>& interrupted)
    : self_(self), interrupted_(interrupted), start_s_(MPI_Wtime()) {}

double ProbeMeter::elapsed_s() {
  return MPI_Wtime() - start_s_;
}

void ProbeMeter::dismiss() {
  for (int rank = 1; rank < self_.count_; ++rank) send_words({}, rank, tag_end);
}

// Runs a part of each errand of a round at the same time: `count` pairs at most, from `first` on.
void ProbeMeter::run_errands(std::span<const probe::Pair> pairs, const Part& part,
                             std::vector<double>& times) {
  std::vector<std::vector<std::uint32_t>> asked(static_cast<std::size_t>(self_.count_));
  std::size_t left = 0;
  const auto targets = [&](std::size_t from) {
    std::vector<double> words;
    for (const std::uint32_t i : asked[from]) words.push_back(pairs[i].to);
    return words;
  };
  const auto take = [&](std::size_t from, const std::vector<double>& answer) {
    for (std::size_t i = 0; i < asked[from].size() && i < answer.size(); ++i)
      times[asked[from][i]] = answer[i];
  };
  for (const probe::Errand& errand : part.round) {
    const std::size_t end = std::min(part.first + part.count, errand.pairs.size());
    for (std::size_t i = part.first; i < end; ++i) asked[errand.from].push_back(errand.pairs[i]);
    if (asked[errand.from].empty() || errand.from == 0) continue;
    send_words(targets(errand.from), static_cast<int>(errand.from), tag_measure);
    ++left;
  }
  if (!asked[0].empty()) take(0, self_.measure(targets(0)));
  for (; left > 0; --left) {
    std::size_t from = 0;
    const std::vector<double> words = self_.next_answer(from);
    take(from, words);
  }
}

std::vector<double> ProbeMeter::round_trips_ns(std::span<const probe::Pair> pairs) {
  // Few enough that Ctrl-C acts soon, many enough that requests cost little.
  constexpr int pings_at_once = 128;
  const auto count = static_cast<std::size_t>(std::max(1, pings_at_once / self_.settings_.pings));
  std::vector<double> times(pairs.size(), probe::no_answer);
  for (const auto& round : probe::plan_rounds(pairs)) {
    std::size_t longest = 0;
    for (const probe::Errand& errand : round) longest = std::max(longest, errand.pairs.size());
    for (std::size_t first = 0; first < longest && !interrupted_; first += count)
      run_errands(pairs, {round, first, count}, times);
  }
  for (const double time : times) longest_ns_ = std::max(longest_ns_, time);
  return times;
}

std::vector<double> ProbeMeter::flows_bit_per_s(std::span<const probe::Pair> pairs) {
  constexpr double bytes_min = 4096, bytes_max = 512 * 1024, messages = 64, round_trips = 4;
  const double seconds = std::max(self_.settings_.flow_s, round_trips * longest_ns_ / 1e9);
  const double fits = fastest_bit_per_s_ / 8 * seconds / messages;
  const double size = std::floor(std::clamp(fits, bytes_min, bytes_max));
  std::vector<double> rates(pairs.size());
  std::vector<std::size_t> flow_of(static_cast<std::size_t>(self_.count_));
  std::size_t left = pairs.size();
  const probe::Pair* own = nullptr;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    flow_of[pairs[i].to] = i;
    if (pairs[i].from == 0 || pairs[i].to == 0) own = &pairs[i];
    if (pairs[i].to != 0)
      send_words({static_cast<double>(pairs[i].from), seconds, size}, static_cast<int>(pairs[i].to),
                 tag_receive);
  }
  for (const probe::Pair& pair : pairs) {
    if (pair.from != 0)
      send_words({static_cast<double>(pair.to), seconds, size}, static_cast<int>(pair.from),
                 tag_send);
  }
  const auto bytes = static_cast<std::size_t>(size);
  if (own != nullptr && own->from == 0) self_.send_flow(static_cast<int>(own->to), seconds, bytes);
  if (own != nullptr && own->to == 0) {
    rates[flow_of[0]] = self_.receive_flow(static_cast<int>(own->from), bytes);
    --left;
  }
  for (; left > 0; --left) {
    std::size_t from = 0;
    const std::vector<double> words = self_.next_answer(from);
    rates[flow_of[from]] = words.empty() ? 0 : words[0];
  }
  for (const double rate : rates) fastest_bit_per_s_ = std::max(fastest_bit_per_s_, rate);
  return rates;
}

}  // namespace weft::app
