// SPDX-License-Identifier: Apache-2.0
// Peers that connect but have not proved themselves yet, for kinds of rails that listen. What such
// callers may take from the process is limited: their identity is unknown.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <weft/real/wire/dial.hpp>
#include <weft/real/wire/rail_kinds.hpp>

namespace weft::wire {

class Callers {
 public:
  // Tokens with this bit are those of callers: RailKind::stir hands them on to hear().
  static constexpr std::uint32_t token_bit = 0x8000'0000;

  Callers(const RailKind& kind, KindHost& host, const JobSecret& secret)
      : kind_(kind), host_(host), secret_(secret) {}

  // Takes all that wait at a listener, and leaves this many descriptors unused.
  void accept(const Descriptor& listener, std::uint32_t keep_free = 0);
  // A caller that has proved its claim, and awaits the verdict; null: not yet, or never.
  std::unique_ptr<Caller> hear(std::uint32_t token);
  // Ends those that take too long.
  void tend(Time now);
  bool empty() const { return callers_.empty(); }

 private:
  bool take(Descriptor socket);

  const RailKind& kind_;
  KindHost& host_;
  JobSecret secret_;
  Descriptor spare_;  // To turn callers away when there is no other.
  std::vector<std::unique_ptr<Caller>> callers_;
};

}  // namespace weft::wire
