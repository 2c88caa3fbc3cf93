// SPDX-License-Identifier: Apache-2.0
// Handles messages from agents and signals from the user.
#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <limits>
#include <utility>

#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <weft/base/version.hpp>
#include <weft/real/launch/business_cards.hpp>
#include <weft/real/launch/launcher_loop.hpp>

namespace weft::launch {
namespace {

// Signals that we never send.
bool is_crash(int status) {
  if (!WIFSIGNALED(status)) return false;
  const int number = WTERMSIG(status);
  return number == SIGSEGV || number == SIGBUS || number == SIGFPE || number == SIGILL ||
         number == SIGABRT;
}

constexpr int abort_ms_max = 500;  // Time before ranks of an aborted job are killed.
constexpr int hold_ms = 1000;      // Time to hear how a missing rank has ended.

}  // namespace

void Launcher::handle_agent(HostAgent& agent) {
  for (Frame frame; agent.link->stream().next(frame);) handle(agent, frame);
  if (agent.ready) {
    std::string said = agent.link->take_complaints();
    if (!said.empty() && said.back() == '\n') said.pop_back();
    if (!said.empty() && !finishing_) err_.say(said);
  }
  if (!agent.link->stream().open()) handle_end_of(agent);
}

void Launcher::handle_end_of(HostAgent& agent) {
  agent.gone = true;
  agent.link->read_complaints();
  const std::string& trouble = agent.link->stream().trouble();
  std::string why = agent.link->last_complaint();
  if (why.empty()) why = trouble.empty() ? "the connection has ended" : trouble;
  if (finishing_) return;
  if (!agent.ready && agent.spare) return lose_spare(agent, "no agent there: " + why);
  if (!agent.ready)
    return refuse(Error::run("host " + agent.host->name + ": no agent there: " + why));
  const std::string reason = "host " + agent.host->name + ": its agent is lost: " + why;
  for (const std::uint32_t rank : agent.ranks) {
    if (outcome_.has_ended(rank) || growth_.ends_start(rank, reason)) continue;
    outcome_.failed(rank, reason);
    notify_lost(rank);
  }
  release_abort();
}

// What was to start there cannot; all others go on.
void Launcher::lose_spare(HostAgent& agent, const std::string& why) {
  agent.gone = true;
  agent.ready_by = Deadline::never();
  for (const std::uint32_t rank : agent.ranks)
    growth_.ends_start(rank, "host " + agent.host->name + ": " + why);
}

void Launcher::handle_ready(HostAgent& agent, const std::string& version) {
  if (version != weft::version()) {
    const std::string why = "has weft " + version + ", and this is " +
                            std::string(weft::version()) +
                            ": install the same, or name it with --remote-weft";
    if (agent.spare) return lose_spare(agent, why);
    return refuse(Error::run("host " + agent.host->name + " " + why));
  }
  agent.ready = true;
  if (agent.spare) {
    agent.ready_by = Deadline::never();
    return agent.send_held();
  }
  HostJob part = growth_.share_of(*agent.host);
  part.ranks = worlds_.ranks();
  part.here = agent.host->ranks;
  const std::string bytes = to_bytes(part);
  if (bytes.size() >= frame_size_max)
    return refuse(Error::input("arguments and environment take more than 16 MiB"));
  agent.send(ToAgent::job, bytes);
  agent.send_held();  // Input may have come before.
  const auto ready = [](const HostAgent& one) { return one.ready || one.spare; };
  if (std::all_of(agents_.begin(), agents_.end(), ready)) ready_by_ = Deadline::never();
}

void Launcher::handle(HostAgent& agent, const Frame& frame) {
  FieldReader in(frame.body);
  const auto kind = static_cast<FromAgent>(frame.kind);
  if (kind == FromAgent::ready) return handle_ready(agent, in.text());
  if (kind == FromAgent::trouble) {
    const auto broken = static_cast<Broken>(in.number_up_to(static_cast<int>(Broken::peer)));
    return refuse(Error(broken, "host " + agent.host->name + ": " + in.text()));
  }
  if (kind == FromAgent::explained) return handle_explained(agent, in.text());
  if (kind == FromAgent::input_taken) {
    input_room_ += in.number_up_to(window_bytes);
    return;
  }
  if (kind == FromAgent::card) return handle_card(frame);
  if (kind == FromAgent::output) return handle_output(agent, in);
  if (kind == FromAgent::line_end) return;
  if (kind == FromAgent::request) return growth_.hear_request(in);
  if (kind == FromAgent::started) return growth_.hear_started(in);
  const std::uint32_t rank = in.number_up_to(worlds_.ranks() - 1);
  if (!in.broken()) handle_rank(kind, rank, in);
}

void Launcher::handle_rank(FromAgent kind, std::uint32_t rank, FieldReader& in) {
  if (kind == FromAgent::seated) outcome_.sat(rank);
  if (kind == FromAgent::left) {
    outcome_.left(rank);
    growth_.forget(rank);
    tell_leaving(worlds_.of(rank));
  }
  if (kind == FromAgent::resilience) {
    const auto most = static_cast<std::uint32_t>(Resilience::recovers);
    outcome_.set_resilience(rank, static_cast<Resilience>(in.number_up_to(most)));
    consider_grace();
  }
  // Ranks that we end ourselves are reported as lost too; that is no failure.
  if (kind == FromAgent::lost && !ending_ && interrupted_ == 0 &&
      !growth_.ends_start(rank, outcome_.name(rank) + " ended before it met who asked for it") &&
      outcome_.lost(rank, outcome_.others_run(rank, ranks_of(worlds_.together(worlds_.of(rank))))))
    notify_lost(rank);
  if (kind == FromAgent::abort) {
    const auto code = in.number_up_to(std::numeric_limits<std::uint32_t>::max());
    const bool for_loss = in.number_up_to(1) != 0;
    handle_abort({rank, code, in.text()}, for_loss);
  }
  if (kind == FromAgent::ended) handle_ended(rank, static_cast<int>(in.number()));
}

void Launcher::handle_ended(std::uint32_t rank, int status) {
  out_.end(rank);
  err_.end(rank);
  const bool ended_start =
      !ending_ && interrupted_ == 0 &&
      growth_.ends_start(rank, outcome_.name(rank) + " ended with code " +
                                   std::to_string(code_of(status)) +
                                   " before it met who asked for it in MPI_Init");
  const bool counts = !ending_ && interrupted_ == 0 && !ended_start;
  // Another rank may have missed this one, and aborted the job, before we hear why.
  const bool crashed = is_crash(status) && interrupted_ == 0 && !ended_start;
  if (outcome_.ended(rank, status, counts || crashed)) {
    if (crashed) said_reason_ = false;
    print_reason();
    notify_lost(rank);
    release_abort();
  }
  growth_.forget(rank);
  check_exchanges();
}

void Launcher::handle_explained(HostAgent& agent, std::string text) {
  if (!text.empty() && text.back() == '\n') text.pop_back();
  // Beside a program's output this goes to standard error; without a program it is the result.
  Printer& printer = job_.words.empty() ? out_ : err_;
  printer.say("host " + agent.host->name + ":\n" + text);
  if (job_.words.empty())
    for (const std::uint32_t rank : agent.host->ranks) outcome_.ended(rank, 0, false);
}

void Launcher::handle_output(HostAgent& agent, FieldReader& in) {
  const std::uint32_t rank = in.number_up_to(worlds_.ranks() - 1);
  const std::uint64_t stream = in.number();
  const std::string bytes = in.text();
  if (!in.whole()) return;
  (stream == 2 ? err_ : out_).add(rank, bytes);
  agent.owed += bytes.size();
}

void Launcher::handle_card(const Frame& frame) {
  FieldReader in(frame.body);
  const CardPart part = read_card_part(in);
  if (!in.whole() || part.rank >= worlds_.ranks()) return;
  World& world = worlds_.of(part.rank);
  for (const CardPart& each : world.exchanges.add(part)) {
    FieldWriter body;
    write(body, each);
    agents_.send_to_all(ToAgent::cards, body.take());
  }
  growth_.hear_cards(world);
  check_exchanges();
}

// A rank that has ended will never send its card.
void Launcher::check_exchanges() {
  const auto gone = [this](std::uint32_t rank) { return outcome_.gone(rank); };
  for (World& world : worlds_.all()) {
    while (const auto rank = world.exchanges.give_up(gone)) {
      const std::string why = outcome_.name(*rank) + " ended before it met the others in MPI_Init";
      FieldWriter body;
      body.number(world.first);
      body.text(why);
      agents_.send_to_all(ToAgent::failed, body.take());
      if (world.life == World::Life::ending) continue;
      if (outcome_.has_ended(*rank)) outcome_.failed(*rank, why);
      begin_grace(failure_of(world));
    }
  }
}

void Launcher::handle_abort(Abort abort, bool for_loss) {
  if (ending_ || interrupted_ != 0) return;
  if (growth_.ends_start(abort.rank, outcome_.name(abort.rank) + ": " + abort.text)) return;
  // How the missing rank ended is the cause: known in a moment, and said first.
  if (for_loss && outcome_.reason().empty()) {
    if (!held_abort_) held_until_ = Deadline::in_ms(hold_ms);
    if (!held_abort_) held_abort_ = std::move(abort);
    return;
  }
  end_for(abort);
}

void Launcher::release_abort() {
  held_until_ = Deadline::never();
  if (!held_abort_) return;
  const Abort abort = *std::exchange(held_abort_, {});
  if (!ending_ && interrupted_ == 0) end_for(abort);
}

void Launcher::end_for(const Abort& abort) {
  std::string line = abort.text;
  for (char& c : line)
    if (c == '\n' || c == '\r') c = ' ';
  err_.say("weft run: " + outcome_.name(abort.rank) + ": " +
           (line.empty() ? "aborted the job with code " + std::to_string(abort.code) : line));
  // Failures that follow from another rank's failure are not the cause.
  if (outcome_.code() == 0 && outcome_.reason_of_loss().empty()) {
    const int low = static_cast<int>(abort.code & 0xff);
    fixed_code_ = abort.code != 0 && low == 0 ? 1 : low;
    said_reason_ = true;
  }
  end_worlds(worlds_.together(worlds_.of(abort.rank)), abort_ms_max);
}

void Launcher::handle_signal() {
  signalfd_siginfo about = {};
  while (::read(signals_, &about, sizeof about) == sizeof about) {
    const auto number = static_cast<int>(about.ssi_signo);
    if (number == SIGCHLD) continue;  // Agents report through their streams.
    if (number == SIGINT || number == SIGTERM || number == SIGHUP) {
      interrupt(number);
      continue;
    }
    agents_.send_to_all(ToAgent::signal, {static_cast<std::uint64_t>(number)});
    if (number != SIGTSTP) continue;
    for (HostAgent& agent : agents_)
      if (!agent.gone) agent.link->stream().write_now();
    ::raise(SIGSTOP);
  }
}

void Launcher::read_input() {
  std::array<char, 16 << 10> bytes;
  const ssize_t size = ::read(0, bytes.data(), std::min(bytes.size(), input_room_));
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
  const auto rank_0 = std::find_if(agents_.begin(), agents_.end(), [](const HostAgent& agent) {
    return !agent.host->ranks.empty() && agent.host->ranks.front() == 0;
  });
  FieldWriter body;
  if (size > 0) {
    input_room_ -= static_cast<std::size_t>(size);
    body.text({bytes.data(), static_cast<std::size_t>(size)});
  } else {
    input_ended_ = true;
  }
  const ToAgent kind = size > 0 ? ToAgent::input : ToAgent::input_end;
  if (rank_0 != agents_.end() && !rank_0->gone) rank_0->send(kind, body.take());
}

}  // namespace weft::launch
