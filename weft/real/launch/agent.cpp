// SPDX-License-Identifier: Apache-2.0
#include "weft/real/launch/agent.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <limits>
#include <sstream>
#include <utility>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <weft/base/version.hpp>
#include <weft/real/launch/agent_loop.hpp>
#include <weft/real/launch/descendants.hpp>
#include <weft/real/launch/environment.hpp>

namespace weft::launch {
namespace {

// Our own environment with the job's changes.
std::vector<std::string> merge_environment(const std::vector<std::string>& changes) {
  std::vector<std::string> all;
  const auto name_of = [](std::string_view entry) { return entry.substr(0, entry.find('=')); };
  for (std::string& entry : variables_beginning("")) {
    const bool changed =
        std::any_of(changes.begin(), changes.end(),
                    [&](const std::string& change) { return name_of(change) == name_of(entry); });
    if (!changed && name_of(entry) != seat_variable) all.push_back(std::move(entry));
  }
  for (const std::string& change : changes)
    if (name_of(change) != seat_variable) all.push_back(change);
  return all;
}

// The program is looked for in these folders first.
std::vector<std::string> with_path(const HostJob& job) {
  std::vector<std::string> words = job.words;
  if (job.path.empty() || words[0].starts_with('/')) return words;
  std::istringstream folders(job.path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    std::filesystem::path file = std::filesystem::path(folder) / words[0];
    if (file.is_relative()) file = std::filesystem::path(job.folder) / file;
    if (::access(file.c_str(), X_OK) != 0) continue;
    words[0] = file.string();
    break;
  }
  return words;
}

// A rank needs five descriptors here; it inherits the original limit.
rlimit limit_before = {};
void raise_descriptor_limit() {
  if (::getrlimit(RLIMIT_NOFILE, &limit_before) != 0) return;
  rlimit more = limit_before;
  more.rlim_cur = more.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &more);
}

}  // namespace

void Agent::report(FromAgent kind, std::initializer_list<std::uint64_t> numbers,
                   std::string_view text) {
  FieldWriter out;
  for (const std::uint64_t number : numbers) out.number(number);
  out.text(text);
  stream_.send(static_cast<std::uint8_t>(kind), out.take());
}

void Agent::report(FromAgent kind, std::initializer_list<std::uint64_t> numbers) {
  FieldWriter out;
  for (const std::uint64_t number : numbers) out.number(number);
  stream_.send(static_cast<std::uint8_t>(kind), out.take());
}

void Agent::send_all(SeatPacket kind, std::string_view body) {
  auto packet = std::make_shared<std::string>(1, static_cast<char>(kind));
  packet->append(body);
  for (const auto& rank : ranks_)
    if (rank->seated) rank->process.send(packet);
}

void Agent::send_world(std::uint32_t of, SeatPacket kind, std::string_view body) {
  auto packet = std::make_shared<std::string>(1, static_cast<char>(kind));
  packet->append(body);
  for (const auto& rank : ranks_)
    if (rank->seated && rank->job->has(of)) rank->process.send(packet);
}

int Agent::serve() {
  adopt_descendants();
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGCHLD, SIG_DFL);
  raise_descriptor_limit();
  sigset_t caught;
  sigemptyset(&caught);
  for (const int number : {SIGCHLD, SIGTERM, SIGHUP, SIGINT}) sigaddset(&caught, number);
  ::sigprocmask(SIG_BLOCK, &caught, nullptr);
  signals_ = ::signalfd(-1, &caught, SFD_CLOEXEC | SFD_NONBLOCK);
  stream_.say(agent_greeting);
  report(FromAgent::ready, {}, version());
  while (!done_ && stream_.open()) turn();
  kill_all();
  // Final messages are sent regardless of credit.
  for (const auto& rank : ranks_)
    for (const int stream : {1, 2})
      while (read_output(*rank, stream, window_bytes) > 0) {
      }
  flush();
  ::close(signals_);
  return 0;
}

// Sends the final messages if somebody still reads them.
void Agent::flush() {
  stream_.end_line(static_cast<std::uint8_t>(FromAgent::line_end));
  for (const Deadline deadline = Deadline::in_ms(5000);
       stream_.waiting() > 0 && stream_.open() && !deadline.passed();) {
    set_.add(stream_.out(), POLLOUT, [this] { stream_.write_now(); });
    set_.add(stream_.in(), POLLIN, [this] { stream_.read_now(); });
    set_.turn(deadline);
  }
}

