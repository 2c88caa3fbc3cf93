// SPDX-License-Identifier: Apache-2.0
// One row of the matrix of speeds (matrix.py): a network, a routing, a machine and a load on one
// worker, as a JSON line. Times are processor time of the simulation alone.
//   matrix_row --list NETWORK...                       routings that fit, a JSON line for each
//   matrix_row NETWORK ROUTING PROFILE LOAD STEPS [KEY=VALUE...]
// Loads in closed loop: light, half, full (messages of 1, 8, 32 packets to random permutations),
// bruck; in open loop: open-light, open-half, open-full (messages of 8 packets to random nodes, at
// 0.1, 0.5 and 0.9 of what a card can send).
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "bench/closed_loop.hpp"
#include <fmt/format.h>
#include <sys/resource.h>

#include <weft/base/text.hpp>
#include <weft/simulate/machine/description.hpp>

namespace weft::bench {
namespace {

[[noreturn]] void fail(const std::string& text) {
  fmt::print(stderr, "matrix_row: {}\n", text);
  std::exit(2);
}

double processor_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

void list(const std::string& spec) {
  const Result<Topology> topology = make_topology(spec);
  if (!topology) fail(topology.error().text());
  for (const PolicyEntry& entry : builtin_policies()) {
    if (vcs_needed(entry.name, *topology) == 0) continue;
    fmt::print("{{\"network\": \"{}\", \"routing\": \"{}\", \"nodes\": {}}}\n", spec, entry.name,
               topology->graph.node_count());
  }
}

std::unique_ptr<Load> make_load(const std::string& name, std::uint32_t nodes, int steps,
                                const NetworkHardware& machine) {
  const Bytes packet = machine.mtu;
  const auto open = [&](double part) {
    const Bytes size = packet * 8;
    const double seconds = static_cast<double>(size.count) * 8 /
                           static_cast<double>(machine.injection_rate().in_bit_per_s());
    return std::make_unique<OpenLoop>(
        nodes, steps, size, Duration::ps(static_cast<std::int64_t>(seconds * 1e12 / part)));
  };
  if (name == "open-light") return open(0.1);
  if (name == "open-half") return open(0.5);
  if (name == "open-full") return open(0.9);
  const auto permutations = [&](int packets) {
    return std::make_unique<Permutations>(nodes, steps, packet * packets);
  };
  if (name == "light") return permutations(1);
  if (name == "half") return permutations(8);
  if (name == "full") return permutations(32);
  if (name == "bruck") return std::make_unique<Bruck>(nodes, steps, packet * 32);
  fail("no load '" + name +
       "'; there are: light, half, full, bruck, open-light, open-half, open-full");
}

void run(const std::vector<std::string>& words) {
  MachineWords said{.net = words[0], .profile = words[2], .routing = words[1]};
  said.sets.assign(words.begin() + 5, words.end());
  const Result<MachineReader> reader = MachineReader::open(said);
  if (!reader) fail(reader.error().text());
  const Result<MachineDescription> machine = reader->read_all();
  if (!machine) fail(machine.error().text());
  const auto policy = reader->make_policy(*machine);
  if (!policy) fail(policy.error().text());
  const int steps = std::atoi(words[4].c_str());
  if (steps < 1) fail("'" + words[4] + "' is not a number of steps");
  const std::unique_ptr<Load> load =
      make_load(words[3], machine->topology->graph.node_count(), steps, machine->hardware);
  auto network = Network::make(*machine->topology, machine->hardware, **policy, *load, {});
  if (!network) fail(network.error().text());
  load->start(**network);
  const double begin = processor_seconds();
  const Result<bool> done = (*network)->run(Time::never());
  const double seconds = processor_seconds() - begin;
  if (!done) fail(done.error().text());
  const NetworkCounts counts = (*network)->counts();
  if (counts.packets_sent != counts.packets_delivered) fail("packets are stuck");
  fmt::print(
      "{{\"hops\": {}, \"packets\": {}, \"cpu_s\": {:.6f}, \"visits\": {}, "
      "\"bytes_per_router\": {}, \"checksum\": {:.0f}}}\n",
      counts.hops, counts.packets_sent, seconds, counts.visits,
      (*network)->memory().bytes_per_router, load->checksum());
}

}  // namespace
}  // namespace weft::bench

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() > 1 && words[0] == "--list") {
    for (std::size_t i = 1; i < words.size(); ++i) weft::bench::list(words[i]);
  } else if (words.size() >= 5) {
    weft::bench::run(words);
  } else {
    weft::bench::fail("NETWORK ROUTING PROFILE LOAD STEPS [KEY=VALUE...], or --list NETWORK...");
  }
  return 0;
}
