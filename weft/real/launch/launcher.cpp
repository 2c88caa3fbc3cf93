// SPDX-License-Identifier: Apache-2.0
#include "weft/real/launch/launcher.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include <sys/random.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <weft/base/quantity.hpp>
#include <weft/real/launch/descendants.hpp>
#include <weft/real/launch/launcher_loop.hpp>

namespace weft::launch {
namespace {

constexpr int ready_ms_max = 60'000;   // Time for agents to start.
constexpr int finish_ms_max = 15'000;  // Time for agents to clean up.
constexpr int kill_after_ms = 2'000;   // Time between asking ranks to end and killing them.
constexpr int code_timeout = 124;

std::vector<std::string> hosts_by_rank(const LaunchJob& job) {
  std::size_t count = 0;
  for (const HostRanks& host : job.hosts) count += host.ranks.size();
  std::vector<std::string> names(count);
  for (const HostRanks& host : job.hosts)
    for (const std::uint32_t rank : host.ranks) names[rank] = host.name;
  return names;
}

// Quotes a word for the remote shell, which evaluates the command that ssh passes on.
std::string quoted(const std::string& word) {
  constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+./";
  if (word.find_first_not_of(plain) == std::string::npos) return word;
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::vector<std::string> remote_command(const LaunchJob& job, const std::string& host) {
  std::vector<std::string> words = job.remote_shell;
  bool named = false;
  for (std::string& word : words) {
    const std::size_t at = word.find("%h");
    if (at == std::string::npos) continue;
    word.replace(at, 2, host);
    named = true;
  }
  if (!named) words.push_back(host);
  for (const std::string& word : job.remote_agent) words.push_back(quoted(word));
  return words;
}

}  // namespace

Launcher::Launcher(const LaunchJob& job)
    : job_(job),
      ranks_(static_cast<std::uint32_t>(hosts_by_rank(job).size())),
      outcome_(hosts_by_rank(job)),
      out_(1, job.label, job.printed),
      err_(2, job.label, job.printed),
      exchanges_(ranks_) {}

Status Launcher::open() {
  if (::getrandom(secret_.data(), secret_.size(), 0) != static_cast<ssize_t>(secret_.size()))
    return Error::run("the system gives no random numbers for the job's secret");
  adopt_descendants();
  std::signal(SIGPIPE, SIG_IGN);
  sigset_t caught;
  sigemptyset(&caught);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT, SIGCHLD}) {
    // Signals that the user had us ignore (nohup) are ignored by the ranks too.
    struct sigaction before = {};
    ::sigaction(number, nullptr, &before);
    if (before.sa_handler != SIG_IGN) sigaddset(&caught, number);
  }
  ::sigprocmask(SIG_BLOCK, &caught, nullptr);
  signals_ = ::signalfd(-1, &caught, SFD_CLOEXEC | SFD_NONBLOCK);
  if (signals_ < 0) return Error::run(std::string("signals: ") + std::strerror(errno));
  agents_.reserve(job_.hosts.size());
  for (const HostRanks& host : job_.hosts)
    if (Status started = start(host); !started) return started;
  return {};
}

Status Launcher::start(const HostRanks& host) {
  auto link = host.local ? AgentLink::fork_local(job_.places)
                         : AgentLink::start_remote(remote_command(job_, host.name));
  if (!link) return std::move(link).error().during("host " + host.name);
  agents_.emplace_back();
  agents_.back().host = &host;
  agents_.back().link = *std::move(link);
  return {};
}