void Agent::kill_all() {
  end_descendants([this](pid_t child, int status) { note_end(child, status); });
}

void Agent::turn() {
  stream_.end_line(static_cast<std::uint8_t>(FromAgent::line_end));
  set_.add(stream_.in(), POLLIN, [this] { stream_.read_now(); });
  if (stream_.waiting() > 0) set_.add(stream_.out(), POLLOUT, [this] { stream_.write_now(); });
  set_.add(signals_, POLLIN, [this] { handle_signal(); });
  for (const auto& rank : ranks_) wait_for(*rank);
  Deadline next = kill_at_;
  for (const auto& rank : ranks_) next = sooner(next, rank->kill_at);
  set_.turn(next);
  for (Frame frame; !done_ && stream_.next(frame);) handle(frame);
  if (kill_at_.passed()) {
    kill_at_ = Deadline::never();
    kill_all();
  }
  for (const auto& rank : ranks_) {
    if (rank->kill_at.passed()) {
      rank->kill_at = Deadline::never();
      if (!rank->reported) rank->process.signal(SIGKILL);
    }
    settle(*rank);
  }
}

void Agent::wait_for(LocalRank& rank) {
  RankProcess& process = rank.process;
  set_.add(process.seat(), POLLIN, [this, &rank] { handle_rank(rank); });
  if (process.sending()) set_.add(process.seat(), POLLOUT, [&process] { process.send_now(); });
  set_.add(process.holder(), POLLIN, [this, &rank] { check_holder(rank); });
  for (const int stream : {1, 2})
    if (window_ > 0)
      set_.add(process.output(stream), POLLIN,
               [=, this, &rank] { read_output(rank, stream, window_); });
  // POLLOUT also reports that the reader is gone.
  set_.add(process.input(), input_.empty() && !input_ended_ ? 0 : POLLOUT,
           [this] { feed_input(); });
}

void Agent::handle(const Frame& frame) {
  FieldReader in(frame.body);
  switch (static_cast<ToAgent>(frame.kind)) {
    case ToAgent::job:
      if (Status begun = begin(frame.body); !begun)
        report(FromAgent::trouble, {static_cast<std::uint64_t>(begun.error().broken())},
               begun.error().text());
      return;
    case ToAgent::cards:
      return relay_card(frame);
    case ToAgent::failed: {
      const std::uint32_t world = in.number_up_to(ranks_max);
      FieldWriter text;
      text.text(in.text());
      return send_world(world, SeatPacket::failed, text.take());
    }
    case ToAgent::lost:
      return send_all(SeatPacket::lost, frame.body);
    case ToAgent::others_leave:
      return send_world(in.number_up_to(ranks_max), SeatPacket::others_leave, "");
    case ToAgent::more:
      return start_more(frame.body);
    case ToAgent::end_world: {
      const std::uint32_t world = in.number_up_to(ranks_max);
      return end_world(world, in.number_up_to(std::numeric_limits<int>::max()));
    }
    case ToAgent::answer:
      return relay_answer(frame);
    case ToAgent::signal:
      if (const auto number = static_cast<int>(in.number_up_to(NSIG - 1)); number > 0)
        for (const auto& rank : ranks_)
          if (!rank->reported) rank->process.signal(number);
      return;
    case ToAgent::end:
      for (const auto& rank : ranks_) {
        if (rank->reported) continue;
        rank->process.signal(SIGTERM);
        rank->process.signal(SIGCONT);  // A stopped process would not see the signal.
      }
      kill_at_ = Deadline::in_ms(in.number_up_to(std::numeric_limits<int>::max()));
      return;
    case ToAgent::input:
      input_ += in.text();
      return feed_input();
    case ToAgent::input_end:
      input_ended_ = true;
      return feed_input();
    case ToAgent::output_taken:
      window_ = std::min<std::int64_t>(
          window_bytes, window_ + in.number_up_to(std::numeric_limits<std::uint32_t>::max()));
      return;
    case ToAgent::output_closed: {
      const int stream = in.number_up_to(2) == 2 ? 2 : 1;
      for (const auto& rank : ranks_) rank->process.close_output(stream);
      return;
    }
    case ToAgent::finish:
      done_ = true;
      return;
  }
}

