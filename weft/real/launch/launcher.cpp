// SPDX-License-Identifier: Apache-2.0
#include "weft/real/launch/launcher.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <weft/base/quantity.hpp>
#include <weft/base/shell_word.hpp>
#include <weft/real/launch/descendants.hpp>
#include <weft/real/launch/launcher_loop.hpp>

namespace weft::launch {
namespace {

constexpr int ready_ms_max = 60'000;   // Time for agents to start.
constexpr int finish_ms_max = 15'000;  // Time for agents to clean up.
constexpr int kill_after_ms = 2'000;   // Time between asking ranks to end and killing them.
// After a signal or at the time limit all is over within 2 s, unless --grace asks for more: ranks
// are killed 1.5 s later at most, agents have 0.2 s to report that, and so have readers.
constexpr int stop_kill_ms = 500;    // Time between asking ranks to end and killing them.
constexpr int stop_report_ms = 200;  // Time for agents to report that ranks were killed.
constexpr int stop_flush_ms = 200;   // Time for readers after that.
constexpr int stalled_ms = 500;      // A reader that takes nothing for so long has stalled.
constexpr int code_timeout = 124;

std::vector<std::string> hosts_by_rank(const LaunchJob& job) {
  std::size_t count = 0;
  for (const HostRanks& host : job.hosts) count += host.ranks.size();
  std::vector<std::string> names(count);
  for (const HostRanks& host : job.hosts)
    for (const std::uint32_t rank : host.ranks) names[rank] = host.name;
  return names;
}

// ssh and its like hand the words to a shell on the other host; these start them as they are.
bool starts_words_itself(const std::vector<std::string>& remote_shell) {
  for (const std::string& word : remote_shell) {
    const std::string_view name = std::string_view(word).substr(word.rfind('/') + 1);
    for (const char* const known :
         {"srun", "jsrun", "docker", "podman", "kubectl", "nsenter", "lxc-attach"})
      if (name == known) return true;
    if (name != "sudo" && name != "env") return false;
  }
  return false;
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
  const bool as_it_is = starts_words_itself(job.remote_shell);
  for (const std::string& word : job.remote_agent)
    words.push_back(as_it_is ? word : shell_word(word));
  return words;
}

}  // namespace

Launcher::Launcher(const LaunchJob& job)
    : job_(job),
      outcome_(hosts_by_rank(job)),
      out_(1, job.label, job.printed),
      err_(2, job.label, job.printed),
      worlds_(static_cast<std::uint32_t>(hosts_by_rank(job).size())),
      growth_({job_, secret_, agents_, worlds_, outcome_,
               [this](HostAgent& agent) { return start(agent); }}) {}

Launcher::~Launcher() {
  if (signals_ < 0) return;
  ::close(signals_);
  ::sigprocmask(SIG_SETMASK, &mask_before_, nullptr);
}

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
  ::sigprocmask(SIG_BLOCK, &caught, &mask_before_);
  signals_ = ::signalfd(-1, &caught, SFD_CLOEXEC | SFD_NONBLOCK);
  if (signals_ < 0) return Error::run(std::string("signals: ") + std::strerror(errno));
  // References to them stay valid while agents are added.
  agents_.list.reserve(job_.hosts.size() + job_.spare_hosts.size());
  for (const HostRanks& host : job_.hosts) {
    agents_.list.emplace_back().host = &host;
    if (Status started = start(agents_.list.back()); !started) return started;
  }
  for (const HostRanks& host : job_.spare_hosts) {
    HostAgent& agent = agents_.list.emplace_back();
    agent.host = &host;
    agent.spare = agent.gone = true;
  }
  return {};
}

Status Launcher::start(HostAgent& agent) {
  const HostRanks& host = *agent.host;
  auto link = host.local ? AgentLink::fork_local(job_.places)
                         : AgentLink::start_remote(remote_command(job_, host.name));
  if (!link) return std::move(link).error().during("host " + host.name);
  agent.ranks = host.ranks;
  agent.link = *std::move(link);
  agent.gone = false;
  if (agent.spare) agent.ready_by = Deadline::in_ms(ready_ms_max);
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
  flush_output();
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
      agents_.send_to_all(ToAgent::finish, "");
      for (HostAgent& agent : agents_) agent.gone = agent.gone || !agent.ready;
      finish_by_ = Deadline::in_ms(finish_ms_max);
    }
    if (finish_by_.passed() || stop_by_.passed()) return;  // Remaining agents are killed.
  }
}

