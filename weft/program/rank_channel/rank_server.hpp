// SPDX-License-Identifier: Apache-2.0
// The simulator's side of a rank that is a process of its own: does to the rank's network what the
// process asks for, in the rank's fiber.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include <weft/message/mpi/profile.hpp>
#include <weft/message/mpi/runtime.hpp>
#include <weft/message/port/fabric.hpp>
#include <weft/program/rank_channel/channel.hpp>
#include <weft/program/rank_channel/requests.hpp>

namespace weft {

// Must outlive the network's use of it: the network asks it what the rank waits for.
class RankServer final : public WaitTeller {
 public:
  // What the rank belongs to. `listener` is told of its calls; null: nobody.
  struct Job {
    mpi::Runtime& runtime;
    RankWelcome welcome;
    mpi::CallListener* listener = nullptr;
  };
  RankServer(RankChannel& channel, const Fabric& network, Job job);

  // Does what a packet of the process asks for. false: the process is gone.
  bool serve(std::span<const std::byte> packet);
  bool joined() const { return joined_; }
  // It has taken leave of the job, and may end.
  bool left() const { return left_; }
  // The latest that is known. Asks the process, if that waits for the simulator.
  const RankReport& report();

  Waiting waiting() const override { return ask().waiting; }
  std::vector<Waiting> threads_waiting() const override { return ask().threads; }
  Duration idle() const override { return ask().idle; }

 private:
  void serve_quick(Request request, Unpacker& in);
  void serve_message(Request request, Unpacker& in);
  void serve_extension(Request request, Unpacker& in);
  bool serve_answered(Request request, Unpacker& in);
  void join(Unpacker& in, Packer& out);
  void answer_about_peer(Request request, Unpacker& in, Packer& out) const;
  void poll(Packer& out);
  [[noreturn]] void abort(Unpacker& in);
  RankWait ask() const;
  const char* name_of_call(std::string_view text);

  RankChannel& channel_;
  const Fabric network_;
  Job job_;
  bool joined_ = false, left_ = false;
  bool is_waiting_ = false;  // The process, for an answer.
  RankReport report_;
  std::set<std::string, std::less<>> call_names_;  // Listeners tell calls apart by address.
  // Data of writes until they have left.
  std::unordered_map<std::uint64_t, std::vector<std::byte>> writes_;
};

}  // namespace weft
