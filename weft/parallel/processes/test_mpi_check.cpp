// SPDX-License-Identifier: Apache-2.0
// Run by mpirun: processes_mpi_check LIBRARY_FOLDER check|abort|ping [PROCESSES]
#include <chrono>
#include <csignal>
#include <cstdio>
#include <string>

#include <weft/parallel/processes/join.hpp>
#include <weft/parallel/processes/test_exchanges.hpp>

namespace {

using weft::PeerStream;
using weft::ProcessGroup;

void on_signal(int) {}

bool signals_are_ours() {
  for (const int number : {SIGINT, SIGTERM, SIGSEGV, SIGABRT}) {
    struct sigaction now {};
    ::sigaction(number, nullptr, &now);
    if (now.sa_handler != &on_signal) return false;
  }
  return true;
}

int check(ProcessGroup& peers, const std::string& processes) {
  std::vector<std::string> broken = weft::Exchanges(peers, std::size_t{8} << 20).run();
  if (std::to_string(peers.count()) != processes) broken.emplace_back("number of processes");
  if (!signals_are_ours()) broken.emplace_back("handlers of signals");
  for (const std::string& promise : broken) std::printf("broken: %s\n", promise.c_str());
  // These are never received.
  for (int to = 0; to < peers.count(); ++to) {
    for (const std::size_t size : {0, 100, 3'000'000}) {
      peers.send(to, PeerStream::messages, weft::Exchanges::pattern(size, 1));
    }
  }
  return broken.empty() ? 0 : 1;
}

// Process 0 prints the mean time of a call.
template <typename Call>
void measure(ProcessGroup& peers, const std::string& what, int calls, const Call& call) {
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < calls; ++i) call();
  const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begin;
  if (peers.self() == 0) std::printf("%s: %.2f us\n", what.c_str(), took.count() / calls);
}

int ping(ProcessGroup& peers) {
  const int other = 1 - peers.self();
  for (const std::size_t size : {8, 1000, 4000, 16'000, 64'000, 1'000'000}) {
    if (peers.self() > 1 || peers.count() == 1) break;
    measure(peers, std::to_string(size) + " B there and back", size < 100'000 ? 20'000 : 500, [&] {
      if (peers.self() == 0) peers.send(other, PeerStream::windows, weft::PeerBytes(size));
      weft::PeerBytes data = peers.receive(other, PeerStream::windows);
      if (peers.self() == 1) peers.send(other, PeerStream::windows, std::move(data));
    });
  }
  peers.all_reduce_min(0);
  measure(peers, "all_reduce_min", 20'000, [&] { peers.all_reduce_min(1); });
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string folder = argc > 1 ? argv[1] : ".";
  const std::string what = argc > 2 ? argv[2] : "check";
  for (const int number : {SIGINT, SIGTERM, SIGSEGV, SIGABRT}) std::signal(number, &on_signal);
  auto peers = weft::join_job(weft::launched(), folder);
  if (!peers) {
    std::printf("broken: %s\n", peers.error().text().c_str());
    return 1;
  }
  if (what == "ping") return ping(**peers);
  if (what == "check") return check(**peers, argc > 3 ? argv[3] : "1");
  if ((*peers)->self() == (*peers)->count() - 1) (*peers)->abort(7, "the last one cannot go on");
  (*peers)->receive((*peers)->count() - 1, PeerStream::windows);
  return 0;
}
