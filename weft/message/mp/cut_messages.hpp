// SPDX-License-Identifier: Apache-2.0
// Messages that were cut once (split = equal or proportional): remembers the parts that rails have,
// so that those of a rail that breaks go again, over the rails that are left.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <weft/message/mp/header.hpp>
#include <weft/message/mp/rail_choice.hpp>
#include <weft/message/mp/request.hpp>
#include <weft/message/port/fabric.hpp>

namespace weft::mp {

class CutMessages {
 public:
  CutMessages(const Fabric& fabric, const RailChoice& rails)
      : transport_(fabric.transport), rails_(fabric.rails), choice_(rails) {}
  CutMessages(const CutMessages&) = delete;
  CutMessages& operator=(const CutMessages&) = delete;

  struct Message {
    std::uint64_t id = 0;  // Of the request; what delivered() gives back.
    RankId peer;
    const std::byte* data = nullptr;
    std::uint64_t key = 0;  // Names the peer's memory.
    Header notice;          // Goes with every part; `key` says where the part begins.
    const Tuning* tuning = nullptr;
  };
  // Gives all parts to rails. Returns their number.
  std::uint16_t begin(const Message& message, std::size_t size);

  // Cookies of parts differ from those of requests, as Trunk's do; there is only one of both.
  // The id of the part's message; 0: the part is unknown.
  std::uint64_t delivered(std::uint64_t cookie);
  struct Returned {
    std::uint64_t id = 0;     // As delivered().
    std::uint16_t added = 0;  // It was cut again, and so many parts more are open.
  };
  Returned returned(std::uint64_t cookie);
  // A rail to the peer is up. Parts that found none go now; the caller adds what is added.
  std::vector<Returned> rail_up(RankId peer);
  void forget(RankId peer);  // It is lost, and all that was to go there.

 private:
  struct Part {
    Message message;
    std::size_t offset = 0, size = 0;
    bool open = false, waits = false;  // It is in use; it has no rail.
    std::uint32_t generation = 0;
  };
  std::uint16_t give(const Message& message, std::size_t offset, std::size_t size);
  void give(const Message& message, std::size_t offset, const RailPart& piece);
  Part* find(std::uint64_t cookie);
  void free(std::uint32_t index);
  bool any_up(RankId peer) const;

  Transport& transport_;
  const Rails& rails_;
  const RailChoice& choice_;
  std::vector<Part> parts_;
  std::vector<std::uint32_t> unused_;
};

}  // namespace weft::mp
