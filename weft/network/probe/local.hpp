// SPDX-License-Identifier: Apache-2.0
// A host as the message layer sees it: what was measured between its ranks, and the table [node] of
// a network file that follows from it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <weft/base/result.hpp>
#include <weft/base/units.hpp>

namespace weft::probe {

// The samples of one quantity. Disturbances only lengthen, so the lower quartile counts.
struct Samples {
  std::vector<double> samples_ns;
  double low_ns() const { return quantile_ns(0.25); }
  double typical_ns() const { return quantile_ns(0.5); }
  double quantile_ns(double share) const;  // REQUIRES: there are samples.
};

struct LocalMeasures {
  int cores = 0;    // Of the host.
  int sockets = 1;  // On which the ranks ran.
  int ranks = 0;    // That measured.
  bool crowded = false;
  double held_off = 0;  // Share of the time for which other work kept a rank off its core.
  std::map<std::string, Samples> times;                 // By name.
  std::map<std::size_t, Samples> one_way, far_one_way,  // By bytes: a message; to another socket;
      side, copy;  // the mean work of both ranks for it; a copy in own memory.
};

// The sizes of messages that are measured: eager ones, one copied by its sender alone, and ones
// that both ranks copy, up to far beyond caches.
std::span<const std::size_t> local_sizes();
// Those of eager messages, and of copies in a rank's own memory.
std::span<const std::size_t> eager_sizes();
std::span<const std::size_t> copy_sizes();

// Doubles of a reduction that is measured: more than the first cache holds.
inline constexpr int reduced_numbers = 65536;

// Quartiles only. `name` is the file name for errors.
std::string to_json(const LocalMeasures& measures);
Result<LocalMeasures> measures_from_json(std::string_view text, const std::string& name);

// What [node] says of this host.
struct LocalNode {
  int cores = 0, sockets = 1;
  Duration call, request, collective, send, receive, latency, far_latency, write, wake, switching;
  // Copies in a rank's own memory; short messages, on each side and between; large ones.
  std::vector<std::pair<Bytes, Duration>> copies, sides, flights, writes;
  Rate reduce;
  Bytes cache{0};
  Rate uncached, memory, copy_alone;
  double held_off = 0;   // As measured.
  double disturbed = 0;  // How much longer than the lower quartile messages typically took.
};

// `crowded`: the same between ranks that share a core; null if all do. An error names what is
// missing.
Result<LocalNode> fit_local(const LocalMeasures& measures, const LocalMeasures* crowded, int cores);

// The tables [node] and [messages], as weft sim reads them.
std::string to_tables(const LocalNode& node);
// A network of this host alone; `graph_file` is beside it.
struct LocalText {
  std::string graph, description;
};
LocalText to_local_network(const LocalNode& node, const std::string& host,
                           const std::string& graph_file);
std::string to_local_json(const LocalNode& node, const LocalMeasures& measures,
                          const std::string& host);
std::string to_local_table(const LocalNode& node, const std::string& host);

}  // namespace weft::probe
