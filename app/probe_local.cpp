// SPDX-License-Identifier: Apache-2.0
#include "probe_local.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <string>
#include <vector>

#include "output.hpp"
#include <fmt/format.h>
#include <mpi.h>
#include <sched.h>
#include <unistd.h>

#include <weft/base/copy.hpp>
#include <weft/network/probe/local.hpp>

namespace weft::app {
namespace {

constexpr int burst = 16;   // Short messages or calls that are timed together.
constexpr int batches = 6;  // Of each measurement, in every round.
constexpr int tag_data = 1, tag_done = 2;
constexpr std::size_t large_copy = std::size_t{16} << 20;
constexpr double until_asleep_s = 400e-6;  // Longer than a waiting rank polls.

double now_ns() {
  return MPI_Wtime() * 1e9;
}

// The package (socket) of the processor that this rank runs on; 0 if the system does not say.
int own_package() {
  std::ifstream file(fmt::format("/sys/devices/system/cpu/cpu{}/topology/physical_package_id",
                                 std::max(::sched_getcpu(), 0)));
  int package = 0;
  if (!(file >> package)) package = 0;
  return std::max(package, 0);
}

// How long this thread was ready but did not run; 0 if the system does not say.
double held_off_ns() {
  std::ifstream file("/proc/thread-self/schedstat");
  double ran = 0, waited = 0;
  return file >> ran >> waited ? waited : 0;
}

class LocalMeter {
 public:
  LocalMeter(const LocalRequest& request, const std::atomic<bool>& interrupted);
  ~LocalMeter();
  LocalMeter(const LocalMeter&) = delete;
  LocalMeter& operator=(const LocalMeter&) = delete;

  int run();

 private:
  struct Pair {  // Two ranks, of which the first is rank 0.
    MPI_Comm comm = MPI_COMM_NULL;
    int rank = -1;  // In `comm`; -1: not one of the two.
    int other() const { return 1 - rank; }
  };
  void choose_pairs();
  Pair make_pair(int partner) const;
  bool goes_on(double begin_s);
  void measure_round();
  void measure_pair(const Pair& pair);
  void measure_calls(const Pair& pair);
  void measure_bursts(const Pair& pair, std::size_t bytes);
  void measure_own_work();
  void measure_requests(const Pair& pair);
  void measure_collectives(const Pair& pair);
  void measure_wake(const Pair& pair);
  void measure_one_way(const Pair& pair, std::size_t bytes, std::vector<double>& samples);
  void measure_copies();
  void let_arrive() const;
  void note(const char* name, double ns) { measures_.times[name].samples_ns.push_back(ns); }
  double copy_once_ns();
  // The other's number, at rank 0.
  double told(const Pair& pair, double ns) const;

