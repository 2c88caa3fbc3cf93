// SPDX-License-Identifier: Apache-2.0
// Messages between ranks: matching by (context, source, tag), in the order of sending; small ones
// eagerly, large ones by rendezvous and remote writes over all rails. One Messenger per rank; it
// makes progress only while one of its functions runs.
#pragma once

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_set>
#include <vector>

#include <weft/message/mp/options.hpp>
#include <weft/message/mp/request.hpp>
#include <weft/message/mp/word.hpp>
#include <weft/message/port/fabric.hpp>

namespace weft::mp {

class FrameSender;
class HeadStarts;
class Matching;
class PeerTable;
class Rendezvous;
class RequestTable;
class Trunk;
struct Envelope;
struct Header;
struct UnexpectedRecord;  // A message that no receive has matched yet; owned by the Messenger.

class Messenger {
 public:
  Messenger(const Fabric& fabric, const Options& options);
  ~Messenger();
  Messenger(const Messenger&) = delete;
  Messenger& operator=(const Messenger&) = delete;

  const Fabric& fabric() const { return fabric_; }
  const Options& options() const { return options_; }

  // The request is valid until released. Data stays the caller's until done.
  Request* send(const Sending& sending);
  Request* receive(const Receiving& receiving);
  // A small message that goes at once, where copying it costs no time of its own; false: it does
  // not, send() must do it.
  bool send_now(const Sending& sending);
  // Lets go of a request; what is not done yet goes on and is freed then.
  void release(Request* request);
  // What can be cancelled is done at once: a receive that has matched nothing, and a send whose
  // receiver has not answered, whatever that one does. Everything else goes on.
  void cancel(Request* request);

  // The first message that a receive would match now; it stays where it is.
  std::optional<Arrival> probe(ContextId context, int source, int tag);
  // The same, but takes it out of matching: only receive_taken() can get it.
  UnexpectedRecord* take(ContextId context, int source, int tag);
  const Arrival& taken(const UnexpectedRecord* message) const;
  Request* receive_taken(UnexpectedRecord* message, const Receiving& receiving);

  // Handles what the network has brought, then resumes the tasks that waited. Never blocks.
  void progress();
  // Progress until the request is done, or there is news. (Waiting for several: progress(), look,
  // pause().)
  void wait(const Request* request);
  void pause();  // Until the network has something new.

  // Resumed at the end of progress(); for coroutines that wait for other things than requests.
  void resume_later(std::coroutine_handle<> handle);

  // Messages of this context have no future: what waits for one, now or later, fails.
  void revoke(ContextId context);

  // Peers that cannot be reached any more, in the order of finding out.
  const std::vector<RankId>& lost() const { return lost_; }
  bool is_lost(RankId peer) const;

  // Goes at once; to a lost peer, nowhere.
  void say(const Word& word);
  // Words that have arrived since the last call, in order.
  std::vector<Word> take_words();
  // Counts losses and words, so that whoever waits can see that something happened.
  std::uint64_t news() const { return news_; }

  // No message of ours is under way any more: every send is done.
  bool quiet() const;

  struct Use {
    std::uint64_t eager = 0, rendezvous = 0, bytes_sent = 0;
    std::uint64_t unexpected = 0;  // Messages that came before their receives.
  };
  const Use& use() const { return use_; }

 private:
  // messenger.cpp
  HeadStarts& head_starts();
  void send_eager(Request* request, const Sending& sending);
  void send_large(Request* request, const Sending& sending);
  void observe_sending(const Sending& sending, MessageFacts::Protocol protocol) const;
  void finish_progress();
  bool is_revoked(ContextId context) const;
  void fail(Request& request);

  // arrivals.cpp
  void handle(Completion& completion);
  void handle_in_order(const Header& header, Completion& completion);
  void handle_frame(const Header& header, Completion& completion);
  void observe_envelope(const Header& header, const Completion& completion) const;
  void on_envelope(const Header& header, Completion& completion);
  void accept(Request* receive, const Envelope& message, const std::byte* data);
  void accept(Request* receive, const UnexpectedRecord& record);
  void accept_eager(Request* receive, const Arrival& arrival, const std::byte* data);
  void on_cancel(const Header& header, RankId peer);
  bool withdraw_unexpected(RankId peer, std::uint64_t sender);
  void match_again(Request* receive);
  void on_peer_lost(RankId peer);
  void on_word(const Header& header, const Completion& completion);

  const Fabric fabric_;
  const Options& options_;
  std::unique_ptr<RequestTable> requests_;
  std::unique_ptr<Matching> matching_;
  std::unique_ptr<PeerTable> peers_;
  std::unique_ptr<FrameSender> sender_;
  std::unique_ptr<Trunk> trunk_;  // Null: messages are cut once, by what rails say of themselves.
  std::unique_ptr<HeadStarts> head_starts_;  // Null: none so far.
  std::unique_ptr<Rendezvous> rendezvous_;
  std::vector<RankId> lost_;
  std::unordered_set<ContextId> revoked_;
  std::vector<Word> words_;  // Not taken yet.
  std::uint64_t news_ = 0;
  std::vector<UnexpectedRecord*> taken_;  // Large messages out of matching, until their receives.
  Completion incoming_;                   // Kept: making one costs more than filling it.
  Use use_;
};

}  // namespace weft::mp
