// SPDX-License-Identifier: Apache-2.0
// Puts the components together: it makes the state, chooses the router, runs the windows, and
// answers what Network asks. The components are free functions and small classes over one State.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <weft/parallel/des/windows.hpp>
#include <weft/simulate/router/joined_routers.hpp>
#include <weft/simulate/router/network.hpp>
#include <weft/simulate/router/news.hpp>
#include <weft/simulate/router/plain_router.hpp>
#include <weft/simulate/router/remote_processes.hpp>
#include <weft/simulate/router/state.hpp>

namespace weft::detail {

class Engine {
 public:
  Engine(const Setup& setup, const NetworkOptions& options, const Parts& parts);

  State& state() { return state_; }
  const State& state() const { return state_; }

  // For Network, which describes them.
  Result<bool> run(Time until);
  std::string find_deadlock() const;
  NetworkCounts counts() const;
  LinkCount link(LinkId link, Time at) const;
  NodeLinkCount node_link(NodeId node, Time at) const;
  BufferLevel buffer(RouterId router, int port, int vc, Time at) const;
  LineNews line(RouterId router, int port, int line) const;
  MemoryUse memory() const;
  Duration window() const { return window_; }
  Time last_moment(Time time) const;

  // For Windows, which describes them.
  void visit(int worker, std::uint32_t router, Reach reach);
  void expect(std::uint32_t router, int visits_ahead);
  void write_mail(int worker, int side);
  void read_mail(int worker, int side);
  std::int64_t mailed_ps(int worker) const {
    return state_.workers[static_cast<std::size_t>(worker)].mailed_at;
  }
  Stretch agree(std::int64_t next, int busy) { return remote_->agree(next, busy, bulletin_); }
  void exchange() { remote_->exchange(); }

 private:
  void find_windows(Duration asked);
  void choose_router();

  const std::unique_ptr<State> owned_state_;
  State& state_;
  std::unique_ptr<News> news_;               // If the policy wants to know of lines.
  std::unique_ptr<RemoteProcesses> remote_;  // If other processes take part.
  std::unique_ptr<JoinedRouters> joined_;    // If nodes have cards at several routers.
  std::atomic<std::int64_t>* const bulletin_;
  Duration window_, ahead_;
  VisitFunction visit_ = nullptr;
  std::optional<Windows<Engine>> windows_;
};

}  // namespace weft::detail
