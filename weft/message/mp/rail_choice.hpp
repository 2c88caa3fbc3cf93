// SPDX-License-Identifier: Apache-2.0
// Chooses rails: for every frame, every eager message, and every part of a large message. No
// other file of the message layer does. A large message is cut once, by the nominal rates of the
// rails (split = equal or proportional), or part by part, by what each rail delivers now
// (measured); Trunk measures and sends such parts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <weft/base/units.hpp>
#include <weft/message/mp/options.hpp>
#include <weft/message/port/fabric.hpp>

namespace weft::mp {

struct RailPart {
  RailId rail;
  std::size_t offset = 0, size = 0;
};

class RailChoice {
 public:
  RailChoice(const Fabric& fabric, const Options& options)
      : rails_(fabric.rails), options_(options), self_(fabric.self) {}

  // For frames without data: the rail of least latency; the first of them if equal.
  RailId for_control(RankId peer) const;
  RailId for_eager(RankId peer) const {
    return rails_.rail_count(peer) < 2 ? RailId(0) : spread(peer);
  }
  // A large message that is cut once stays whole.
  bool takes_one(RankId peer, const Tuning* tuning) const;
  // For a large message that is cut once: its parts, none of them empty. `tuning` may be null.
  std::vector<RailPart> cut(RankId peer, std::size_t size, const Tuning* tuning) const;

 private:
  RailId spread(RankId peer) const;
  // Each part's size is its rail's rate, in Mbit/s.
  std::vector<RailPart> fastest(RankId peer, std::uint32_t among, std::size_t most) const;

  const Rails& rails_;
  const Options& options_;
  const RankId self_;
};

// How many of `rails` a message may use. `tuning` may be null.
int rails_for(int rails, const Tuning* tuning);

// What a rail that is up offers to a message whose parts are chosen one by one.
struct RailOffer {
  RailId rail;
  double bytes_per_s = 0;  // What it is believed to deliver, more than 0.
  Duration latency;
  double before = 0;       // Bytes that go before a new part,
  std::size_t queued = 0;  // and bytes that are in flight, of all messages.
  bool idle = false;       // Nothing is in flight.

  double wait_s() const { return before / bytes_per_s + latency.in_seconds(); }
};

// The next part of a message: the rail with the shortest queue, and the share of the `left` bytes
// that makes all rails finish together. None while even that rail has enough to do.
// Offsets are the caller's.
std::optional<RailPart> next_part(std::span<const RailOffer> offers, std::size_t left,
                                  std::size_t stripe_min);

// The rail with the most before it, and the fastest idle one, which could take over from it.
struct RailRelief {
  RailId from, to;
  double wait_s = 0;       // Until `from` is through.
  double bytes_per_s = 0;  // Rate of `to`.
};
std::optional<RailRelief> find_relief(std::span<const RailOffer> offers);

}  // namespace weft::mp
