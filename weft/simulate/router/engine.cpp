// SPDX-License-Identifier: Apache-2.0
// Runs, mail between workers, and what there is to know about it all.
#include "weft/simulate/router/engine.hpp"

#include <algorithm>
#include <bit>

#include <weft/simulate/router/flow.hpp>

namespace weft::detail {

namespace {

constexpr int visit_packets = 6;  // A visit seldom sends more through one output.

std::uint64_t low_bits(std::uint32_t count) {
  return count < 64 ? (std::uint64_t{1} << count) - 1 : ~std::uint64_t{0};
}

}  // namespace

// A visit is short and touches many places, each found through the one before. Asked for in time,
// one level per call, they are there when it comes: without this, half the time of a large network
// goes into waiting for memory (bench/packet_hops).
inline void Engine::expect(int worker, std::uint32_t r, int visits_ahead) {
  if (visits_ahead == 3) {
    __builtin_prefetch(&routers_[r], 1);
  } else if (visits_ahead == 2) {
    expect_tables(routers_[r]);
  } else {
    expect_slots(worker, r);
  }
}

inline void Engine::visit(int worker, std::uint32_t r, Reach reach) {
  (this->*visit_)(worker, r, reach);
}

Result<bool> Engine::run(Time until) {
  const bool remains =
      abroad_ != nullptr ? windows_->run_among_processes(until) : windows_->run(until);
  const Crew* worst = &crews_[0];
  for (const Crew& crew : crews_) {
    if (std::pair(crew.failed_at, crew.failed_router) <
        std::pair(worst->failed_at, worst->failed_router)) {
      worst = &crew;
    }
  }
  const std::string failure = worst_failure(worst->failed_at, worst->failed_router, worst->failure);
  if (!failure.empty()) return Error::run(failure);
  return remains;
}

// The packet stays where it is. The earliest failure wins, whoever finds it: the same message for
// any number of workers.
void Engine::no_way(int worker, std::uint32_t r, const Slot& packet) {
  Crew& crew = crews_[static_cast<std::size_t>(worker)];
  const std::uint32_t id = ids_[r];
  if (std::pair(packet.head_at, id) >= std::pair(crew.failed_at, crew.failed_router)) return;
  crew.failed_at = packet.head_at;
  crew.failed_router = id;
  crew.failure = "no way from " + router_name(topology_, RouterId(id)) + " to " +
                 node_name(topology_, NodeId(packet.node)) +
                 " under this routing: a cable on the way is down";
}

// Lines that are not needed are in the way of those that are, so only what is in use is fetched.
void Engine::expect_tables(const Router& router) const {
  const std::uint32_t ends = std::uint32_t{router.ports} + router.nodes;
  const Input* const inputs = &inputs_[router.first_input];
  for (std::uint64_t heads = (router.heads | router.fresh) & low_bits(ends * vcs_); heads != 0;
       heads &= heads - 1) {
    __builtin_prefetch(&inputs[std::countr_zero(heads)], 1);
  }
  // Who has no route yet may go anywhere.
  const std::uint64_t busy = (router.active >> 1) | (router.fresh != 0 ? low_bits(ends) : 0);
  for (std::uint64_t left = busy & low_bits(router.outputs); left != 0; left &= left - 1) {
    const std::size_t o = router.first_output + static_cast<std::size_t>(std::countr_zero(left));
    __builtin_prefetch(&outputs_[o], 1);
    __builtin_prefetch(&accounts_[o * vcs_], 1);
  }
  for (std::uint32_t a = 0; a < router.actors; a += 8)
    __builtin_prefetch(&next_at_[router.first_next + a], 1);
  __builtin_prefetch(&crossbar_free_at_[std::size_t{router.first_port} * crossbar_ways_], 1);
  __builtin_prefetch(&cards_[router.first_card], 1);
}

void Engine::expect_slots(int worker, std::uint32_t r) {
  const Router& router = routers_[r];
  Wishes& wishes = crews_[static_cast<std::size_t>(worker)].wishes;
  wishes.fetch_all();
  const std::uint32_t ends = std::uint32_t{router.ports} + router.nodes;
  const std::uint32_t first_card = std::uint32_t{router.outputs} - router.nodes;
  const auto scarce = static_cast<std::int32_t>(visit_packets * machine_.packet_max().count);
  for (std::uint64_t busy = (router.active >> 1) & low_bits(router.outputs); busy != 0;
       busy &= busy - 1) {
    const auto o = static_cast<std::uint32_t>(std::countr_zero(busy));
    const Output& out = outputs_[router.first_output + o];
    if (o < router.ports) {
      wishes.add(&inputs_[out.target]);
    }
    // The oldest credits, where space becomes scarce; those of nodes are counted for every packet.
    const Account* const there = &accounts_[std::size_t{router.first_output + o} * vcs_];
    for (std::uint32_t v = 0; o < ends && v < vcs_; ++v) {
      if (o >= router.ports || there[v].room <= scarce)
        wishes.add(&slots_[there[v].ring + (there[v].reclaim & ring_mask_)]);
    }
    if (o < first_card) continue;
    const std::uint32_t message = cards_[router.first_card + o - first_card].first;
    if (message != no_message) wishes.add(&(*messages_)[message]);
  }
  const Input* const inputs = &inputs_[router.first_input];
  for (std::uint64_t heads = (router.heads | router.fresh) & low_bits(ends * vcs_); heads != 0;
       heads &= heads - 1) {
    const Input& in = inputs[std::countr_zero(heads)];
    const auto packets = static_cast<std::uint16_t>(in.tail - in.head);
    // Two slots to a line.
    if (packets > 0) wishes.add(&slot(in, in.head));
    if (packets > 1) wishes.add(&slot(in, in.head + 2u));
  }
}

void Engine::write_mail(int worker, int side) {
  Crew& crew = crews_[static_cast<std::size_t>(worker)];
  crew.side = side;
  crew.mailed_at = INT64_MAX;
}

void Engine::read_mail(int worker, int side) {
  for (Crew& crew : crews_) {
    Mailbox& box = crew.mail[side][static_cast<std::size_t>(worker)];
    for (const PacketMail& mail : box.packets) arrive(worker, mail.input, mail.router, mail.slot);
    for (const CreditMail& mail : box.credits) take_credit(worker, mail.ghost, mail.stamp_at);
    for (const NewsMail& mail : box.news) receive_news(worker, mail.router, mail.item);
    for (const std::uint32_t id : box.messages) messages_->free(id);
    box.packets.clear();
    box.credits.clear();
    box.news.clear();
    box.messages.clear();
  }
}

void Engine::take_credit(int worker, std::uint32_t ghost, std::int64_t stamp_at) {
  Input& in = inputs_[ghost];
  Slot& gone = slot(in, in.head++);
  gone.head_at = stamp_at;
  gone.route = in.departed += gone.size();
  credit(worker, in, stamp_at);
}

// Its copy stands in the ghost.
void Engine::mail_packet(int worker, const Output& out, std::uint32_t vc, const Slot& packet) {
  ++inputs_[out.target + vc].tail;
  if (abroad_ != nullptr) {
    mail_packet_abroad(out, vc, packet);
    return;
  }
  Crew& crew = crews_[static_cast<std::size_t>(worker)];
  crew.mail[crew.side][out.worker].packets.push_back({out.mail + vc, out.router, packet});
  crew.mailed_at = std::min(crew.mailed_at, packet.head_at);
}

void Engine::mail_credit(int worker, const Input& in, std::int64_t stamp_at) {
  if (abroad_ != nullptr) {
    mail_credit_abroad(in, stamp_at);
    return;
  }
  Crew& crew = crews_[static_cast<std::size_t>(worker)];
  const int owner = worker_of(router_of_output_[inputs_[in.feeder].feeder]);
  crew.mail[crew.side][static_cast<std::size_t>(owner)].credits.push_back({in.feeder, stamp_at});
  crew.mailed_at = std::min(crew.mailed_at, stamp_at);
}

int Engine::worker_of(std::uint32_t r) const {
  const std::vector<std::uint32_t>& first = partition_.first;
  return static_cast<int>(std::upper_bound(first.begin(), first.end(), r) - first.begin()) - 1;
}

NetworkCounts Engine::counts() const {
  NetworkCounts sum;
  for (const Crew& crew : crews_) {
    sum.packets_sent += crew.counts.packets_sent;
    sum.packets_delivered += crew.counts.packets_delivered;
    sum.visits += crew.counts.visits;
  }
  for (std::uint32_t o = 0; o < output_count_; ++o) {
    if (outputs_[o].kind == to_router) sum.hops += outputs_[o].packets;
  }
  return sum;
}

Time Engine::last_moment(Time time) const {
  const std::int64_t window = window_.in_ps();
  return Time::ps((time.in_ps() / window + stretch_most) * window) + ahead_;
}

LinkCount Engine::link(LinkId link) const {
  const RouterId source = graph_.source_of(link);
  if (!is_here(source)) return {};
  const std::uint32_t r = index_[source.index];
  const std::uint32_t port = link.index - graph_.link(source, 0).index;
  const auto behind = buffered_ ? static_cast<std::uint32_t>(cable_count(r)) : 0u;
  const Output& out = outputs_[routers_[r].first_output + behind + port];
  return {
      .packets = out.packets, .bytes = out.bytes, .news = news_flits(r, static_cast<int>(port))};
}

BufferLevel Engine::buffer(RouterId router, int port, int vc, Time at) const {
  const auto local = static_cast<std::uint32_t>(port) * vcs_ + static_cast<std::uint32_t>(vc);
  BufferLevel level;
  if (!is_here(router)) return level;
  const Input& in = inputs_[routers_[index_[router.index]].first_input + local];
  for (std::uint16_t p = in.head; p != in.tail; ++p) {
    const Slot& packet = slot(in, p);
    if (packet.head_at >= at.in_ps()) break;  // Those behind it come later still.
    ++level.packets;
    level.bytes += Bytes{packet.size()};
  }
  return level;
}

MemoryUse Engine::memory() const {
  const std::size_t fixed =
      routers_.size() * sizeof(Router) + vc_free_at_.bytes() +
      router_of_output_.size() * sizeof(std::uint32_t) + next_at_.size() * sizeof(std::int64_t) +
      outputs_.bytes() + accounts_.bytes() + input_count_ * sizeof(Input) + way_list_.bytes() +
      way_count_.size() + (waiting_.size() + fresh_.size()) * 8 + crossbar_free_at_.size() * 8 +
      cards_.size() * sizeof(Card) +
      (news_ != nullptr
           ? news_->told.size() * sizeof(News::Told) + news_->cables.size() * sizeof(News::Port)
           : 0);
  return {.bytes_per_router = fixed / std::max<std::size_t>(1, routers_.size()),
          .bytes_per_packet = sizeof(Slot),
          .bytes_reserved = slots_.bytes()};
}

}  // namespace weft::detail
