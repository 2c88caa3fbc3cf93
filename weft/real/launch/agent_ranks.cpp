// SPDX-License-Identifier: Apache-2.0
// Handles packets, output and ends of ranks.
#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <limits>

#include <fcntl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <weft/real/launch/agent_loop.hpp>
#include <weft/real/launch/business_cards.hpp>

namespace weft::launch {
void Agent::relay_card(const Frame& frame) {
  FieldReader in(frame.body);
  CardPart part = read_card_part(in);
  if (!in.whole()) return;
  part.round %= rounds_of_sitting;
  FieldWriter out;
  write(out, part);
  send_world(part.rank, SeatPacket::cards, out.take());
}

// Not to another program that holds the seat by now.
void Agent::relay_answer(const Frame& frame) {
  FieldReader in(frame.body);
  CardPart part = read_card_part(in);
  if (!in.whole()) return;
  for (const auto& rank : ranks_) {
    if (rank->rank != part.rank || !rank->seated) continue;
    if (part.round / rounds_of_sitting != rank->sittings) continue;
    part.round %= rounds_of_sitting;
    FieldWriter out;
    out.byte(static_cast<std::uint8_t>(SeatPacket::answer));
    write(out, part);
    rank->process.send(std::make_shared<std::string>(out.take()));
    return;
  }
}

void Agent::feed_input() {
  for (const auto& rank : ranks_) {
    const int input = rank->process.input();
    if (input < 0) continue;
    ssize_t done = 1;
    std::size_t taken = 0;
    while (!input_.empty() && done > 0) {
      done = ::write(input, input_.data(), input_.size());
      if (done > 0) {
        input_.erase(0, static_cast<std::size_t>(done));
        taken += static_cast<std::size_t>(done);
      }
    }
    if (taken > 0) report(FromAgent::input_taken, {taken});
    const bool broken = done < 0 && errno != EAGAIN && errno != EINTR;
    pollfd reader = {input, 0, 0};
    const bool gone = ::poll(&reader, 1, 0) > 0 && (reader.revents & POLLERR) != 0;
    if (broken || gone || (input_ended_ && input_.empty())) rank->process.close_input();
  }
}

// Forwards at most `room` bytes; returns how many.
std::size_t Agent::read_output(LocalRank& rank, int stream, std::int64_t room) {
  std::array<char, 32 << 10> bytes;
  const int from = rank.process.output(stream);
  if (from < 0 || room <= 0) return 0;
  const ssize_t size =
      ::read(from, bytes.data(), std::min(bytes.size(), static_cast<std::size_t>(room)));
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return 0;
  if (size <= 0) {
    rank.process.close_output(stream);
    return 0;
  }
  window_ -= size;
  report(FromAgent::output, {rank.rank, static_cast<std::uint64_t>(stream)},
         {bytes.data(), static_cast<std::size_t>(size)});
  return static_cast<std::size_t>(size);
}

// A pipeful is taken regardless of credit: the end of a rank must be reported although nobody reads
// what it printed.
void Agent::drain_output(LocalRank& rank, int stream) {
  const int from = rank.process.output(stream);
  if (from < 0) return;
  std::int64_t room = std::max<std::int64_t>(window_, ::fcntl(from, F_GETPIPE_SZ));
  while (const std::size_t size = read_output(rank, stream, room))
    room -= static_cast<std::int64_t>(size);
}

void Agent::handle_rank(LocalRank& rank) {
  std::string packet;
  for (pid_t sender = -1; rank.process.receive(packet, sender);)
    handle_packet(rank, packet, sender);
  if (rank.process.closed() && rank.seated) lose(rank);
}

void Agent::seat(LocalRank& rank, pid_t holder) {
  FieldWriter out;
  out.byte(static_cast<std::uint8_t>(rank.seated ? SeatPacket::refused : SeatPacket::welcome));
  if (rank.seated) {
    out.text("rank " + std::to_string(rank.rank) +
             " is taken by another process: one program per rank may call MPI_Init");
    rank.process.send(std::make_shared<std::string>(out.take()));
    return;
  }
  out.number(rank.rank);
  const HostJob& job = *rank.job;
  out.number(job.ranks);
  out.text({reinterpret_cast<const char*>(job.secret.data()), job.secret.size()});
  out.text(rank.settings);
  write(out, job.birth);
  rank.process.drop_packets();
  rank.process.send(std::make_shared<std::string>(out.take()));
  rank.process.watch_holder(holder);
  rank.seated = true;
  ++rank.sittings;
  report(FromAgent::seated, {rank.rank});
}

void Agent::handle_packet(LocalRank& rank, const std::string& packet, pid_t sender) {
  FieldReader in(packet);
  switch (static_cast<SeatPacket>(in.byte())) {
    case SeatPacket::hello:
      return seat(rank, sender);
    case SeatPacket::card:
    case SeatPacket::request: {
      const bool card = static_cast<SeatPacket>(packet[0]) == SeatPacket::card;
      CardPart part = read_card_part(in);
      if (!in.whole() || !rank.seated) return;
      part.rank = rank.rank;
      part.round = rank.sittings * rounds_of_sitting + part.round % rounds_of_sitting;
      FieldWriter out;
      write(out, part);
      return stream_.send(static_cast<std::uint8_t>(card ? FromAgent::card : FromAgent::request),
                          out.take());
    }
    case SeatPacket::resilience: {
      const auto now = in.number_up_to(static_cast<std::uint32_t>(Resilience::recovers));
      if (in.whole()) report(FromAgent::resilience, {rank.rank, now});
      return;
    }
    case SeatPacket::leave:
      rank.seated = false;
      rank.process.forget_holder();
      return report(FromAgent::left, {rank.rank});
    case SeatPacket::abort: {
      const std::uint32_t code = in.number_up_to(std::numeric_limits<std::uint32_t>::max());
      const std::uint32_t for_loss = in.number_up_to(1);
      return report(FromAgent::abort, {rank.rank, code, for_loss}, in.text());
    }
    default:
      return;
  }
}

void Agent::lose(LocalRank& rank) {
  rank.seated = false;
  rank.process.forget_holder();
  report(FromAgent::lost, {rank.rank});
}

// The holder may have ended; packets that it sent before still count. By now another program may
// hold the seat.
void Agent::check_holder(LocalRank& rank) {
  handle_rank(rank);
  if (rank.seated && !rank.process.holder_lives()) lose(rank);
}

void Agent::handle_signal() {
  signalfd_siginfo about = {};
  while (::read(signals_, &about, sizeof about) == sizeof about) {
    if (about.ssi_signo == SIGCHLD) {
      reap();
      continue;
    }
    report(FromAgent::trouble, {static_cast<std::uint64_t>(Broken::run)},
           "the agent was asked to end by signal " + std::to_string(about.ssi_signo));
    done_ = true;
  }
}

void Agent::reap() {
  int status = 0;
  for (pid_t child = 0; (child = ::waitpid(-1, &status, WNOHANG)) > 0;) note_end(child, status);
}

void Agent::note_end(pid_t child, int status) {
  for (const auto& rank : ranks_) {
    if (rank->process.pid() != child || rank->child_ended) continue;
    rank->child_ended = true;
    rank->status = status;
  }
}

// The end of a rank is reported after all its output.
void Agent::settle(LocalRank& rank) {
  if (!rank.child_ended || rank.reported) return;
  handle_rank(rank);
  // A script ended successfully and left the program running in the background; it may go on.
  if (rank.status == 0 && rank.seated && rank.process.holder_lives()) return;
  for (const int stream : {1, 2}) drain_output(rank, stream);
  if (rank.seated) lose(rank);
  rank.reported = true;
  report(FromAgent::ended, {rank.rank, static_cast<std::uint32_t>(rank.status)});
}

}  // namespace weft::launch
