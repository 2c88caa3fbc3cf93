// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include <weft/message/coll/choose.hpp>
#include <weft/message/coll/few_connections.hpp>
#include <weft/message/conn/managed.hpp>
#include <weft/message/mpi/process.hpp>
#include <weft/message/mpi/runtime.hpp>
#include <weft/program/rank_process/rank_process.hpp>
#include <weft/program/rank_process/remote_rank.hpp>
#include <weft/program/real_run/shared_blocks.hpp>
#include <weft/program/real_run/singleton.hpp>

namespace weft {

namespace {

// Lives as long as the process: exit handlers of the program may still call the library.
class SimulatedRuntime final : public mpi::Runtime, public RemoteRank::Reporter {
 public:
  void join() override;
  void leave() override {
    if (managed_ != nullptr) managed_->leave();
    rank_->leave();
  }
  void leave_at_exit() override { leaves_at_exit_ = true; }
  [[noreturn]] void abort(RankId, int code, const std::string& message) override;
  std::string processor_name(RankId) const override {
    return rank_ == nullptr ? "localhost" : rank_->welcome().processor_name;
  }
  int thread_level() const override { return MPI_THREAD_SERIALIZED; }
  std::uint32_t node_of(RankId rank) const override {
    return rank_ == nullptr ? 0 : rank_->welcome().nodes[rank.index];
  }
  Result<std::unique_ptr<mpi::SharedBlock>> make_shared(std::size_t size) override {
    return rank_ == nullptr ? mpi::make_block_of_process(size) : make_block_of_host(size);
  }
  Result<std::unique_ptr<mpi::SharedBlock>> open_shared(const mpi::SharedTicket& ticket,
                                                        std::size_t size) override {
    return open_block_of_host(ticket, size);
  }

  void place_memory(const void* data, std::size_t size, int socket) override {
    if (rank_ != nullptr) rank_->place_memory(data, size, socket);
  }
  void begin_window(const std::string& name) override {
    if (rank_ != nullptr) rank_->begin_window(name);
  }
  void end_window() override {
    if (rank_ != nullptr) rank_->end_window();
  }
  void note(const std::string& text) override {
    if (rank_ != nullptr) rank_->note(text);
  }
  bool recall(std::uint64_t key, void* data, std::size_t size) override {
    return rank_ != nullptr && rank_->recall(key, data, size);
  }
  void remember(std::uint64_t key, const void* data, std::size_t size) override {
    if (rank_ != nullptr) rank_->remember(key, data, size);
  }

  RankReport report() override;
  // The process ends in order.
  void finish();
  // The process is a copy of a rank's, and none itself.
  void forget();
  const RemoteRank* rank() const { return rank_.get(); }
  bool is_main_thread() const { return ::pthread_equal(main_thread_, ::pthread_self()) != 0; }

 private:
  void choose_algorithms();

