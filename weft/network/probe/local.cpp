// SPDX-License-Identifier: Apache-2.0
// From measurements inside a host to the keys of [node]. The order of weft/simulate/nodes is undone
// here: what a simulated message would need is compared with what real ones needed.
#include "weft/network/probe/local.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <weft/message/port/copy_stretch.hpp>

namespace weft::probe {
namespace {

constexpr std::size_t kib = 1024, mib = kib * 1024;
constexpr std::array<std::size_t, 16> sizes = {
    0,        64,        256,       kib,       4 * kib, 16 * kib, 20 * kib, 32 * kib,
    64 * kib, 128 * kib, 256 * kib, 512 * kib, mib,     2 * mib,  4 * mib,  8 * mib};
constexpr std::array<std::size_t, 6> eager = {0, 64, 256, kib, 4 * kib, 16 * kib};  // As weft run.
constexpr std::array<std::size_t, 5> copied = {256, 4 * kib, 32 * kib, 128 * kib, 512 * kib};

Duration to_duration(double ns) {
  return Duration::ps(std::llround(std::max(ns, 0.0) * 1e3));
}

double in_ns(Duration time) {
  return static_cast<double>(time.in_ps()) * 1e-3;
}

// Reads measurements by name; remembers what is missing.
class Reader {
 public:
  explicit Reader(const LocalMeasures& measures) : measures_(measures) {}
  double time(const char* name) {
    const auto found = measures_.times.find(name);
    if (found == measures_.times.end()) return absent(name);
    return value(name, found->second);
  }
  double one_way(std::size_t bytes) { return by_size("messages", measures_.one_way, bytes); }
  double side(std::size_t bytes) { return by_size("work for messages", measures_.side, bytes); }
  double copy(std::size_t bytes) { return by_size("copies", measures_.copy, bytes); }
  const std::string& missing() const { return missing_; }

