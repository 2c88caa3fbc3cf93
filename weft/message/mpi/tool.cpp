// SPDX-License-Identifier: Apache-2.0
#include "tool.hpp"

#include <array>

#include <weft/message/mpi/group.hpp>
#include <weft/message/mpi/process.hpp>
#include <weft/message/mpi/window.hpp>

namespace weft::mpi {

namespace {

constexpr std::array<const char*, 3> split_names = {"equal", "proportional", "measured"};
constexpr ToolEnum split_values = {"weft_split", split_names};
constexpr std::array<const char*, 2> time_names = {"virtual", "real"};
constexpr ToolEnum time_values = {"weft_time", time_names};

const mp::Options& options_of(const Process& process) {
  return process.messenger.options();
}

std::uint64_t bytes(Bytes value) {
  return static_cast<std::uint64_t>(value.count);
}

constexpr std::array<ControlVariable, 7> controls = {{
    {"weft_eager_limit", "Messages of more bytes go by rendezvous (messages.eager_limit)", true,
     nullptr, [](const Process& p) { return bytes(options_of(p).eager_limit); }},
    {"weft_head_start", "Bytes of a large message that go with its request (messages.head_start)",
     true, nullptr, [](const Process& p) { return bytes(options_of(p).head_start); }},
    {"weft_stripe_min", "The smallest part of a message for a rail (messages.stripe_min)", true,
     nullptr, [](const Process& p) { return bytes(options_of(p).stripe_min); }},
    {"weft_credit", "Eager bytes that one rank may have at another (messages.credit)", true,
     nullptr, [](const Process& p) { return bytes(options_of(p).credit); }},
    {"weft_split", "How a large message is cut over several rails (messages.split)", false,
     &split_values,
     [](const Process& p) { return static_cast<std::uint64_t>(options_of(p).split); }},
    {"weft_zero_copy", "Eager messages go out of the program's own memory (messages.zero_copy)",
     false, nullptr, [](const Process& p) { return std::uint64_t{options_of(p).zero_copy}; }},
    {"weft_time", "Whether MPI_Wtime shows the time of a simulation or of the host", false,
     &time_values, [](const Process& p) { return std::uint64_t{p.real_time}; }},
}};

constexpr int counter = MPI_T_PVAR_CLASS_COUNTER;
constexpr int level = MPI_T_PVAR_CLASS_LEVEL;

// A rank reaches itself without any.
std::uint64_t rails_to(const Process& process, RankId peer) {
  return peer == process.rank() ? 0
                                : static_cast<std::uint64_t>(process.fabric.rails.rail_count(peer));
}

std::uint64_t rails_up_to(const Process& process, RankId peer) {
  std::uint64_t up = 0;
  for (std::uint32_t i = 0; i < rails_to(process, peer); ++i) {
    if (process.fabric.rails.rail_facts(peer, RailId(i)).up) ++up;
  }
  return up;
}

constexpr std::array<PerformanceVariable, 11> measures = {{
    {"weft_eager_messages", "Messages sent eagerly", counter,
     [](const Process& p) { return p.messenger.use().eager; }},
    {"weft_rendezvous_messages", "Messages sent by rendezvous", counter,
     [](const Process& p) { return p.messenger.use().rendezvous; }},
    {"weft_bytes_sent", "Bytes of all messages sent", counter,
     [](const Process& p) { return p.messenger.use().bytes_sent; }},
    {"weft_unexpected_messages", "Messages that arrived before their receives", counter,
     [](const Process& p) { return p.messenger.use().unexpected; }},
    {"weft_lost_ranks", "Ranks that cannot be reached any more", level,
     [](const Process& p) { return std::uint64_t{p.messenger.lost().size()}; }},
    {"weft_rails", "Rails to each rank of the communicator", level, nullptr, &rails_to},
    {"weft_rails_up", "Rails to each rank of the communicator that work", level, nullptr,
     &rails_up_to},
    {"weft_requests", "Requests that the program holds", level,
     [](const Process& p) {
       return std::uint64_t{p.requests.alive()} - (p.sent == nullptr ? 0 : 1) + p.sends_held;
     }},
    {"weft_communicators", "Communicators that the program has made and not freed", level,
     [](const Process& p) { return std::uint64_t{p.communicators.alive()}; }},
    {"weft_groups", "Groups that the program has made and not freed", level,
     [](const Process& p) { return std::uint64_t{p.groups.alive()}; }},
    {"weft_windows", "Windows that the program has made and not freed", level,
     [](const Process& p) { return std::uint64_t{p.windows.alive()}; }},
}};

constexpr std::array<ToolCategory, 3> categories = {{
    {"weft_messages", "How messages go, and how many went", 0, 6, 0, 4},
    {"weft_job", "The ranks of the job, the ways to them, and their time", 6, 1, 4, 3},
    {"weft_objects", "Objects behind handles", 0, 0, 7, 4},
}};

}  // namespace

std::span<const ControlVariable> control_variables() {
  return controls;
}

std::span<const PerformanceVariable> performance_variables() {
  return measures;
}

std::span<const ToolCategory> tool_categories() {
  return categories;
}

const ToolEnum* find_tool_enum(MPI_T_enum handle) {
  for (const ToolEnum* const known : {&split_values, &time_values}) {
    if (reinterpret_cast<const void*>(handle) == known) return known;
  }
  return nullptr;
}

}  // namespace weft::mpi