  LocalRequest request_;
  const std::atomic<bool>& interrupted_;
  int rank_ = 0, count_ = 1;
  Pair near_, far_;
  std::vector<char> out_, in_;
  probe::LocalMeasures measures_;
};

LocalMeter::LocalMeter(const LocalRequest& request, const std::atomic<bool>& interrupted)
    : request_(request), interrupted_(interrupted) {
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &count_);
  out_.assign(large_copy, 1);
  in_.assign(large_copy, 0);
  choose_pairs();
}

LocalMeter::~LocalMeter() {
  for (Pair* const pair : {&near_, &far_})
    if (pair->comm != MPI_COMM_NULL) MPI_Comm_free(&pair->comm);
}

LocalMeter::Pair LocalMeter::make_pair(int partner) const {
  Pair pair;
  const bool in = rank_ == 0 || rank_ == partner;
  MPI_Comm_split(MPI_COMM_WORLD, in ? 0 : MPI_UNDEFINED, rank_, &pair.comm);
  if (in) MPI_Comm_rank(pair.comm, &pair.rank);
  return pair;
}

// A partner for rank 0 in its own socket, and one in another, where there are such.
void LocalMeter::choose_pairs() {
  std::vector<int> packages(static_cast<std::size_t>(count_));
  const int own = own_package();
  MPI_Allgather(&own, 1, MPI_INT, packages.data(), 1, MPI_INT, MPI_COMM_WORLD);
  int near = 0, far = 0;
  for (int r = count_ - 1; r > 0; --r)
    (packages[static_cast<std::size_t>(r)] == packages[0] ? near : far) = r;
  if (near == 0) near = far;  // They may have moved meanwhile.
  near_ = make_pair(near);
  if (far != 0 && far != near) far_ = make_pair(far);
  std::sort(packages.begin(), packages.end());
  measures_.sockets =
      static_cast<int>(std::unique(packages.begin(), packages.end()) - packages.begin());
  measures_.ranks = count_;
}

double LocalMeter::told(const Pair& pair, double ns) const {
  if (pair.rank == 1) MPI_Send(&ns, 1, MPI_DOUBLE, 0, tag_done, pair.comm);
  if (pair.rank == 0) MPI_Recv(&ns, 1, MPI_DOUBLE, 1, tag_done, pair.comm, MPI_STATUS_IGNORE);
  return ns;
}

// Until messages of the other rank are here, without a call that would look at them.
void LocalMeter::let_arrive() const {
  constexpr double spin_ns = 8000;
  if (request_.crowded) {
    const timespec moment{0, 100'000};
    ::nanosleep(&moment, nullptr);
    return;
  }
  for (const double end = now_ns() + spin_ns; now_ns() < end;) {
  }
}

// A call that finds nothing to do.
void LocalMeter::measure_calls(const Pair& pair) {
  const double begin = now_ns();
  for (int i = 0; i < burst; ++i) MPI_Waitall(0, nullptr, MPI_STATUSES_IGNORE);
  if (pair.rank == 0) note("call", (now_ns() - begin) / burst);
}

// Blocking calls that need not wait: what messages cost either rank, besides their latency.
void LocalMeter::measure_bursts(const Pair& pair, std::size_t bytes) {
  // Fewer than the credit of the receiver, so that all go as they are.
  const int count = static_cast<int>(std::clamp<std::size_t>((32 << 10) / (bytes + 1), 2, burst));
  const int size = static_cast<int>(bytes);
  MPI_Barrier(pair.comm);
  double took = 0;
  if (pair.rank == 0) {
    const double begin = now_ns();
    for (int i = 0; i < count; ++i) MPI_Send(out_.data(), size, MPI_BYTE, 1, tag_data, pair.comm);
    took = (now_ns() - begin) / count;
  } else {
    let_arrive();
    const double begin = now_ns();
    for (int i = 0; i < count; ++i)
      MPI_Recv(in_.data(), size, MPI_BYTE, 0, tag_data, pair.comm, MPI_STATUS_IGNORE);
    took = (now_ns() - begin) / count;
  }
  const double of_other = told(pair, took);
  if (pair.rank != 0) return;
  measures_.side[bytes].samples_ns.push_back((took + of_other) / 2);
  if (bytes > 0) return;
  note("send", took);
  note("receive", of_other);
}

// Requests that are complete when they are waited for.
void LocalMeter::measure_requests(const Pair& pair) {
  std::array<MPI_Request, burst> open;
  double took = 0;
  if (pair.rank == 1) {
    const double begin = now_ns();
    for (MPI_Request& request : open)
      MPI_Irecv(in_.data(), 0, MPI_BYTE, 0, tag_data, pair.comm, &request);
    took = now_ns() - begin;
  }
  MPI_Barrier(pair.comm);
  if (pair.rank == 0) {
    const double begin = now_ns();
    for (MPI_Request& request : open)
      MPI_Isend(out_.data(), 0, MPI_BYTE, 1, tag_data, pair.comm, &request);
    took = now_ns() - begin;
  }
  let_arrive();
  const double begin = now_ns();
  MPI_Waitall(burst, open.data(), MPI_STATUSES_IGNORE);
  took = (took + now_ns() - begin) / burst;
  const double of_other = told(pair, took);
  if (pair.rank != 0) return;
  note("send_request", took);
  note("receive_request", of_other);
}

void LocalMeter::measure_collectives(const Pair& pair) {
  constexpr int rounds = 32;
  double value = 1, sum = 0;
  std::array<double, 2> all{}, mine{};
  const auto timed = [&](const char* name, auto&& call) {
    MPI_Barrier(pair.comm);
    const double begin = now_ns();
    for (int i = 0; i < rounds; ++i) call();
    if (pair.rank == 0) note(name, (now_ns() - begin) / rounds);
  };
  timed("barrier", [&] { MPI_Barrier(pair.comm); });
  timed("allreduce", [&] { MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, pair.comm); });
  timed("alltoall",
        [&] { MPI_Alltoall(mine.data(), 1, MPI_DOUBLE, all.data(), 1, MPI_DOUBLE, pair.comm); });
}

// An answer by a rank that has gone to sleep.
void LocalMeter::measure_wake(const Pair& pair) {
  MPI_Barrier(pair.comm);
  char byte = 0;
  if (pair.rank == 1) {
    MPI_Recv(&byte, 0, MPI_BYTE, 0, tag_data, pair.comm, MPI_STATUS_IGNORE);
    MPI_Send(&byte, 0, MPI_BYTE, 0, tag_data, pair.comm);
    return;
  }
  for (const double end = now_ns() + until_asleep_s * 1e9; now_ns() < end;) {
  }
  const double begin = now_ns();
  MPI_Send(&byte, 0, MPI_BYTE, 1, tag_data, pair.comm);
  MPI_Recv(&byte, 0, MPI_BYTE, 1, tag_data, pair.comm, MPI_STATUS_IGNORE);
  note("round_trip_asleep", now_ns() - begin);
}

void LocalMeter::measure_one_way(const Pair& pair, std::size_t bytes,
                                 std::vector<double>& samples) {
  const int rounds =
      static_cast<int>(std::max<std::size_t>(2, (std::size_t{256} << 10) / (bytes + 4096)));
  const int size = static_cast<int>(bytes);
  MPI_Barrier(pair.comm);
  for (int b = -1; b < batches; ++b) {  // One more, to warm up.
    const double begin = now_ns();
    for (int i = 0; i < rounds; ++i) {
      if (pair.rank == 0) MPI_Send(out_.data(), size, MPI_BYTE, 1, tag_data, pair.comm);
      MPI_Recv(in_.data(), size, MPI_BYTE, pair.other(), tag_data, pair.comm, MPI_STATUS_IGNORE);
      if (pair.rank == 1) MPI_Send(out_.data(), size, MPI_BYTE, 0, tag_data, pair.comm);
    }
    if (b >= 0) samples.push_back((now_ns() - begin) / rounds / 2);
  }
}

double LocalMeter::copy_once_ns() {
  const double begin = now_ns();
  std::memcpy(in_.data(), out_.data(), large_copy);
  return now_ns() - begin;
}

// Measures how fast this core copies and reduces data that is in its cache.
void LocalMeter::measure_own_work() {
  for (const std::size_t bytes : probe::copy_sizes()) {
    const int rounds = static_cast<int>(std::max<std::size_t>(2, (std::size_t{128} << 10) / bytes));
    copy_bytes(in_.data(), out_.data(), bytes);
    const double begin = now_ns();
    for (int i = 0; i < rounds; ++i) {
      copy_bytes(in_.data(), out_.data(), bytes);
      std::atomic_signal_fence(std::memory_order_seq_cst);  // Every one of them.
    }
    measures_.copy[bytes].samples_ns.push_back((now_ns() - begin) / rounds);
  }
  constexpr int numbers = probe::reduced_numbers;
  std::vector<double> sums(numbers), more(numbers, 1);
  MPI_Reduce_local(more.data(), sums.data(), numbers, MPI_DOUBLE, MPI_SUM);
  const double begin = now_ns();
  MPI_Reduce_local(more.data(), sums.data(), numbers, MPI_DOUBLE, MPI_SUM);
  note("reduction", now_ns() - begin);
}

// Large copies by one rank and by all at once; the slowest counts.
void LocalMeter::measure_copies() {
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank_ == 0) {
    copy_once_ns();
    note("large_copy", copy_once_ns());
  }
  MPI_Barrier(MPI_COMM_WORLD);
  copy_once_ns();
  const double own = copy_once_ns();
  double slowest = 0;
  MPI_Reduce(&own, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank_ == 0) note("large_copy_by_all", slowest);
}

