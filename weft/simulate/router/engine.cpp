// SPDX-License-Identifier: Apache-2.0
#include "weft/simulate/router/engine.hpp"

#include <algorithm>
#include <utility>

#include <weft/simulate/router/deadlock.hpp>
#include <weft/simulate/router/exchange.hpp>
#include <weft/simulate/router/general_router.hpp>
#include <weft/simulate/router/layout.hpp>
#include <weft/simulate/router/passed.hpp>
#include <weft/simulate/router/prefetch.hpp>

namespace weft::detail {

Engine::Engine(const Setup& setup, const NetworkOptions& options, const Parts& parts)
    : owned_state_(
          lay_out(setup, place_routers(setup.graph, parts, options.peers), options.whole_rings)),
      state_(*owned_state_),
      bulletin_(options.bulletin) {
  if (setup.policy.lines() != nullptr) {
    news_ = std::make_unique<News>(state_);
    state_.news = news_.get();
  }
  if (!state_.placement.alone()) {
    // Without delay, news of a line may come from any process.
    const bool everyone = news_ != nullptr && setup.machine.news.mode == NewsMode::instant;
    remote_ = std::make_unique<RemoteProcesses>(state_, *options.peers, everyone);
    state_.remote = remote_.get();
  }
  if (options.measure_waits) {
    state_.measures_waits = true;
    state_.waits = LazyArray<Waits, OutputIndex>(state_.output_count);
  }
  state_.special_visits = options.special_visits;
  find_windows(options.window);
  state_.agenda = Agenda(state_.placement.partition, window_);
  windows_.emplace(*this, state_.agenda, ahead_);
  choose_router();
  if (news_ != nullptr) news_->start();
}

// Credits come back sooner than packets arrive, but matter only where space is scarce.
void Engine::find_windows(Duration asked) {
  auto [packets, credits] = find_lookahead(state_);
  // News is as urgent as credits.
  if (news_ != nullptr) credits = std::min(credits, news_->least_delay_ps());
  if (remote_ != nullptr) {
    packets = remote_->peers().all_reduce_min(packets);
    credits = remote_->peers().all_reduce_min(credits);
  }
  // A single router: nothing leaves it, any window will do.
  if (packets == never_at) packets = credits = Duration::us(1).in_ps();
  const std::int64_t exact = std::min(packets, credits);
  window_ = asked > Duration::zero() ? std::min(asked, Duration::ps(exact)) : Duration::ps(exact);
  ahead_ = asked > Duration::zero() ? window_ : Duration::ps(packets);
  state_.reach_ps = ahead_.in_ps();
}

void Engine::choose_router() {
  bool plain = fits_plain(state_);
  // Packets look different then, so it holds for all processes or for none.
  if (remote_ != nullptr) plain = remote_->peers().all_reduce_min(plain ? 1 : 0) != 0;
  visit_ = plain ? use_plain(state_) : use_general(state_);
  joined_ = find_joined_routers(state_, visit_);
  if (joined_ == nullptr) return;
  state_.joined = joined_.get();
  visit_ = visit_joined;
}

inline void Engine::expect(std::uint32_t router, int visits_ahead) {
  const RouterIndex r(router);
  if (visits_ahead == 3) {
    __builtin_prefetch(&state_.routers[r], 1);
  } else if (visits_ahead == 2) {
    prefetch_tables(state_, r);
  } else {
    prefetch_slots(state_, r);
  }
}

inline void Engine::visit(int worker, std::uint32_t router, Reach reach) {
  visit_(state_, worker, RouterIndex(router), reach);
}

void Engine::write_mail(int worker, int side) {
  begin_mail(state_, worker, side);
}

void Engine::read_mail(int worker, int side) {
  detail::read_mail(state_, worker, side);
}

Result<bool> Engine::run(Time until) {
  const bool remains =
      remote_ != nullptr ? windows_->run_among_processes(until) : windows_->run(until);
  const auto first = std::min_element(
      state_.workers.begin(), state_.workers.end(), [](const Worker& a, const Worker& b) {
        return std::pair(a.failed_at, a.failed_router) < std::pair(b.failed_at, b.failed_router);
      });
  const std::string failure =
      remote_ != nullptr
          ? remote_->first_failure(first->failed_at, first->failed_router, first->failure)
          : first->failure;
  if (!failure.empty()) return Error::run(failure);
  return remains;
}

std::string Engine::find_deadlock() const {
  return detail::find_deadlock(state_, remote_ != nullptr ? &remote_->peers() : nullptr);
}

NetworkCounts Engine::counts() const {
  NetworkCounts sum;
  for (const Worker& worker : state_.workers) {
    sum.packets_sent += worker.counts.packets_sent;
    sum.packets_delivered += worker.counts.packets_delivered;
    sum.visits += worker.counts.visits;
  }
  for (const Output& out : state_.outputs) {
    if (out.kind == to_router) sum.hops += out.packets;
  }
  return sum;
}

Time Engine::last_moment(Time time) const {
  const std::int64_t window = window_.in_ps();
  return Time::ps((time.in_ps() / window + RemoteProcesses::stretch_max) * window) + ahead_;
}

LinkCount Engine::link(LinkId link, Time at) const {
  const Graph& graph = state_.setup.graph;
  const RouterId source = graph.source_of(link);
  if (!state_.placement.has(source)) return {};
  const RouterIndex r = state_.placement.find(source);
  const std::uint32_t port = link.index - graph.link(source, 0).index;
  LinkCount count = count_passed(state_, r, port, at);
  if (news_ != nullptr) count.news = news_->flits_on(r, static_cast<int>(port));
  return count;
}

NodeLinkCount Engine::node_link(NodeId node, Time at) const {
  const Graph& graph = state_.setup.graph;
  if (!state_.is_here(node.index)) return {};
  const RouterIndex r = state_.placement.find(graph.router_of(node));
  const auto n = static_cast<std::uint32_t>(graph.local_index(node));
  return {.injected = count_injected(state_, r, n, at),
          .ejected = count_passed(state_, r, state_.routers[r].ports + n, at)};
}

BufferLevel Engine::buffer(RouterId router, int port, int vc, Time at) const {
  BufferLevel level;
  if (!state_.placement.has(router)) return level;
  const LocalInput local(static_cast<std::uint32_t>(port) * state_.setup.vcs +
                         static_cast<std::uint32_t>(vc));
  const Router& record = state_.routers[state_.placement.find(router)];
  const Input& in = state_.inputs[record.first_input + local];
  for (std::uint16_t p = in.head; p != in.tail; ++p) {
    const Slot& packet = state_.slot(in, p);
    if (packet.head_at >= at.in_ps()) break;  // Those behind it come later still.
    ++level.packets;
    level.bytes += Bytes{packet.size()};
  }
  return level;
}

LineNews Engine::line(RouterId router, int port, int line) const {
  if (news_ == nullptr || !state_.placement.has(router)) return {};
  return news_->line(state_.placement.find(router), port, line);
}

MemoryUse Engine::memory() const {
  const State& s = state_;
  const std::size_t fixed =
      s.routers.bytes() + s.vc_free_at.bytes() + s.router_of_output.bytes() + s.next_at.bytes() +
      s.actor_groups.bytes() + s.outputs.bytes() + s.waits.bytes() + s.accounts.bytes() +
      s.input_count * sizeof(Input) + s.options.bytes() + s.option_count.bytes() + s.seek.bytes() +
      s.queues.bytes() + s.rows.bytes() + s.route_due.bytes() + s.head_due.bytes() +
      (s.waiting_words.size() + s.unrouted_words.size()) * sizeof(std::uint64_t) +
      s.crossbar_free_at.bytes() + s.cards.bytes() + (news_ != nullptr ? news_->bytes() : 0);
  return {.bytes_per_router = fixed / std::max<std::size_t>(1, s.routers.size()),
          .bytes_per_packet = sizeof(Slot),
          .bytes_reserved = s.slots.bytes()};
}

}  // namespace weft::detail