 private:
  double by_size(const char* what, const std::map<std::size_t, Samples>& times, std::size_t bytes) {
    const std::string name = what + (" of " + std::to_string(bytes)) + " B";
    const auto found = times.find(bytes);
    if (found == times.end()) return absent(name);
    return value(name, found->second);
  }
  double absent(const std::string& name) {
    if (missing_.empty()) missing_ = name;
    return 0;
  }
  double value(const std::string& name, const Samples& samples) {
    if (samples.samples_ns.empty() || !(samples.low_ns() > 0)) return absent(name);
    return samples.low_ns();
  }
  const LocalMeasures& measures_;
  std::string missing_;
};

// What a frame needs from rank to rank besides its data, apart from the call that sends it.
double frame_ns(const LocalNode& node) {
  return in_ns(node.send) + in_ns(node.latency) + in_ns(node.receive) + in_ns(node.switching);
}

void fit_calls(Reader& reader, LocalNode& node) {
  const double call = reader.time("call"), send = reader.time("send"),
               receive = reader.time("receive");
  node.call = to_duration(std::min({call, send, receive}));
  node.send = to_duration(send - in_ns(node.call));
  node.receive = to_duration(receive - in_ns(node.call));
  const double of_send = reader.time("send_request") - send,
               of_receive = reader.time("receive_request") - receive;
  node.request = to_duration((std::max(of_send, 0.0) + std::max(of_receive, 0.0)) / 2);
}

// What a short message needs beyond the work of both ranks: latency, or the switch of the core.
void fit_latency(Reader& reader, const LocalMeasures* crowded, LocalNode& node) {
  constexpr double least_ns = 1;  // The simulator knows no instant message.
  const double work = in_ns(node.call) + in_ns(node.send) + in_ns(node.receive);
  const double beyond = std::max(reader.one_way(0) - work, least_ns);
  if (crowded == nullptr) {
    node.latency = to_duration(least_ns);
    node.switching = to_duration(beyond - least_ns);
    return;
  }
  node.latency = to_duration(beyond);
}

// On one core the work of both ranks comes one after the other, with one switch: whoever is second
// need not wait.
void fit_collectives(Reader& reader, int workers, LocalNode& node) {
  double sum = 0;
  for (const char* name : {"barrier", "allreduce", "alltoall"}) {
    const double took = reader.time(name);
    const double each = workers == 2 ? took : (took + in_ns(node.switching)) / 2;
    sum += std::max(each - in_ns(node.call) - frame_ns(node), 0.0);
  }
  node.collective = to_duration(sum / 3);
}

using Points = std::vector<std::pair<Bytes, Duration>>;

void add_point(Points& points, std::size_t size, double ns) {
  const double least = points.empty() ? 0 : in_ns(points.back().second);
  points.emplace_back(Bytes{static_cast<std::int64_t>(size)}, to_duration(std::max(ns, least)));
}

// Both ranks copy an eager message; what it takes beyond their work is latency.
void fit_copies(Reader& reader, LocalNode& node) {
  for (const std::size_t size : copied) add_point(node.copies, size, reader.copy(size));
  const double empty = reader.one_way(0), idle = reader.side(0);
  for (const std::size_t size : eager) {
    if (size == 0) continue;
    const double longer = reader.one_way(size) - empty;
    const double work = std::clamp(reader.side(size) - idle, 0.0, std::max(longer, 0.0) / 2);
    add_point(node.sides, size, work);
    add_point(node.flights, size, longer - 2 * work);
  }
}

// A large message: `turns` stretches of one size, one after the other, besides `fixed`.
struct Large {
  double one_way_ns = 0, turns = 1;
};

Large large_message(Reader& reader, std::size_t size, int workers) {
  const double count =
      size < shared_copy_min
          ? 1
          : std::ceil(static_cast<double>(size) / static_cast<double>(copy_stretch(size)));
  return {reader.one_way(size), size < shared_copy_min ? 1 : std::ceil(count / workers)};
}

// Time of a stretch of 16 KiB, and what a message costs once: by least squares over sizes that are
// cut into such stretches. Relative errors count.
void fit_first_stretch(Reader& reader, double fixed_ns, int workers, LocalNode& node) {
  double s1 = 0, st = 0, stt = 0, sy = 0, sty = 0;
  for (const std::size_t size : {32 * kib, 64 * kib, 128 * kib}) {
    const Large large = large_message(reader, size, workers);
    const double weight = 1 / (large.one_way_ns * large.one_way_ns);
    const double y = large.one_way_ns - fixed_ns;
    s1 += weight;
    st += weight * large.turns;
    stt += weight * large.turns * large.turns;
    sy += weight * y;
    sty += weight * large.turns * y;
  }
  const double det = s1 * stt - st * st;
  double stretch = (s1 * sty - st * sy) / det, once = (stt * sy - st * sty) / det;
  if (once < 0) {
    once = 0;
    stretch = sty / stt;
  }
  node.write = to_duration(once);
  node.writes.emplace_back(Bytes{16 * kib}, to_duration(stretch));
}

// Rates beyond the cache are lower: where they begin to be, and how low they get.
void fit_cache(Reader& reader, int workers, LocalNode& node) {
  const auto rate_of = [&](std::size_t size) {  // Bytes per ns of one rank.
    return static_cast<double>(size) / workers / reader.one_way(size);
  };
  double hot = 0;
  for (const std::size_t size : {256 * kib, 512 * kib, mib}) hot = std::max(hot, rate_of(size));
  const double cold = std::sqrt(rate_of(4 * mib) * rate_of(8 * mib));
  constexpr double alike = 0.85;
  if (!(cold > 0) || cold > alike * hot) return;
  node.uncached = Rate::bit_per_s(std::llround(cold * 8e9));
  std::size_t fits = 256 * kib;
  for (const std::size_t size : {256 * kib, 512 * kib, mib, 2 * mib, 4 * mib})
    if (rate_of(size) > std::sqrt(hot * cold)) fits = size;
  node.cache = Bytes{static_cast<std::int64_t>(2 * fits)};
}

// A request, an answer and the notice at the end are frames.
void fit_writes(Reader& reader, int workers, LocalNode& node) {
  const double fixed = in_ns(node.call) + 3 * frame_ns(node);
  fit_first_stretch(reader, fixed, workers, node);
  fit_cache(reader, workers, node);
  for (const std::size_t size : {256 * kib, 512 * kib, mib}) {
    if (node.cache.count > 0 && static_cast<std::int64_t>(2 * size) > node.cache.count) break;
    const Large large = large_message(reader, size, workers);
    const double stretch = (large.one_way_ns - fixed - in_ns(node.write)) / large.turns;
    const double least = in_ns(node.writes.back().second);
    node.writes.emplace_back(Bytes{static_cast<std::int64_t>(copy_stretch(size))},
                             to_duration(std::max(stretch, least)));
  }
}

constexpr double reduced_bytes = reduced_numbers * 8.0;

Rate copy_rate(double ns, double ranks) {
  return Rate::bit_per_s(std::llround(16.0 * static_cast<double>(mib) * ranks * 8e9 / ns));
}

void fit_memory(Reader& reader, const LocalMeasures& measures, LocalNode& node) {
  const double reduction = reader.time("reduction");
  if (reduction > 0) node.reduce = Rate::bit_per_s(std::llround(reduced_bytes * 8e9 / reduction));
  const double alone = reader.time("large_copy"), by_all = reader.time("large_copy_by_all");
  if (!reader.missing().empty()) return;
  node.copy_alone = copy_rate(alone, 1);
  node.memory = std::max(copy_rate(by_all, measures.ranks), node.copy_alone);
}

}  // namespace

std::span<const std::size_t> local_sizes() {
  return sizes;
}

std::span<const std::size_t> eager_sizes() {
  return eager;
}
std::span<const std::size_t> copy_sizes() {
  return copied;
}

double Samples::quantile_ns(double share) const {
  std::vector<double> sorted = samples_ns;
  const auto at =
      sorted.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(sorted.size() - 1));
  std::nth_element(sorted.begin(), at, sorted.end());
  return *at;
}

