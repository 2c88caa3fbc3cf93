// SPDX-License-Identifier: Apache-2.0
// What one of several processes keeps about the routers of the others. Packets and credits go to
// the neighbours after every window, in one batch each. What a message is goes straight to the
// process that will receive it, ahead of its packets: letters, read when they are needed.
#pragma once

#include <cstdint>
#include <vector>

#include <weft/base/pack.hpp>
#include <weft/parallel/processes/process_group.hpp>
#include <weft/simulate/router/news.hpp>
#include <weft/simulate/router/state.hpp>

namespace weft::detail {

// Where credits for an input go: the output that fills it.
struct ForeignFeeder {
  std::uint32_t process, router, port;
  std::uint32_t wire;
};

struct ForeignPacket {
  std::uint32_t router, input;  // The router's number in the network; the input within it.
  std::uint32_t origin, id;     // The message: who made it, and its name there.
  std::uint32_t from;
  std::int64_t born_at;
  Slot slot;
};

struct ForeignCredit {
  std::uint32_t router, channel;  // Output port and VC within the router.
  std::int64_t stamp_at;
};

struct ForeignNews {
  std::uint32_t router;
  NewsItem item;
};

enum class Letter : std::uint8_t {
  announced,  // A message is on its way to you.
  departed,   // All of it has left its card: when that began, and its data.
  done,       // Your message has arrived; its name is free again.
};

struct Announcement {
  std::uint32_t id, from, to;
  std::int64_t born_at, size;
};

struct Abroad {
  explicit Abroad(ProcessGroup& all)
      : peers(all),
        boxes(static_cast<std::size_t>(all.count())),
        sent(boxes.size()),
        taken(boxes.size()),
        incoming(boxes.size()) {}

  struct Box {  // For one process.
    std::vector<ForeignPacket> packets;
    std::vector<ForeignCredit> credits;
    std::vector<ForeignNews> news;
    Packer letters;
  };

  ProcessGroup& peers;
  std::vector<std::uint32_t> owner;  // By router of the network.
  std::vector<ForeignFeeder> feeders;
  std::vector<int> neighbours;
  std::vector<Box> boxes;
  std::vector<std::int64_t> sent, taken;             // Batches of letters, by process.
  std::vector<std::vector<std::uint32_t>> incoming;  // By origin and its name for a message: ours.
  int stretch = 1;
};

}  // namespace weft::detail
