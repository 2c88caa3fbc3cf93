// SPDX-License-Identifier: Apache-2.0
#include "weft/simulate/router/remote_processes.hpp"

#include <algorithm>

#include <weft/simulate/router/flow.hpp>
#include <weft/simulate/router/news.hpp>

namespace weft::detail {

RemoteProcesses::RemoteProcesses(State& state, ProcessGroup& peers, bool everyone)
    : state_(state), peers_(peers), all_(static_cast<std::size_t>(peers.count())) {
  if (everyone) {
    for (int process = 0; process < peers.count(); ++process) {
      if (process != peers.self()) neighbours_.push_back(process);
    }
    return;
  }
  for (const Output& out : state.outputs) {
    const int process = out.owner;
    if (out.remote &&
        std::find(neighbours_.begin(), neighbours_.end(), process) == neighbours_.end())
      neighbours_.push_back(process);
  }
}

void RemoteProcesses::mail_packet(const Output& out, Vc vc, const Slot& packet) {
  const Message& message = state_.messages[packet.message];
  const bool own = MessagePools::owner(packet.message) == 0;
  peer(out.owner).packets.push_back(
      {.router = out.remote_router(),
       .input = out.remote_target() + vc,
       .origin = own ? static_cast<std::uint32_t>(peers_.self()) : message.origin,
       .id = own ? packet.message : message.origin_id,
       .from = message.from,
       .born_at = message.born_at,
       .slot = packet});
  if (!own && !state_.is_here(message.to)) state_.messages.free(packet.message);
}

void RemoteProcesses::mail_credit(const Input& in, std::int64_t stamp_at) {
  const RemoteFeeder& feeder = state_.remote_feeders[in.remote_feeder()];
  const auto index = static_cast<std::uint32_t>(&in - state_.inputs.begin());
  peer(static_cast<int>(feeder.process))
      .credits.push_back({feeder.router, feeder.port, Vc(index % state_.setup.vcs), stamp_at});
}

void RemoteProcesses::mail_news(RouterId to, const NewsItem& item) {
  const std::uint32_t process = state_.placement.process_of[to.index];
  peer(static_cast<int>(process)).news.push_back({to, item});
}

void RemoteProcesses::exchange() {
  send_notices();
  for (const int process : neighbours_) {
    Peer& to = peer(process);
    Packer batch;
    batch.put_list(to.packets);
    batch.put_list(to.credits);
    batch.put_list(to.news);
    peers_.send(process, PeerStream::windows, batch.take());
    to.packets.clear();
    to.credits.clear();
    to.news.clear();
  }
  for (const int process : neighbours_) read_batch(peers_.receive(process, PeerStream::windows));
}

void RemoteProcesses::read_batch(const PeerBytes& bytes) {
  const Placement& placement = state_.placement;
  Unpacker batch(bytes);
  for (PacketMail& mail : batch.take_list<PacketMail>()) {
    const RouterIndex r = placement.find(mail.router);
    mail.slot.message = message_of(mail);
    arrive(state_, 0, state_.routers[r].first_input + mail.input, r, mail.slot);
  }
  for (const CreditMail& mail : batch.take_list<CreditMail>()) {
    const Router& router = state_.routers[placement.find(mail.router)];
    const std::uint32_t behind = state_.setup.buffered ? router.ends() : 0;
    const OutputIndex output = router.first_output + LocalOutput(behind + mail.port);
    take_credit(state_, 0, state_.outputs[output].target + mail.vc, mail.stamp_at);
  }
  for (const NewsMail& mail : batch.take_list<NewsMail>())
    state_.news->receive(0, placement.find(mail.router), mail.item);
}

// A packet's message is one of ours, one on its way to us, or only passes through: then the packet
// has a record to itself.
std::uint32_t RemoteProcesses::message_of(const PacketMail& packet) {
  if (state_.is_here(packet.slot.node)) {
    if (packet.origin == static_cast<std::uint32_t>(peers_.self())) return packet.id;
    // The notice was sent before any of the packets.
    const int origin = static_cast<int>(packet.origin);
    const std::vector<std::uint32_t>& known = peer(origin).incoming;
    while (packet.id >= known.size() || known[packet.id] == no_message) read_notices(origin);
    return known[packet.id];
  }
  const std::uint32_t id = make_record(packet.origin, packet.id);
  Message& message = state_.messages[id];
  message.born_at = packet.born_at;
  message.from = packet.from;
  message.to = packet.slot.node;
  return id;
}

std::uint32_t RemoteProcesses::make_record(std::uint32_t origin, std::uint32_t origin_id) {
  const std::uint32_t id = state_.messages.make(1);
  WEFT_CHECK(id != no_message);
  Message& message = state_.messages[id];
  message = {};
  message.origin = origin;
  message.origin_id = origin_id;
  return id;
}

Packer& RemoteProcesses::notices_to_receiver(const Message& message) {
  const RouterId router = state_.setup.graph.router_of(NodeId(message.to));
  return peer(static_cast<int>(state_.placement.process_of[router.index])).notices;
}

void RemoteProcesses::announce(std::uint32_t id) {
  const Message& message = state_.messages[id];
  Packer& notices = notices_to_receiver(message);
  notices.put(Notice::announced);
  notices.put(Announcement{id, message.from, message.to, message.born_at, message.size});
  state_.setup.host.pack(message.cookie, notices);
}

Packer& RemoteProcesses::announce_departure(std::uint32_t id) {
  const Message& message = state_.messages[id];
  Packer& notices = notices_to_receiver(message);
  notices.put(Notice::departed);
  notices.put(id);
  notices.put(message.entered_at);
  return notices;
}

// The last packet is here, so the notice has been sent at least. It sets `next`.
void RemoteProcesses::await_departure(const Message& message) {
  while (message.next == no_message) read_notices(static_cast<int>(message.origin));
}

void RemoteProcesses::end_incoming(std::uint32_t id) {
  const Message& message = state_.messages[id];
  Peer& origin = peer(static_cast<int>(message.origin));
  origin.incoming[message.origin_id] = no_message;
  origin.notices.put(Notice::done);
  origin.notices.put(message.origin_id);
  state_.messages.free(id);
}

void RemoteProcesses::send_notices() {
  for (int process = 0; process < peers_.count(); ++process) {
    Peer& to = peer(process);
    if (to.notices.empty()) continue;
    peers_.send(process, PeerStream::messages, to.notices.take());
    ++to.sent;
  }
}

void RemoteProcesses::read_notices(int from) {
  const PeerBytes bytes = peers_.receive(from, PeerStream::messages);
  ++peer(from).taken;
  const std::vector<std::uint32_t>& known = peer(from).incoming;
  Unpacker notices(bytes);
  while (!notices.empty()) {
    switch (notices.take<Notice>()) {
      case Notice::announced:
        read_announcement(from, notices);
        break;
      case Notice::departed: {
        const std::uint32_t id = known[notices.take<std::uint32_t>()];
        Message& message = state_.messages[id];
        message.entered_at = notices.take<std::int64_t>();
        message.next = id;  // Not used otherwise here: it has departed.
        state_.setup.host.unpack_data(message.cookie, notices);
        break;
      }
      case Notice::done:
        state_.messages.free(notices.take<std::uint32_t>());
        break;
    }
  }
}

void RemoteProcesses::read_announcement(int from, Unpacker& notices) {
  const auto a = notices.take<Announcement>();
  const std::uint32_t id = make_record(static_cast<std::uint32_t>(from), a.id);
  Message& message = state_.messages[id];
  message.born_at = a.born_at;
  message.size = message.missing = a.size;
  message.from = a.from;
  message.to = a.to;
  message.next = no_message;  // Has not departed yet.
  message.cookie = state_.setup.host.unpack(NodeId(a.to), notices);
  std::vector<std::uint32_t>& known = peer(from).incoming;
  if (a.id >= known.size())
    known.resize(std::max<std::size_t>(a.id + 1, 2 * known.size()), no_message);
  known[a.id] = id;
}

// Twice as far when no process was idle, half as far when most windows were empty.
Stretch RemoteProcesses::agree(std::int64_t next_window, int busy_windows,
                               std::atomic<std::int64_t>* bulletin) {
  send_notices();
  Packer mine;
  mine.put(next_window);
  mine.put(bulletin != nullptr ? bulletin->load() : never_at);
  mine.put(busy_windows);
  std::vector<std::int64_t> sent;
  for (const Peer& to : all_) sent.push_back(to.sent);
  mine.put_list(sent);
  const std::vector<PeerBytes> shared = peers_.all_gather(mine.take());
  std::int64_t first = Calendar::no_window, least = never_at;
  int busiest = 0;
  for (int process = 0; process < peers_.count(); ++process) {
    Unpacker theirs(shared[static_cast<std::size_t>(process)]);
    first = std::min(first, theirs.take<std::int64_t>());
    least = std::min(least, theirs.take<std::int64_t>());
    busiest = std::max(busiest, theirs.take<int>());
    const auto sent_to = theirs.take_list<std::int64_t>();
    while (peer(process).taken < sent_to[static_cast<std::size_t>(peers_.self())])
      read_notices(process);
  }
  if (bulletin != nullptr) bulletin->store(least);
  if (busiest >= stretch_) stretch_ = std::min(2 * stretch_, stretch_max);
  if (2 * busiest < stretch_) stretch_ = std::max(1, stretch_ / 2);
  return {first, stretch_};
}

std::string RemoteProcesses::first_failure(std::int64_t at_ps, RouterId router,
                                           const std::string& text) {
  if (peers_.all_reduce_min(at_ps) == never_at) return {};
  Packer mine;
  mine.put(at_ps);
  mine.put(router);
  mine.put_text(text);
  std::pair<std::int64_t, RouterId> first{never_at, no_router};
  std::string worst;
  for (const PeerBytes& bytes : peers_.all_gather(mine.take())) {
    Unpacker theirs(bytes);
    const auto when = theirs.take<std::int64_t>();
    const std::pair place{when, theirs.take<RouterId>()};
    if (place < first) {
      first = place;
      worst = theirs.take_text();
    }
  }
  return worst;
}

}  // namespace weft::detail
