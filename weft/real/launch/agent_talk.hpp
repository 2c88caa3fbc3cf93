// SPDX-License-Identifier: Apache-2.0
// What `weft run` and its agents, one on each host, say to each other.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <weft/base/result.hpp>
#include <weft/real/launch/seat.hpp>

namespace weft::launch {

// The first bytes from an agent; frames follow.
constexpr const char* agent_greeting = "weft agent stream 1\n";

enum class ToAgent : std::uint8_t {
  job = 1,        // HostJob
  cards,          // CardPart: to every rank of the host
  failed,         // text: the exchange cannot come to its end
  lost,           // number: rank
  signal,         // number: to every rank
  end,            // number: milliseconds from asking ranks to end until killing them
  input,          // text: for the standard input of rank 0
  input_end,      //
  output_taken,   // number: bytes for which there is room again
  output_closed,  // number: 1 or 2; nobody reads this stream any more
  finish,         // Kill what is left, and end.
};

enum class FromAgent : std::uint8_t {
  ready = 64,   // text: version
  trouble,      // number: Broken; text: the job cannot be run on this host
  explained,    // text: why ranks are where they are; before any of them starts
  seated,       // number: rank
  left,         // number: rank
  lost,         // number: rank; its program has ended without leaving
  ended,        // number: rank; number: status, as wait() tells it
  card,         // CardPart
  abort,        // number: rank; number: code; text
  output,       // number: rank; number: 1 or 2; text
  input_taken,  // number: bytes for which there is room again
  line_end,     // Nothing; see Stream::end_line().
};

// What an agent shall do.
struct HostJob {
  std::uint32_t ranks = 0;               // Of the whole job.
  std::vector<std::uint32_t> here;       // Those of this host.
  std::vector<std::string> words;        // Program and arguments.
  std::vector<std::string> environment;  // "NAME=VALUE", beside what the agent itself has.
  std::string folder;
  Secret secret{};
  std::string settings;  // to_text(Settings)
  std::string bind;      // How ranks are bound to cores; empty: as the agent thinks best.
  std::string machine;   // A description instead of the host's own; then nothing is started.
  bool explain = false;  // Wanted: FromAgent::explained.
};
std::string to_bytes(const HostJob& job);
Result<HostJob> parse_host_job(const std::string& bytes);

// Of output sent and not yet taken, and of input.
constexpr std::size_t window_bytes = std::size_t{1} << 20;
constexpr std::uint32_t ranks_max = 1u << 20;

}  // namespace weft::launch
