// SPDX-License-Identifier: Apache-2.0
// One network in several processes. Each has the routers of its part, and mirrors of the buffers
// beyond it. Packets, credits and news go to the neighbours after every window, in one batch each.
// What a message is goes straight to the process that will receive it, as a notice that is sent
// before its packets and read when it is needed.
//
// Always holds: what a process must know to simulate a window was sent to it before that window
// began, by a neighbour or by the process that made the message.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <weft/base/pack.hpp>
#include <weft/parallel/processes/process_group.hpp>
#include <weft/simulate/router/state.hpp>

namespace weft::detail {

class RemoteProcesses {
 public:
  static constexpr int stretch_max = 64;  // Windows before all processes agree again.

  // `everyone`: any process may have news for us, so all are neighbours.
  RemoteProcesses(State& state, ProcessGroup& peers, bool everyone);

  ProcessGroup& peers() { return peers_; }

  // To the neighbours, with the next exchange().
  void mail_packet(const Output& out, Vc vc, const Slot& packet);
  void mail_credit(const Input& in, std::int64_t stamp_at);
  void mail_news(RouterId to, const NewsItem& item);
  // After each window: mail to and from the neighbours.
  void exchange();

  // A message of ours for another process: it exists; all of its packets have been made. The host
  // may add data to the second notice.
  void announce(std::uint32_t message);
  Packer& announce_departure(std::uint32_t message);
  // A message from another process is complete: waits for the notice of its departure; then its
  // record is done with, here and there.
  void await_departure(const Message& message);
  void end_incoming(std::uint32_t message);

  // A call that all processes make: where to go on, and for how many windows without agreeing
  // again. `bulletin` (may be null): all get the least of everyone's.
  Stretch agree(std::int64_t next_window, int busy_windows, std::atomic<std::int64_t>* bulletin);
  // The earliest failure of all processes, with the same text in each; empty if there is none.
  std::string first_failure(std::int64_t at_ps, RouterId router, const std::string& text);

 private:
  struct PacketMail {
    RouterId router;
    LocalInput input;
    std::uint32_t origin, id;  // The message: the process that made it, and its id there.
    std::uint32_t from;
    std::int64_t born_at;
    Slot slot;
  };
  struct CreditMail {
    RouterId router;
    std::uint32_t port;
    Vc vc;
    std::int64_t stamp_at;
  };
  struct NewsMail {
    RouterId router;
    NewsItem item;
  };
  enum class Notice : std::uint8_t {
    announced,  // A message is on its way to you.
    departed,   // All of it has left its card: when that began, and its data.
    done,       // Your message has arrived; its id is free again.
  };
  struct Announcement {
    std::uint32_t id, from, to;
    std::int64_t born_at, size;
  };
  struct Peer {
    std::vector<PacketMail> packets;
    std::vector<CreditMail> credits;
    std::vector<NewsMail> news;
    Packer notices;
    std::int64_t sent = 0, taken = 0;     // Batches of notices.
    std::vector<std::uint32_t> incoming;  // By its id for a message: ours, or no_message.
  };
  Peer& peer(int process) { return all_[static_cast<std::size_t>(process)]; }
  Packer& notices_to_receiver(const Message& message);
  std::uint32_t make_record(std::uint32_t origin, std::uint32_t origin_id);
  std::uint32_t message_of(const PacketMail& packet);
  void send_notices();
  void read_notices(int from);
  void read_announcement(int from, Unpacker& notices);
  void read_batch(const PeerBytes& bytes);

  State& state_;
  ProcessGroup& peers_;
  std::vector<Peer> all_;  // By process.
  std::vector<int> neighbours_;
  int stretch_ = 1;
};

}  // namespace weft::detail