  std::unique_ptr<RemoteRank> rank_;            // Null: not joined yet.
  std::unique_ptr<const conn::Layout> layout_;  // Null: connections cost nothing.
  std::unique_ptr<conn::Managed> managed_;
  mpi::Process* process_ = nullptr;
  pthread_t main_thread_{};
  bool leaves_at_exit_ = false;
  coll::Usage algorithm_usage_;
  coll::Choices choices_;
};

SimulatedRuntime* runtime = nullptr;  // Null: this process is not a simulated rank.

// The socket that the simulator gave; -1: it is not there any more.
int given_socket() {
  const char* const text = std::getenv(rank_channel_variable);
  if (text == nullptr) return -1;
  const int socket = std::atoi(text);
  int domain = 0;
  socklen_t size = sizeof domain;
  const bool is_ours =
      ::getsockopt(socket, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 && domain == AF_UNIX;
  return is_ours ? socket : -1;
}

[[noreturn]] void give_up(const std::string& why) {
  std::fprintf(stderr, "weft: error: %s\n", why.c_str());
  std::fflush(nullptr);
  ::_exit(1);
}

// Functions of this library stand before those of the one that a program was built for, but its
// constants are others. Empty if there is no such library.
std::string other_mpi_library() {
  std::string found;
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* out) {
        const std::string_view path(info->dlpi_name == nullptr ? "" : info->dlpi_name);
        const std::string_view name = path.substr(path.rfind('/') + 1);
        for (const std::string_view other : {"libmpi.so", "libmpich.so", "libmpi_mpich"})
          if (name.starts_with(other)) *static_cast<std::string*>(out) = path;
        return 0;
      },
      &found);
  return found;
}

void SimulatedRuntime::join() {
  if (rank_ != nullptr || !has_rank_channel()) return;  // What a rank starts later runs alone.
  const int socket = given_socket();
  if (socket < 0)
    give_up(
        "the way to the simulator is closed: a program that starts this one closes all "
        "descriptors (Python's subprocess unless close_fds=False)");
  if (const std::string other = other_mpi_library(); !other.empty())
    give_up("the program was built for " + other +
            "; build it for the library of the standard ABI (libmpi_abi.so), with weft cc or "
            "MPICC=weft-cc");
  // Programs that this one starts are no ranks.
  ::unsetenv(rank_channel_variable);
  ::fcntl(socket, F_SETFD, FD_CLOEXEC);
  main_thread_ = ::pthread_self();
  rank_ = std::make_unique<RemoteRank>(RankChannel(socket), *this);
  choose_algorithms();
  if (layout_ != nullptr)
    managed_ =
        std::make_unique<conn::Managed>(rank_->fabric(), *layout_, rank_->welcome().connections);
  const Fabric network = managed_ == nullptr ? rank_->fabric() : managed_->fabric();
  // Never freed, as nobody knows who calls last.
  process_ = new mpi::Process(network, rank_->welcome().messages, *this);
  process_->choices = &choices_;
  if (rank_->welcome().has_timeline) process_->profile.listener = rank_.get();
  process_->take_over(mpi::self());
  Current::set_everywhere(&process_->fabric, process_);
}

void SimulatedRuntime::choose_algorithms() {
  const RankWelcome& welcome = rank_->welcome();
  for (const std::string& text : welcome.forced_algorithms) {
    if (Status forced = choices_.force(text); !forced) rank_->abort(2, forced.error().text());
  }
  choices_.set_machine({welcome.grid});
  choices_.set_usage(algorithm_usage_);
  if (welcome.groups.empty()) return;
  layout_ = std::make_unique<const conn::Layout>(welcome.groups);
  choices_.set_groups(layout_->groups(), bundling_of(*layout_, welcome.connections));
}

void SimulatedRuntime::abort(RankId, int code, const std::string& message) {
  if (rank_ != nullptr) rank_->abort(code, message);
  std::fprintf(stderr, "weft: error: %s\n", message.c_str());
  std::fflush(nullptr);
  ::_exit(code == 0 ? 1 : code);
}

RankReport SimulatedRuntime::report() {
  RankReport report;
  if (process_ == nullptr) return report;
  for (const mpi::Profile::Record& record : process_->profile.records())
    report.calls.push_back({record.call, record.count, record.bytes, record.inside});
  for (const auto& [name, calls] : algorithm_usage_.by_name())
    report.algorithms.push_back({name, calls});
  const mp::Messenger::Use& use = process_->messenger.use();
  report.eager = use.eager;
  report.rendezvous = use.rendezvous;
  report.unexpected = use.unexpected;
  report.clock_reads = process_->clock_reads();
  if (managed_ != nullptr) report.connections = managed_->counts();
  report.running = process_->running();
  return report;
}

void SimulatedRuntime::finish() {
  if (rank_ == nullptr) return;
  if (leaves_at_exit_ && !process_->running() && !process_->has_left) {
    process_->has_left = true;
    leave();
  }
  rank_->tell_report();
}

void SimulatedRuntime::forget() {
  rank_.release()->close();
}

}  // namespace

bool has_rank_channel() {
  return std::getenv(rank_channel_variable) != nullptr;
}

void begin_rank_process() {
  runtime = new SimulatedRuntime;
  begin_singleton(*runtime);
  std::setvbuf(stdout, nullptr, _IOLBF, 0);  // Lines belong to the time at which they are printed.
  std::atexit([] {
    if (runtime != nullptr) runtime->finish();
  });
  ::pthread_atfork(nullptr, nullptr, [] {
    if (runtime != nullptr && runtime->rank() != nullptr) runtime->forget();
    runtime = nullptr;
  });
}

bool at_remote_rank() {
  return runtime != nullptr && runtime->rank() != nullptr && runtime->is_main_thread();
}

}  // namespace weft
