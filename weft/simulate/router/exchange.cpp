// SPDX-License-Identifier: Apache-2.0
#include "weft/simulate/router/exchange.hpp"

#include <algorithm>

#include <weft/simulate/router/flow.hpp>
#include <weft/simulate/router/news.hpp>
#include <weft/simulate/router/remote_processes.hpp>

namespace weft::detail {

namespace {

// For what matters at `at`, INT64_MAX if it can wait.
Mailbox& box_for(State& state, int worker, int receiver, std::int64_t at) {
  Worker& from = state.worker(worker);
  from.mailed_at = std::min(from.mailed_at, at);
  return from.mail[from.side][static_cast<std::size_t>(receiver)];
}

}  // namespace

void mail_packet(State& state, int worker, const Output& out, Vc vc, const Slot& packet) {
  ++state.inputs[out.target + vc].tail;
  if (state.remote != nullptr) {
    state.remote->mail_packet(out, vc, packet);
    return;
  }
  box_for(state, worker, out.owner, packet.head_at)
      .packets.push_back({out.real_target + vc, out.router, packet});
}

void mail_credit(State& state, int worker, const Input& in, std::int64_t stamp_at) {
  if (state.remote != nullptr) {
    state.remote->mail_credit(in, stamp_at);
    return;
  }
  const OutputIndex feeder = state.inputs[in.mirror()].feeder();
  const int owner = state.placement.worker_of(state.router_of_output[feeder]);
  box_for(state, worker, owner, stamp_at).credits.push_back({in.mirror(), stamp_at});
}

void send_news(State& state, int worker, RouterId to, const NewsItem& item) {
  if (!state.placement.has(to)) {
    state.remote->mail_news(to, item);
    return;
  }
  const RouterIndex r = state.placement.find(to);
  const int owner = state.placement.worker_of(r);
  if (owner == worker) {
    state.news->receive(worker, r, item);
  } else {
    box_for(state, worker, owner, item.at).news.push_back({r, item});
  }
}

void return_message(State& state, int worker, std::uint32_t id) {
  box_for(state, worker, MessagePools::owner(id), INT64_MAX).messages.push_back(id);
}

void begin_mail(State& state, int worker, int side) {
  state.worker(worker).side = side;
  state.worker(worker).mailed_at = INT64_MAX;
}

void read_mail(State& state, int worker, int side) {
  for (Worker& from : state.workers) {
    Mailbox& box = from.mail[side][static_cast<std::size_t>(worker)];
    for (const PacketMail& mail : box.packets)
      arrive(state, worker, mail.input, mail.router, mail.packet);
    for (const CreditMail& mail : box.credits)
      take_credit(state, worker, mail.mirror, mail.stamp_at);
    for (const NewsMail& mail : box.news) state.news->receive(worker, mail.router, mail.item);
    for (const std::uint32_t id : box.messages) state.messages.free(id);
    box.packets.clear();
    box.credits.clear();
    box.news.clear();
    box.messages.clear();
  }
}

}  // namespace weft::detail