Result<LocalNode> fit_local(const LocalMeasures& measures, const LocalMeasures* crowded,
                            int cores) {
  Reader reader(measures);
  LocalNode node;
  node.cores = cores;
  node.sockets = measures.sockets;
  if (!measures.crowded) node.held_off = measures.held_off;  // Else by each other.
  const int workers = crowded == nullptr ? 1 : 2;
  fit_calls(reader, node);
  fit_latency(reader, crowded, node);
  fit_collectives(reader, workers, node);
  fit_copies(reader, node);
  fit_memory(reader, measures, node);
  double asleep = measures.crowded ? 0 : reader.time("round_trip_asleep");
  for (const std::size_t size : sizes) reader.one_way(size);
  if (!reader.missing().empty()) return Error::run("nothing was measured for " + reader.missing());
  fit_writes(reader, workers, node);
  node.wake = to_duration(asleep - 2 * reader.one_way(0));
  if (crowded != nullptr) {
    Reader shared(*crowded);
    const double beyond = shared.one_way(0) - reader.one_way(0);
    if (!shared.missing().empty())
      return Error::run("nothing was measured for ranks that share a core: " + shared.missing());
    node.switching = to_duration(beyond);
  }
  if (const auto far = measures.far_one_way.find(0); far != measures.far_one_way.end())
    node.far_latency = std::max(
        node.latency, node.latency + to_duration(far->second.low_ns() - reader.one_way(0)));
  double disturbed = 0;
  for (const auto& [size, samples] : measures.one_way)
    disturbed += samples.typical_ns() / samples.low_ns() - 1;
  node.disturbed = disturbed / static_cast<double>(measures.one_way.size());
  return node;
}

}  // namespace weft::probe
