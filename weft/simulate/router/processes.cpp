// SPDX-License-Identifier: Apache-2.0
// One network in several processes: each has the routers of its part and ghosts of the buffers
// beyond. Always holds: what a process must know to play a window was sent to it before that window
// began, by a neighbour or by the maker of a message.
#include <algorithm>

#include <weft/simulate/router/flow.hpp>

namespace weft::detail {

namespace {

std::size_t at(int process) {
  return static_cast<std::size_t>(process);
}

}  // namespace

// The other end of a cable lies in another process: a ghost stands for its buffer.
void Engine::connect_abroad(std::uint32_t output, const Port& port, int wire,
                            std::uint32_t credit_ps) {
  Output& out = outputs_[output];
  out.target = input_count_;
  out.router = port.peer.index;
  out.mail = port.peer_port * vcs_;
  out.worker = static_cast<std::uint16_t>(abroad_->owner[port.peer.index]);
  out.remote = true;
  out.wire = static_cast<std::uint8_t>(wire);
  out.delay = static_cast<std::uint32_t>(wires_[out.wire].delay);
  for (std::uint32_t v = 0; v < vcs_; ++v, ++input_count_) {
    inputs_[input_count_] = {};
    inputs_[input_count_].feeder = output;
    inputs_[input_count_].credit = credit_ps;
    inputs_[input_count_].port = port.peer_port;
  }
  const int process = out.worker;
  std::vector<int>& list = abroad_->neighbours;
  if (std::find(list.begin(), list.end(), process) == list.end()) list.push_back(process);
}

// And what that end sends to us: `port` is ours, of router r.
void Engine::connect_from_abroad(std::uint32_t r, std::uint32_t port, std::uint32_t wire,
                                 std::uint32_t credit_ps) {
  const Port& here = graph_.ports(RouterId(ids_[r]))[port];
  const auto feeder = static_cast<std::uint32_t>(abroad_->feeders.size());
  abroad_->feeders.push_back(
      {abroad_->owner[here.peer.index], here.peer.index, here.peer_port, wire});
  for (std::uint32_t v = 0; v < vcs_; ++v) {
    Input& in = inputs_[routers_[r].first_input + port * vcs_ + v];
    in.feeder = feeder;
    in.remote = true;
    in.credit = credit_ps;
  }
}

void Engine::mail_packet_abroad(const Output& out, std::uint32_t vc, const Slot& packet) {
  Message& message = (*messages_)[packet.message];
  const bool own = MessagePools::owner(packet.message) == 0;
  abroad_->boxes[out.worker].packets.push_back(
      {.router = out.router,
       .input = out.mail + vc,
       .origin = own ? static_cast<std::uint32_t>(abroad_->peers.self()) : message.origin,
       .id = own ? packet.message : message.origin_id,
       .from = message.from,
       .born_at = message.born_at,
       .slot = packet});
  if (!own && !is_here(message.to)) messages_->free(packet.message);
}

void Engine::mail_credit_abroad(const Input& in, std::int64_t stamp_at) {
  const ForeignFeeder& feeder = abroad_->feeders[in.feeder];
  const auto vc = static_cast<std::uint32_t>(&in - &inputs_[0]) % vcs_;
  abroad_->boxes[feeder.process].credits.push_back(
      {feeder.router, feeder.port * vcs_ + vc, stamp_at});
}

// A packet comes in. Its message is one of ours, one on its way to us, or only passes through: then
// the packet has a record to itself.
std::uint32_t Engine::message_of(const ForeignPacket& packet) {
  if (is_here(packet.slot.node)) {
    if (packet.origin == static_cast<std::uint32_t>(abroad_->peers.self())) return packet.id;
    return incoming(packet.origin, packet.id);
  }
  const std::uint32_t id = messages_->make(1);
  WEFT_CHECK(id != no_message);
  Message& message = (*messages_)[id];
  message = {};
  message.born_at = packet.born_at;
  message.from = packet.from;
  message.to = packet.slot.node;
  message.origin = packet.origin;
  message.origin_id = packet.id;
  return id;
}

// Our name for it. Its letter was sent before any of its packets was.
std::uint32_t Engine::incoming(std::uint32_t origin, std::uint32_t id) {
  std::vector<std::uint32_t>& known = abroad_->incoming[origin];
  while (id >= known.size() || known[id] == no_message) read_letters(static_cast<int>(origin));
  return known[id];
}

void Engine::exchange() {
  send_letters();
  for (const int peer : abroad_->neighbours) {
    Abroad::Box& box = abroad_->boxes[at(peer)];
    Packer batch;
    batch.put_list(box.packets);
    batch.put_list(box.credits);
    batch.put_list(box.news);
    abroad_->peers.send(peer, PeerStream::windows, batch.take());
    box.packets.clear();
    box.credits.clear();
    box.news.clear();
  }
  for (const int peer : abroad_->neighbours) {
    const PeerBytes bytes = abroad_->peers.receive(peer, PeerStream::windows);
    Unpacker batch(bytes);
    for (ForeignPacket& packet : batch.take_list<ForeignPacket>()) {
      const std::uint32_t r = index_[packet.router];
      packet.slot.message = message_of(packet);
      arrive(0, routers_[r].first_input + packet.input, r, packet.slot);
    }
    for (const ForeignCredit& mail : batch.take_list<ForeignCredit>()) {
      const std::uint32_t r = index_[mail.router];
      const auto behind = buffered_ ? static_cast<std::uint32_t>(cable_count(r)) : 0u;
      const std::uint32_t output = routers_[r].first_output + behind + mail.channel / vcs_;
      take_credit(0, outputs_[output].target + mail.channel % vcs_, mail.stamp_at);
    }
    for (const ForeignNews& mail : batch.take_list<ForeignNews>())
      receive_news(0, index_[mail.router], mail.item);
  }
}

void Engine::announce(std::uint32_t id) {
  const Message& message = (*messages_)[id];
  Packer& letters = abroad_->boxes[process_of(message.to)].letters;
  letters.put(Letter::announced);
  letters.put(Announcement{id, message.from, message.to, message.born_at, message.size});
  host_.pack(message.cookie, letters);
}

// All packets of a message for another process have been cut.
Packer& Engine::announce_departure(std::uint32_t id) {
  const Message& message = (*messages_)[id];
  Packer& letters = abroad_->boxes[process_of(message.to)].letters;
  letters.put(Letter::departed);
  letters.put(id);
  letters.put(message.entered_at);
  return letters;
}

// The last packet is here, so the letter is on its way at least.
void Engine::await_departure(Message& message) {
  while (message.next == no_message) read_letters(static_cast<int>(message.origin));
}

void Engine::end_incoming(std::uint32_t id) {
  const Message& message = (*messages_)[id];
  abroad_->incoming[message.origin][message.origin_id] = no_message;
  Packer& letters = abroad_->boxes[message.origin].letters;
  letters.put(Letter::done);
  letters.put(message.origin_id);
  messages_->free(id);
}

void Engine::send_letters() {
  for (int peer = 0; peer < abroad_->peers.count(); ++peer) {
    Packer& letters = abroad_->boxes[at(peer)].letters;
    if (letters.empty()) continue;
    abroad_->peers.send(peer, PeerStream::messages, letters.take());
    ++abroad_->sent[at(peer)];
  }
}

void Engine::read_letters(int from) {
  const PeerBytes bytes = abroad_->peers.receive(from, PeerStream::messages);
  ++abroad_->taken[at(from)];
  std::vector<std::uint32_t>& known = abroad_->incoming[at(from)];
  Unpacker letters(bytes);
  while (!letters.empty()) {
    switch (letters.take<Letter>()) {
      case Letter::announced:
        read_announcement(from, letters);
        break;
      case Letter::departed: {
        const std::uint32_t id = known[letters.take<std::uint32_t>()];
        Message& message = (*messages_)[id];
        message.entered_at = letters.take<std::int64_t>();
        message.next = id;  // Not needed for anything else: departed.
        host_.unpack_data(message.cookie, letters);
        break;
      }
      case Letter::done:
        messages_->free(letters.take<std::uint32_t>());
        break;
    }
  }
}

void Engine::read_announcement(int from, Unpacker& letters) {
  const auto a = letters.take<Announcement>();
  const std::uint32_t id = messages_->make(1);
  WEFT_CHECK(id != no_message);
  Message& message = (*messages_)[id];
  message = {};
  message.born_at = a.born_at;
  message.size = message.missing = a.size;
  message.from = a.from;
  message.to = a.to;
  message.next = no_message;  // Has not departed yet.
  message.origin = static_cast<std::uint32_t>(from);
  message.origin_id = a.id;
  message.cookie = host_.unpack(NodeId(a.to), letters);
  std::vector<std::uint32_t>& known = abroad_->incoming[at(from)];
  if (a.id >= known.size())
    known.resize(std::max<std::size_t>(a.id + 1, 2 * known.size()), no_message);
  known[a.id] = id;
}

// Where to go on, and how far without asking again: twice as far when nobody was idle, half as far
// when most windows were empty.
Stretch Engine::agree(std::int64_t next, int busy) {
  send_letters();
  Packer mine;
  const std::int64_t bulletin = bulletin_ != nullptr ? bulletin_->load() : never_at;
  mine.put(next);
  mine.put(bulletin);
  mine.put(busy);
  mine.put_list(abroad_->sent);
  const std::vector<PeerBytes> all = abroad_->peers.all_gather(mine.take());
  std::int64_t first = Calendar::no_window, least = never_at;
  int busiest = 0;
  for (int peer = 0; peer < abroad_->peers.count(); ++peer) {
    Unpacker theirs(all[at(peer)]);
    first = std::min(first, theirs.take<std::int64_t>());
    least = std::min(least, theirs.take<std::int64_t>());
    busiest = std::max(busiest, theirs.take<int>());
    const auto sent = theirs.take_list<std::int64_t>();
    while (abroad_->taken[at(peer)] < sent[at(abroad_->peers.self())]) read_letters(peer);
  }
  if (bulletin_ != nullptr) bulletin_->store(least);
  int& stretch = abroad_->stretch;
  if (busiest >= stretch) stretch = std::min(2 * stretch, stretch_most);
  if (2 * busiest < stretch) stretch = std::max(1, stretch / 2);
  return {first, stretch};
}

// The same error everywhere: the earliest.
std::string Engine::worst_failure(std::int64_t at_ps, std::uint32_t router,
                                  const std::string& text) {
  if (abroad_ == nullptr) return text;
  if (abroad_->peers.all_reduce_min(at_ps) == never_at) return {};
  Packer mine;
  mine.put(at_ps);
  mine.put(router);
  mine.put_text(text);
  std::pair<std::int64_t, std::uint32_t> first{never_at, UINT32_MAX};
  std::string worst;
  for (const PeerBytes& bytes : abroad_->peers.all_gather(mine.take())) {
    Unpacker theirs(bytes);
    const auto when = theirs.take<std::int64_t>();
    const std::pair place{when, theirs.take<std::uint32_t>()};
    if (place < first) {
      first = place;
      worst = theirs.take_text();
    }
  }
  return worst;
}

}  // namespace weft::detail
