// SPDX-License-Identifier: Apache-2.0
#include <weft/message/mp/frame_sender.hpp>

namespace weft::mp {

void FrameSender::post(const Request* request, Header& header, Payload payload,
                       std::uint64_t cookie) {
  header.credit = peers_.settle(request->peer);
  const Duration gap = request->tuning == nullptr ? Duration::zero() : request->tuning->gap;
  const RailId rail =
      header.verb == Verb::eager ? eager_rail(request->peer) : quickest_rail(request->peer);
  const bool more = header.verb == Verb::request && request->ahead > 0;
  fabric_.transport.post({request->peer, rail, gap, more}, encode(header), payload, cookie != 0,
                         cookie);
}

void FrameSender::answer(RankId peer, Header& header) {
  header.credit = peers_.settle(peer);
  fabric_.transport.post({peer, quickest_rail(peer), Duration::zero()}, encode(header), {}, false,
                         0);
}

void FrameSender::return_credit(RankId peer) {
  Header header;
  header.verb = Verb::credit;
  answer(peer, header);
}

// If all rails are down the network finds a way, or reports the peer as lost.
RailId FrameSender::quickest_rail(RankId peer) const {
  const auto count = static_cast<std::uint32_t>(fabric_.rails.rail_count(peer));
  RailId best(0);
  if (count < 2) return best;
  RailFacts facts = fabric_.rails.rail_facts(peer, best);
  for (std::uint32_t i = 1; i < count; ++i) {
    const RailFacts other = fabric_.rails.rail_facts(peer, RailId(i));
    if (!other.up || (facts.up && facts.latency <= other.latency)) continue;
    best = RailId(i);
    facts = other;
  }
  return best;
}

// Spreads peers over equal rails, so that a rank with many peers uses all of them.
RailId FrameSender::spread_rail(RankId peer) const {
  const auto count = static_cast<std::uint32_t>(fabric_.rails.rail_count(peer));
  const RailId best = quickest_rail(peer);
  const Duration least = fabric_.rails.rail_facts(peer, best).latency;
  const std::uint32_t turn = fabric_.self.index + peer.index;
  for (std::uint32_t i = 0; i < count; ++i) {
    const RailId rail((turn + i) % count);
    const RailFacts facts = fabric_.rails.rail_facts(peer, rail);
    if (facts.up && facts.frames && facts.latency <= least + least / 2) return rail;
  }
  return best;
}

}  // namespace weft::mp
