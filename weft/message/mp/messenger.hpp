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
#include <span>
#include <string>
#include <vector>

#include <weft/base/units.hpp>
#include <weft/message/mp/options.hpp>
#include <weft/message/port/fabric.hpp>

namespace weft::mp {

using ContextId = std::uint32_t;  // Messages of different contexts never meet.
inline constexpr int any_source = -1;
inline constexpr int any_tag = -1;

struct Sending {
  RankId to;
  ContextId context = 0;
  int source = 0;  // How the receiver knows us: our rank in its communicator.
  int tag = 0;
  const void* data = nullptr;
  std::size_t size = 0;
  bool synchronous = false;  // Done only when the receiver has matched it.
  bool internal = false;  // The library's own: its data travels even where the program's does not.
  const Tuning* tuning = nullptr;  // Null: as the options say.
};

struct Receiving {
  ContextId context = 0;
  int source = any_source;
  std::optional<RankId> from;  // The source, where known: its end is the end of this receive.
  int tag = any_tag;
  void* data = nullptr;
  std::size_t size = 0;  // Room.
  bool internal = false;
};

// The envelope of a message that has been matched or probed.
struct Arrival {
  int source = any_source;
  int tag = any_tag;
  std::size_t size = 0;  // As sent; more than the room when truncated.
  bool truncated = false;
  bool cancelled = false;
};

// Part of a message.
struct Stretch {
  std::size_t offset = 0, size = 0;
};

struct Request;           // Owned by the Messenger; see release().
struct UnexpectedRecord;  // Likewise.
class Covered;

struct Request {
  Request();
  ~Request();
  Request(Request&&) noexcept;
  Request& operator=(Request&&) noexcept;

  bool done = false;
  bool failed = false;             // The peer is lost.
  Arrival arrival;                 // Of a receive; of a send only `cancelled`.
  std::coroutine_handle<> waiter;  // Resumed once, by progress(), after it is done.

  enum class Kind : std::uint8_t { free, send, receive };
  Kind kind = Kind::free;
  // The rest is the Messenger's.
  bool internal = false;
  bool matched = false;
  bool bound = false;     // To its peer: its end is ours.
  bool released = false;  // The caller has let go; freed when done.
  std::uint16_t parts_open = 0;
  std::uint32_t generation = 0;
  std::uint32_t index = 0;
  ContextId context = 0;
  int source = 0, tag = 0;
  RankId peer;
  std::byte* data = nullptr;
  std::size_t size = 0;
  std::size_t missing = 0;  // Of a rendezvous under way.
  std::size_t ahead = 0;    // What of a send goes before the answer.
  std::uint64_t region = 0;
  std::uint64_t sender = 0;          // Of a receive by rendezvous: the request at the sender.
  std::unique_ptr<Covered> covered;  // Which parts have arrived, of several.
  std::uint64_t order = 0;           // Of posting.
  const Tuning* tuning = nullptr;
  Request *before = nullptr, *after = nullptr;  // In the list of posted receives.
};

class Matching;
class Peers;
class Trunk;
struct Envelope;
struct Header;

struct Heads;

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
  // A receive that has matched nothing is done at once, cancelled. A send may take until progress()
  // has the receiver's answer: then it is done, cancelled or not.
  void cancel(Request* request);

  // The first message that a receive would match now; it stays where it is.
  std::optional<Arrival> probe(ContextId context, int source, int tag);
  // The same, but takes it out of matching: only receive_taken() can get it.
  UnexpectedRecord* take(ContextId context, int source, int tag);
  const Arrival& taken(const UnexpectedRecord* message) const;
  Request* receive_taken(UnexpectedRecord* message, const Receiving& receiving);

  // Handles what the network has brought, then resumes who waited for it. Never blocks.
  void progress();
  // Progress until the request is done, or a peer is lost. (Waiting for several: progress(), look,
  // pause().)
  void wait(const Request* request);
  void pause();  // Until the network has something new.

  // Resumed at the end of progress(); for coroutines that wait for other things than requests.
  void resume_later(std::coroutine_handle<> handle) { ready_.push_back(handle); }

  // Messages of this context have no future: what waits for one, now or later, fails.
  void revoke(ContextId context);

  // Peers that no way leads to any more, in the order of finding out.
  const std::vector<RankId>& lost() const { return lost_; }

  // No message of ours is under way any more: every send is done, nothing is owed to a peer.
  bool quiet() const;

  struct Use {
    std::uint64_t eager = 0, rendezvous = 0, bytes_sent = 0;
    std::uint64_t unexpected = 0;  // Messages that came before their receives.
  };
  const Use& use() const { return use_; }

 private:
  struct Slab;

  Request* make(Request::Kind kind);
  void free(Request* request);
  Request* find(std::uint64_t id);
  static std::uint64_t id_of(const Request* request);
  void complete(Request* request);

  void send_eager(Request* request, const Sending& sending);
  void send_request(Request* request, const Sending& sending);
  std::size_t ahead_of(const Sending& sending);
  void send_ahead(Request* request);
  void post(const Request* request, Header& header, Payload payload, std::uint64_t cookie);
  void answer(RankId peer, Header& header);
  RailId small_rail(RankId peer) const;
  RailId eager_rail(RankId peer) const;
  void tend();

  void handle(Completion& completion);
  void handle_in_order(const Header& header, Completion& completion);
  void handle_frame(const Header& header, Completion& completion);
  void on_envelope(const Header& header, Completion& completion);
  void on_ready(const Header& header, RankId peer);
  void on_part(const Header& header, const Completion& completion);
  void on_head(const Header& header, Completion& completion);
  void expect_heads(const Envelope& message, std::uint64_t receive, UnexpectedRecord* record);
  void take_head(Request* receive, Stretch part, const std::byte* data);
  void take_heads(Request* receive, const UnexpectedRecord& record);
  void keep_head(UnexpectedRecord& record, Stretch part, const std::byte* data);
  static bool is_whole(const UnexpectedRecord& record);
  void arrived(Request* receive, std::size_t offset, std::size_t size);
  void finish_receive(Request* receive);
  void observe_sending(const Sending& sending, MessageFacts::Protocol protocol) const;
  void observe_envelope(const Header& header, const Completion& completion) const;
  void on_cancel(const Header& header, RankId peer);
  void on_cancel_reply(const Header& header);
  void on_peer_lost(RankId peer);
  void accept(Request* receive, const Envelope& message, const std::byte* data);
  void accept(Request* receive, const UnexpectedRecord& record);
  void accept_eager(Request* receive, const Arrival& arrival, const std::byte* data);
  void answer_request(Request* receive, const Envelope& message);
  void write_parts(Request* send, const Header& ready);
  std::vector<std::size_t> part_ends(RankId peer, std::size_t size, std::uint32_t count) const;
  void finish_part(std::uint64_t cookie);
  bool is_lost(RankId peer) const;
  bool is_revoked(ContextId context) const;
  void fail(Request& request);
  void owe_credit(RankId peer, std::size_t bytes);

  const Fabric fabric_;
  const Options& options_;
  std::unique_ptr<Slab> slab_;
  std::unique_ptr<Matching> matching_;
  std::unique_ptr<Peers> peers_;
  std::unique_ptr<Heads> heads_;
  std::unique_ptr<Trunk> trunk_;  // Null: messages are cut once, by what rails say of themselves.
  std::vector<RankId> lost_;
  std::vector<ContextId> revoked_;
  std::vector<std::coroutine_handle<>> ready_;
  std::uint32_t sends_open_ = 0;
  Completion incoming_;  // Kept: making one costs more than filling it.
  Use use_;
};

}  // namespace weft::mp