void LocalMeter::measure_pair(const Pair& pair) {
  if (pair.rank < 0) return;
  const bool first = pair.comm == near_.comm;
  for (const std::size_t bytes : probe::local_sizes())
    measure_one_way(pair, bytes,
                    (first ? measures_.one_way : measures_.far_one_way)[bytes].samples_ns);
  if (!first) return;
  for (int b = 0; b < batches; ++b) {
    measure_calls(pair);
    for (const std::size_t bytes : probe::eager_sizes()) measure_bursts(pair, bytes);
    if (pair.rank == 0) measure_own_work();
    measure_requests(pair);
    measure_collectives(pair);
  }
  if (!request_.crowded) measure_wake(pair);
}

void LocalMeter::measure_round() {
  measure_pair(near_);
  measure_pair(far_);
  measure_copies();
}

bool LocalMeter::goes_on(double begin_s) {
  const double spent = MPI_Wtime() - begin_s;
  int more = spent < request_.seconds && !interrupted_ ? 1 : 0;
  MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (rank_ == 0 && request_.progress && more != 0) {
    fmt::print("progress {:.3f} {}\n", spent / request_.seconds,
               request_.crowded ? "ranks that share a core" : "calls, messages and copies");
    std::fflush(stdout);
  }
  return more != 0;
}

int LocalMeter::run() {
  measure_round();  // To warm up: pages, connections, the processor's clock.
  measures_.times.clear();
  measures_.one_way.clear();
  measures_.far_one_way.clear();
  measures_.side.clear();
  measures_.copy.clear();
  const double begin = MPI_Wtime(), held_off = held_off_ns();
  do {
    measure_round();
  } while (goes_on(begin));
  const double share = (held_off_ns() - held_off) / ((MPI_Wtime() - begin) * 1e9);
  MPI_Reduce(&share, &measures_.held_off, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank_ != 0 || interrupted_) return 0;
  measures_.crowded = request_.crowded;
  measures_.cores = static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN));
  fmt::print("{}\n", probe::to_json(measures_));
  std::fflush(stdout);
  return 0;
}

}  // namespace

int measure_local(const LocalRequest& request, const std::atomic<bool>& interrupted) {
  int count = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &count);
  if (count < 2) {
    tell("weft probe: --local needs two ranks\n");
    return 2;
  }
  return LocalMeter(request, interrupted).run();
}

}  // namespace weft::app
