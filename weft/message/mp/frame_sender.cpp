// SPDX-License-Identifier: Apache-2.0
#include <weft/message/mp/frame_sender.hpp>

namespace weft::mp {

void FrameSender::post(const Request* request, Header& header, Payload payload,
                       std::uint64_t cookie) {
  header.credit = peers_.settle(request->peer);
  const Duration gap = request->tuning == nullptr ? Duration::zero() : request->tuning->gap;
  const RailId rail = header.verb == Verb::eager ? rails_.for_eager(request->peer)
                                                 : rails_.for_control(request->peer);
  const bool more = header.verb == Verb::request && request->ahead > 0;
  transport_.post({request->peer, rail, gap, more}, encode(header), payload, cookie != 0, cookie);
}

void FrameSender::answer(RankId peer, Header& header) {
  header.credit = peers_.settle(peer);
  transport_.post({peer, rails_.for_control(peer), Duration::zero()}, encode(header), {}, false, 0);
}

void FrameSender::return_credit(RankId peer) {
  Header header;
  header.verb = Verb::credit;
  answer(peer, header);
}

}  // namespace weft::mp