// A stalled reader is waited for, as a program would wait, until a signal or the time limit ends
// that.
void Launcher::flush_output() {
  finishing_ = true;
  grace_ = finish_by_ = ready_by_ = Deadline::never();
  failures_.clear();
  for (std::size_t before = 0;;) {
    out_.end_all();
    err_.end_all();
    if (!out_.writing() && !err_.writing()) break;
    const std::size_t left = out_.backlog() + err_.backlog();
    if (left != before) stalled_at_ = Deadline::in_ms(stalled_ms);
    before = left;
    if (drop_by_.passed() || (drop_by_.set() && stalled_at_.passed())) break;
    turn();
  }
  drop_output();
}

// Says how much nobody has read. What weft prints later shall not wait for such a reader either.
void Launcher::drop_output() {
  for (Printer* const printer : {&out_, &err_}) {
    if (!printer->writing()) continue;
    printer->give_up();
    const int nothing = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    ::dup2(nothing, printer->descriptor());
    ::close(nothing);
  }
  const std::size_t dropped = out_.dropped() + err_.dropped();
  if (dropped == 0) return;
  const std::size_t rounded = dropped < 10'000 ? dropped : dropped / 1000 * 1000;
  err_.say("weft run: nobody read the output: " +
           weft::to_text(Bytes{static_cast<std::int64_t>(rounded)}) + " dropped");
  err_.write_now();
}

Deadline Launcher::next_deadline() const {
  Deadline next = sooner(sooner(grace_, timeout_), sooner(finish_by_, ready_by_));
  for (const Failure& failure : failures_) next = sooner(next, failure.grace);
  for (const HostAgent& agent : agents_.list) next = sooner(next, agent.ready_by);
  next = sooner(next, sooner(stop_by_, sooner(drop_by_, stalled_at_)));
  return sooner(sooner(next, held_until_), sooner(out_.next(), err_.next()));
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
  agents_.send_to_all(ToAgent::output_closed, {static_cast<std::uint64_t>(printer.descriptor())});
}

void Launcher::confirm_output() {
  // Without credit ranks wait for the reader of their output, but not once they are to end.
  if (!stop_by_.set() && out_.backlog() + err_.backlog() > window_bytes) return;
  for (HostAgent& agent : agents_) {
    if (agent.owed == 0 || agent.gone) continue;
    FieldWriter body;
    body.number(agent.owed);
    agent.send(ToAgent::output_taken, body.take());
    agent.owed = 0;
  }
}

void Launcher::check_deadlines() {
  for (HostAgent& agent : agents_)
    if (agent.ready_by.passed()) lose_spare(agent, "no answer within a minute");
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
    const int kill_ms = stop_grace_ms() + stop_kill_ms;
    stop(kill_ms);
    if (ready_by_.set()) return refuse(Error::run("out of time while starting"));
    end_ranks(kill_ms);
  }
  if (held_until_.passed()) release_abort();
  if (grace_.passed()) {
    grace_ = Deadline::never();
    print_reason();
    end_ranks(interrupted_ != 0 ? stop_kill_ms : kill_after_ms);
  }
  const auto due = std::find_if(failures_.begin(), failures_.end(),
                                [](const Failure& one) { return one.grace.passed(); });
  if (due == failures_.end()) return;
  const std::vector<World*> worlds = due->worlds;
  failures_.erase(due);
  print_reason();
  end_worlds(worlds, kill_after_ms);
}

