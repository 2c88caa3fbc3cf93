// SPDX-License-Identifier: Apache-2.0
// The protocol between `weft run` and its agents, one on each host.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <weft/base/result.hpp>
#include <weft/real/launch/frame.hpp>
#include <weft/real/launch/seat.hpp>

namespace weft::launch {

// The first bytes from an agent; frames follow.
constexpr const char* agent_greeting = "weft agent stream 1\n";

enum class ToAgent : std::uint8_t {
  job = 1,        // HostJob
  cards,          // CardPart: to every rank of the host
  failed,         // number: first rank of a world; text: its exchange cannot complete
  lost,           // number: lost rank
  signal,         // number: signal for every rank
  end,            // number: milliseconds between asking ranks to end and killing them
  input,          // text: standard input for rank 0
  input_end,      //
  output_taken,   // number: bytes of output that were consumed
  output_closed,  // number: 1 or 2; this stream has no reader any more
  finish,         // Kill the remaining processes and end.
  others_leave,   // number: first rank of a world; one of it has left, after another was lost
  more,           // HostJob: ranks that start later; answered by FromAgent::started
  end_world,      // number: first rank of a world; number: milliseconds, as for `end`
  answer,         // CardPart of an answer; its rank is the one that asked
};

enum class FromAgent : std::uint8_t {
  ready = 64,   // text: version
  trouble,      // number: Broken; text: the job cannot run on this host
  explained,    // text: the binding of ranks and its reasons; before any rank starts
  seated,       // number: rank
  left,         // number: rank
  lost,         // number: rank; its program ended without leaving
  ended,        // number: rank; number: status as wait() returns it
  card,         // CardPart
  abort,        // number: rank; number: code; number: 1 if another rank is missing; text
  output,       // number: rank; number: 1 or 2; text
  input_taken,  // number: bytes of input that were consumed
  line_end,     // No fields; see Stream::end_line().
  resilience,   // number: rank; number: Resilience
  request,      // CardPart of a Request
  started,      // number: HostJob::start; text: why not, or empty
};

// An agent's share of a job.
struct HostJob {
  std::uint32_t ranks = 0;  // Ranks of its whole world.
  Birth birth;
  std::uint32_t start = 0;          // A number for the answer; 0: the job itself.
  std::vector<std::uint32_t> here;  // Ranks of this host.
  std::vector<std::string> words;   // Program and arguments.
  // "NAME=VALUE", in addition to the agent's own environment.
  std::vector<std::string> environment;
  std::string folder;
  std::string path;  // Folders where the program is looked for first, with colons between them.
  Secret secret{};
  std::string settings;  // to_text(Settings)
  std::string bind;      // How to bind ranks to cores; empty: the agent's default.
  // A machine description to use instead of the host's own; then nothing is started.
  std::string machine;
  bool explain = false;  // Send FromAgent::explained.

  bool has(std::uint32_t rank) const { return rank - birth.first < ranks; }
};
void write(FieldWriter& out, const Birth& birth);
Birth read_birth(FieldReader& in);
std::string to_bytes(const HostJob& job);
Result<HostJob> parse_host_job(const std::string& bytes);

// Credit: the maximum of output in flight, and of input.
constexpr std::size_t window_bytes = std::size_t{1} << 20;
constexpr std::uint32_t ranks_max = 1u << 20;

}  // namespace weft::launch