Result<int> Launcher::run() {
  if (Status opened = open(); !opened) {
    end_descendants([](pid_t, int) {});
    return std::move(opened).error();
  }
  if (job_.timeout > Duration::zero())
    timeout_ = Deadline::in_ms(job_.timeout.in_ps() / 1'000'000'000);
  ready_by_ = Deadline::in_ms(ready_ms_max);
  loop();
  end_descendants([](pid_t, int) {});
  print_reason();
  out_.end_all();
  err_.end_all();
  while (out_.writing() || err_.writing()) {
    for (Printer* const printer : {&out_, &err_})
      if (printer->writing())
        set_.add(printer->descriptor(), POLLOUT, [printer] { printer->write_now(); });
    set_.turn(Deadline::never());
  }
  if (refusal_ && interrupted_ == 0 && !fixed_code_) return *std::move(refusal_);
  return exit_code();
}

int Launcher::exit_code() const {
  if (interrupted_ != 0) return 128 + interrupted_;
  if (fixed_code_) return *fixed_code_;
  return outcome_.code();
}

void Launcher::loop() {
  const auto gone = [](const HostAgent& agent) { return agent.gone; };
  while (!std::all_of(agents_.begin(), agents_.end(), gone)) {
    turn();
    if (!finishing_ && outcome_.all_ended()) {
      finishing_ = true;
      send_to_all(ToAgent::finish, "");
      finish_by_ = Deadline::in_ms(finish_ms_max);
    }
    if (finish_by_.passed()) return;  // Remaining agents are killed.
  }
}

Deadline Launcher::next_deadline() const {
  Deadline next = sooner(sooner(grace_, timeout_), sooner(finish_by_, ready_by_));
  return sooner(next, sooner(out_.next(), err_.next()));
}

void Launcher::turn() {
  for (HostAgent& agent : agents_)
    if (!agent.gone) wait_for(agent);
  set_.add(signals_, POLLIN, [this] { handle_signal(); });
  for (Printer* const printer : {&out_, &err_})
    if (printer->writing())
      set_.add(printer->descriptor(), POLLOUT, [this, printer] { write_printer(*printer); });
  const bool foreground = ::isatty(0) == 0 || ::tcgetpgrp(0) == ::getpgrp();
  if (!input_ended_ && input_room_ > 0 && foreground && !finishing_)
    set_.add(0, POLLIN, [this] { read_input(); });
  set_.turn(next_deadline());
  for (HostAgent& agent : agents_)
    if (!agent.gone) handle_agent(agent);
  out_.pump();
  err_.pump();
  confirm_output();
  check_deadlines();
}

void Launcher::wait_for(HostAgent& agent) {
  Stream& stream = agent.link->stream();
  set_.add(stream.in(), POLLIN, [&stream] { stream.read_now(); });
  if (stream.waiting() > 0) set_.add(stream.out(), POLLOUT, [&stream] { stream.write_now(); });
  set_.add(agent.link->complaints(), POLLIN, [&agent] { agent.link->read_complaints(); });
}

void Launcher::write_printer(Printer& printer) {
  if (printer.write_now()) return;
  // Ranks must notice a closed output as they would without us.
  send_to_all(ToAgent::output_closed, {static_cast<std::uint64_t>(printer.descriptor())});
}

void Launcher::confirm_output() {
  if (out_.backlog() + err_.backlog() > window_bytes) return;
  for (HostAgent& agent : agents_) {
    if (agent.owed == 0 || agent.gone) continue;
    FieldWriter body;
    body.number(agent.owed);
    agent.link->stream().send(static_cast<std::uint8_t>(ToAgent::output_taken), body.take());
    agent.owed = 0;
  }
}

void Launcher::check_deadlines() {
  if (ready_by_.passed()) {
    ready_by_ = Deadline::never();
    for (const HostAgent& agent : agents_) {
      if (!agent.ready)
        return refuse(Error::run("host " + agent.host->name + ": no answer within a minute; try: " +
                                 (job_.remote_shell.empty() ? "" : job_.remote_shell[0] + " ") +
                                 agent.host->name + " true"));
    }
  }
  if (timeout_.passed()) {
    timeout_ = Deadline::never();
    err_.say("weft run: the job has run for " + weft::to_text(job_.timeout) +
             ", its limit (--timeout): ended");
    if (!fixed_code_) fixed_code_ = code_timeout;
    said_reason_ = true;
    if (ready_by_.set()) return refuse(Error::run("out of time while starting"));
    end_ranks(kill_after_ms);
  }
  if (grace_.passed()) {
    grace_ = Deadline::never();
    print_reason();
    end_ranks(kill_after_ms);
  }
}

void Launcher::send_to_all(ToAgent kind, std::string_view body) {
  for (HostAgent& agent : agents_)
    if (agent.ready && !agent.gone)
      agent.link->stream().send(static_cast<std::uint8_t>(kind), body);
}

void Launcher::send_to_all(ToAgent kind, std::initializer_list<std::uint64_t> numbers) {
  FieldWriter body;
  for (const std::uint64_t number : numbers) body.number(number);
  send_to_all(kind, body.take());
}

// The job cannot continue without this rank.
void Launcher::notify_lost(std::uint32_t rank) {
  if (ending_ || finishing_) return;
  send_to_all(ToAgent::lost, {rank});
  check_exchanges();
  begin_grace();
}

void Launcher::begin_grace() {
  if (!ending_ && !finishing_ && !grace_.set())
    grace_ = Deadline::in_ms(job_.grace.in_ps() / 1'000'000'000);
}

void Launcher::print_reason() {
  if (said_reason_ || interrupted_ != 0 || refusal_) return;
  const std::string reason =
      outcome_.reason().empty() ? outcome_.reason_of_loss() : outcome_.reason();
  if (!reason.empty()) err_.say("weft run: " + reason);
  said_reason_ = !reason.empty();
}

void Launcher::end_ranks(int ms_until_kill) {
  ending_ = true;
  grace_ = Deadline::never();
  send_to_all(ToAgent::end, {static_cast<std::uint64_t>(ms_until_kill)});
}

// The job could not be started everywhere, so no rank may run.
void Launcher::refuse(Error error) {
  if (!refusal_) refusal_ = std::move(error);
  ending_ = finishing_ = true;
  send_to_all(ToAgent::finish, "");
  for (HostAgent& agent : agents_) {
    if (!agent.ready) agent.gone = true;
  }
  finish_by_ = Deadline::in_ms(finish_ms_max);
}

Result<int> launch_job(const LaunchJob& job) {
  return Launcher(job).run();
}

}  // namespace weft::launch