Status Agent::begin(const std::string& body) {
  if (!ranks_.empty()) return Error(Broken::peer, "one job at a time");
  auto job = parse_host_job(body);
  if (!job) return std::move(job).error();
  job_ = std::make_shared<const HostJob>(*std::move(job));
  HostBinding places;
  if (places_) {
    auto decided = places_(*job_);
    if (!decided) return std::move(decided).error();
    places = *std::move(decided);
  }
  places.ranks.resize(job_->here.size());
  if (job_->explain) report(FromAgent::explained, {}, places.explanation);
  if (job_->words.empty()) return {};
  return start_ranks(job_, places.ranks);
}

Status Agent::start_ranks(const std::shared_ptr<const HostJob>& job,
                          const std::vector<RankBinding>& places) {
  const std::vector<std::string> environment = merge_environment(job->environment);
  const std::vector<std::string> words = with_path(*job);
  auto settings = parse_settings(job->settings);
  if (!settings) return std::move(settings).error();
  for (std::size_t i = 0; i < job->here.size(); ++i) {
    auto rank = std::make_unique<LocalRank>();
    rank->rank = job->here[i];
    rank->job = job;
    settings->ancestor = std::to_string(::getpid());
    settings->places = places[i].settings;
    rank->settings = to_text(*settings);
    if (rank->settings.size() > packet_size_max / 2)
      return Error::input("the settings take more than 32 KiB: name fewer rails");
    const auto before = [bind = places[i].in_child] {
      ::setrlimit(RLIMIT_NOFILE, &limit_before);
      if (bind) bind();
    };
    const RankStart how{words, environment, job->folder, rank->rank == 0, before};
    if (Status started = rank->process.start(how); !started) return started;
    ranks_.push_back(std::move(rank));
  }
  return {};
}

// Processors may be taken already, so ranks that come later are not bound to any.
void Agent::start_more(const std::string& body) {
  auto parsed = parse_host_job(body);
  if (!parsed) return;
  const auto job = std::make_shared<const HostJob>(*std::move(parsed));
  HostBinding places;
  Status done;
  if (places_) {
    if (auto decided = places_(*job); decided) {
      places = *std::move(decided);
    } else {
      done = std::move(decided).error();
    }
  }
  places.ranks.resize(job->here.size());
  if (done) done = start_ranks(job, places.ranks);
  report(FromAgent::started, {job->start}, done ? std::string() : done.error().text());
}

void Agent::end_world(std::uint32_t first, std::uint32_t ms_until_kill) {
  for (const auto& rank : ranks_) {
    if (rank->reported || rank->job->birth.first != first) continue;
    rank->process.signal(SIGTERM);
    rank->process.signal(SIGCONT);  // A stopped process would not see the signal.
    rank->kill_at = Deadline::in_ms(static_cast<int>(ms_until_kill));
  }
}

int serve_agent(int in, int out, const DecideBinding& places) {
  Agent agent(in, out, places);
  return agent.serve();
}

int serve_remote_agent(const DecideBinding& places) {
  // What programs and libraries print by mistake must not get between the frames.
  const int in = ::fcntl(0, F_DUPFD_CLOEXEC, 3), out = ::fcntl(1, F_DUPFD_CLOEXEC, 3);
  const int nothing = ::open("/dev/null", O_RDWR);
  ::dup2(nothing, 0);
  ::dup2(2, 1);
  if (nothing > 2) ::close(nothing);
  adopt_descendants();
  const pid_t guard = ::getpid();
  const pid_t agent = ::fork();
  if (agent == 0) {
    ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (::getppid() != guard) return 1;
    return serve_agent(in, out, places);
  }
  ::close(in);
  ::close(out);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) std::signal(number, SIG_IGN);
  while (agent > 0 && ::waitpid(agent, nullptr, 0) < 0 && errno == EINTR) {
  }
  end_descendants([](pid_t, int) {});
  return 0;
}

}  // namespace weft::launch