int Launcher::stop_grace_ms() const {
  return static_cast<int>(job_.stop_grace.in_ps() / 1'000'000'000);
}

// The job is to end, and its ranks are killed by then.
void Launcher::stop(int ms_until_kill) {
  stop_by_ = sooner(stop_by_, Deadline::in_ms(ms_until_kill + stop_report_ms));
  drop_by_ = sooner(drop_by_, Deadline::in_ms(ms_until_kill + stop_report_ms + stop_flush_ms));
  out_.keep_at_most(window_bytes);
  err_.keep_at_most(window_bytes);
}

void Launcher::interrupt(int number) {
  if (interrupted_ != 0) {
    stop(0);
    return end_ranks(0);
  }
  interrupted_ = number;
  stop(stop_grace_ms() + stop_kill_ms);
  if (ready_by_.set()) return refuse(Error::run("interrupted while starting"));
  agents_.send_to_all(ToAgent::signal, {static_cast<std::uint64_t>(number)});
  agents_.send_to_all(ToAgent::signal, {SIGCONT});
  grace_ = Deadline::in_ms(stop_grace_ms());
}

// The ranks that are connected to this one cannot continue without it, unless all of them can.
void Launcher::notify_lost(std::uint32_t rank) {
  if (ending_ || finishing_) return;
  World& world = worlds_.of(rank);
  // Nobody misses a rank that has left, whatever code its program ends with then. Who still has its
  // goodbye to read would take it for lost.
  if (!outcome_.has_left(rank)) agents_.send_to_all(ToAgent::lost, {rank});
  tell_leaving(world);
  check_exchanges();
  failure_of(world);
  growth_.forget(rank);
  consider_grace();
}

// One failure for all worlds that are connected now.
Failure& Launcher::failure_of(World& world) {
  const std::vector<World*> together = worlds_.together(world);
  for (Failure& failure : failures_)
    if (std::is_permutation(together.begin(), together.end(), failure.worlds.begin(),
                            failure.worlds.end()))
      return failure;
  failures_.push_back({together, Deadline::never()});
  return failures_.back();
}

// While nobody needs to end, the time of grace does not begin; what ranks say may change that.
void Launcher::consider_grace() {
  if (ending_ || finishing_ || interrupted_ != 0) return;
  for (Failure& failure : failures_) {
    if (!outcome_.goes_on(ranks_of(failure.worlds))) {
      begin_grace(failure);
    } else {
      failure.grace = Deadline::never();
    }
  }
}

// Once is enough: ranks leave together, and this is for those that missed the moment.
void Launcher::tell_leaving(World& world) {
  if (world.told_leaving) return;
  bool lost = false, left = false;
  for (std::uint32_t rank = world.first; rank < world.first + world.ranks; ++rank) {
    lost = lost || outcome_.is_lost(rank);
    left = left || outcome_.has_left(rank);
  }
  if (!lost || !left) return;
  world.told_leaving = true;
  agents_.send_to_all(ToAgent::others_leave, {world.first});
}

void Launcher::begin_grace(Failure& failure) {
  if (!ending_ && !finishing_ && !failure.grace.set())
    failure.grace = Deadline::in_ms(job_.grace.in_ps() / 1'000'000'000);
}

void Launcher::print_reason() {
  if (said_reason_ || interrupted_ != 0 || refusal_) return;
  const std::string reason =
      outcome_.reason().empty() ? outcome_.reason_of_loss() : outcome_.reason();
  if (!reason.empty() && reason != said_) err_.say("weft run: " + reason);
  said_ = reason;
  said_reason_ = !reason.empty();
}

// Others than these may have nothing to do with the reason.
void Launcher::end_worlds(const std::vector<World*>& worlds, int ms_until_kill) {
  const JobOutcome::Among among = ranks_of(worlds);
  if (outcome_.all_ended([&](std::uint32_t rank) { return !among(rank); }))
    return end_ranks(ms_until_kill);
  for (World* const world : worlds) growth_.end_world(*world, ms_until_kill);
}

void Launcher::end_ranks(int ms_until_kill) {
  ending_ = true;
  grace_ = Deadline::never();
  failures_.clear();
  agents_.send_to_all(ToAgent::end, {static_cast<std::uint64_t>(ms_until_kill)});
}

// The job could not be started everywhere, so no rank may run.
void Launcher::refuse(Error error) {
  if (!refusal_) refusal_ = std::move(error);
  ending_ = finishing_ = true;
  agents_.send_to_all(ToAgent::finish, "");
  for (HostAgent& agent : agents_) {
    if (!agent.ready) agent.gone = true;
  }
  finish_by_ = Deadline::in_ms(finish_ms_max);
}

Result<int> launch_job(const LaunchJob& job) {
  return Launcher(job).run();
}

}  // namespace weft::launch
