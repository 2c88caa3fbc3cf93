// SPDX-License-Identifier: Apache-2.0
// One rank as its agent sees it: a process, its input and output, and its seat.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <sys/types.h>

#include <weft/base/result.hpp>
#include <weft/real/launch/seat_protocol.hpp>

namespace weft::launch {

struct RankStart {
  std::vector<std::string> words;
  std::vector<std::string> environment;  // Complete, as "NAME=VALUE".
  std::string folder;
  bool reads_input = false;        // Otherwise its standard input is empty.
  std::function<void()> in_child;  // Runs just before exec; may bind the process to cores.
};

class RankProcess {
 public:
  RankProcess() = default;
  RankProcess(const RankProcess&) = delete;
  RankProcess& operator=(const RankProcess&) = delete;
  ~RankProcess();

  // Starts the process in a process group of its own; it dies with this process.
  Status start(const RankStart& how);

  pid_t pid() const { return pid_; }
  int seat() const { return seat_; }
  int output(int stream) const { return outputs_[static_cast<std::size_t>(stream - 1)]; }
  int input() const { return input_; }
  // A pidfd of the process that holds the seat; -1: none, or the kernel does not support it.
  int holder() const { return holder_; }
  bool holder_lives() const;
  void close_output(int stream);
  void close_input();

  // Watches the sender of the seat's last packet.
  void watch_holder(pid_t pid);
  void forget_holder();
  // Signals the program and the processes in its group.
  void signal(int number) const;

  // Takes a packet from the seat's holder; returns false if there is none now. closed() reports the
  // end.
  bool receive(std::string& packet, pid_t& sender);
  bool closed() const { return seat_ < 0; }
  using Packet = std::shared_ptr<const std::string>;
  void send(Packet packet) { packets_.push_back(std::move(packet)); }
  bool sending() const { return !packets_.empty(); }
  void send_now();
  // Drops packets for a former holder.
  void drop_packets() { packets_.clear(); }

 private:
  Status fork_program(const RankStart& how, const std::array<int, 4>& ends);
  pid_t pid_ = -1;
  int seat_ = -1, input_ = -1, holder_ = -1;
  std::array<int, 2> outputs_{-1, -1};
  std::deque<Packet> packets_;
};

}  // namespace weft::launch
