// SPDX-License-Identifier: Apache-2.0
// Receives that wait for messages, and messages that wait for receives. Both in bins by (context,
// source), so that thousands of either cost nothing; wildcards are found by order of posting or
// arrival.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <weft/message/mp/flat_map.hpp>
#include <weft/message/mp/request.hpp>

namespace weft::mp {

struct Envelope {
  Arrival arrival;
  ContextId context = 0;
  RankId peer;
  bool rendezvous = false;
  bool internal = false;
  std::uint64_t sender = 0;  // The request that waits there, of a rendezvous,
  std::size_t ahead = 0;     // and how much of it comes before the answer.
};

struct UnexpectedRecord : Envelope {
  std::unique_ptr<std::byte[]> data;  // Data of an eager message or head start, if any.
  std::vector<Stretch> came;          // Parts of a head start.
  bool withdrawn = false;             // By its sender, after it was taken out of matching.
  UnexpectedRecord *before = nullptr, *after = nullptr;          // All, by arrival.
  UnexpectedRecord *bin_before = nullptr, *bin_after = nullptr;  // Same context and source.
};

class Matching {
 public:
  Matching() = default;
  Matching(const Matching&) = delete;
  Matching& operator=(const Matching&) = delete;
  ~Matching();

  // The receive that was posted first among those that take this message; taken out. Null: none.
  Request* match_arrival(ContextId context, int source, int tag);
  void add_posted(Request* request);
  // For a receive that finds its message at once: its place among those that wait.
  void number(Request* request) { request->order = orders_++; }
  // One that was matched, but waits again: it keeps its place in the order of posting.
  void add_again(Request* request);
  void remove_posted(Request* request);

  // The first message that a receive takes; it stays.
  UnexpectedRecord* find(ContextId context, int source, int tag);
  void add_unexpected(std::unique_ptr<UnexpectedRecord> record);
  std::unique_ptr<UnexpectedRecord> remove_unexpected(UnexpectedRecord* record);
  UnexpectedRecord* first_unexpected() { return first_; }

 private:
  // A list is held by its first node, whose `before` is the last one.
  struct Bin {
    Request* posted = nullptr;
    UnexpectedRecord* unexpected = nullptr;
    bool empty() const { return posted == nullptr && unexpected == nullptr; }
  };
  // Keep this many empty bins: most ranks receive from the same few peers.
  static constexpr std::size_t spare_bins = 3;
  static std::uint64_t key(ContextId context, int source) {
    return (std::uint64_t{context} << 32) | static_cast<std::uint32_t>(source);
  }
  void drop(std::uint64_t bin);

  FlatMap<std::uint64_t, Bin> bins_;
  Request* wild_ = nullptr;  // Receives from any source.
  UnexpectedRecord* first_ = nullptr;
  std::uint64_t orders_ = 0;
};

}  // namespace weft::mp
