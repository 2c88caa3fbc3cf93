// SPDX-License-Identifier: Apache-2.0
// What the process of a rank asks of the simulator. It gathers requests that have no answer, and
// sends them with the next one that has: a packet ends with a request that is answered.
//
// What comes back begins with Reply and the time. The simulator may ask back first, while the
// process waits for its answer.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <weft/base/pack.hpp>
#include <weft/base/units.hpp>
#include <weft/message/conn/options.hpp>
#include <weft/message/mp/options.hpp>
#include <weft/message/port/fabric.hpp>

namespace weft {

// The variable with the number of the descriptor through which a process joins.
inline constexpr const char* rank_channel_variable = "WEFT_RANK_CHANNEL";
// Both sides belong to one weft; a program may bring an old library of its own.
inline constexpr std::uint32_t rank_channel_version = 1;

enum class Request : std::uint8_t {
  // Without an answer.
  spend,
  compute,
  copy,
  charge,
  enter_call,
  connect,
  disconnect,
  post,
  write,
  sending,
  entered,
  left,
  place_memory,
  begin_window,
  end_window,
  note,
  remember,
  report,
  // With one.
  join,
  now,
  poll,
  wait,
  connected,
  needs_connection,
  rail_count,
  rail_facts,
  recall,
  leave,
  abort,
};
inline constexpr Request first_answered = Request::join;

enum class Reply : std::uint8_t {
  answer,
  // The simulator asks what the rank waits for, or how far it has come.
  describe,
  report,
};

// What a process learns when it joins.
struct RankWelcome {
  RankId self;
  std::uint32_t ranks = 0;
  bool ordered = true, carries_data = true, has_timeline = false;
  Time now;
  Duration call_overhead, request_overhead, collective_overhead;
  double compute_factor = 0;
  mp::Options messages;
  std::string processor_name;
  std::vector<std::uint32_t> nodes;            // Of each rank.
  std::vector<std::string> forced_algorithms;  // "alltoall=bruck"
  std::vector<int> grid;                       // Extents of the grid of all ranks; or empty.
  std::vector<std::uint32_t> groups;           // Of each rank; empty: connections cost nothing.
  conn::Options connections;
};
void pack(const RankWelcome& welcome, Packer& out);
RankWelcome unpack_welcome(Unpacker& in);

// What the message layer of a rank has counted. Later ones replace earlier ones.
struct RankReport {
  struct CallRecord {
    std::string call;
    std::uint64_t count = 0, bytes = 0;
    Duration inside;
  };
  struct AlgorithmCount {
    std::string name;
    std::uint64_t calls = 0;
  };
  std::vector<CallRecord> calls;
  std::vector<AlgorithmCount> algorithms;
  std::uint64_t eager = 0, rendezvous = 0, unexpected = 0;
  std::uint64_t clock_reads = 0;
  conn::Counts connections;
  bool running = false;  // Between MPI_Init and MPI_Finalize, or in a session.
};
void pack(const RankReport& report, Packer& out);
RankReport unpack_report(Unpacker& in);

// What a rank waits for, as its process tells it.
struct RankWait {
  Waiting waiting;
  std::vector<Waiting> threads;
  Duration idle;
};
void pack(const RankWait& wait, Packer& out);
RankWait unpack_wait(Unpacker& in);

// A completion as it travels; its data follows.
void pack(const Completion& completion, Packer& out);
void unpack(Unpacker& in, Completion& out);

void pack(const MessageFacts& message, Packer& out);
MessageFacts unpack_facts(Unpacker& in);

}  // namespace weft
