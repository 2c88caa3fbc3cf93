// SPDX-License-Identifier: Apache-2.0
// Extensions beyond MPI: what a program can tell the simulator.
#include <algorithm>
#include <cmath>

#include <weft/message/mpi/call.hpp>
#include <weft/message/mpi/include/mgen_extensions.h>
#include <weft/message/mpi/process.hpp>

namespace {

using namespace weft;
using namespace weft::mpi;

bool same(const mp::Tuning& a, const mp::Tuning& b) {
  return a.protocol == b.protocol && a.zero_copy == b.zero_copy && a.rails == b.rails &&
         a.gap == b.gap;
}

// Requests keep pointers to their tuning, so it is never freed; a program uses few different ones.
const mp::Tuning* keep(Process& process, const MGEN_Tuning* given) {
  if (given == nullptr) return nullptr;
  mp::Tuning tuning;
  tuning.protocol = given->rendezvous > 0   ? mp::Tuning::Protocol::rendezvous
                    : given->rendezvous < 0 ? mp::Tuning::Protocol::eager
                                            : mp::Tuning::Protocol::by_size;
  tuning.zero_copy = given->zero_copy != 0;
  tuning.rails = std::max(given->nics, 0);
  tuning.gap = Duration::ps(std::llround(given->gap_ns * 1e3));
  for (const auto& known : process.tunings) {
    if (same(*known, tuning)) return known.get();
  }
  process.tunings.push_back(std::make_unique<const mp::Tuning>(tuning));
  return process.tunings.back().get();
}

bool sensible(const MGEN_Tuning* given) {
  return given == nullptr || (given->gap_ns >= 0 && given->gap_ns <= 1e12 && given->nics >= 0);
}

// Sets a tuning for the duration of one call.
class Tuned {
 public:
  explicit Tuned(const MGEN_Tuning* given) : process_(self()) {
    process_.tuning = keep(process_, given);
  }
  ~Tuned() { process_.tuning = process_.set_tuning; }
  Tuned(const Tuned&) = delete;
  Tuned& operator=(const Tuned&) = delete;

 private:
  Inside inside_;
  Process& process_;
};

}  // namespace

extern "C" {

int MGEN_Set_tuning(const MGEN_Tuning* tuning) {
  Call call("MGEN_Set_tuning", Call::local);
  if (!sensible(tuning)) return call.result(MPI_ERR_ARG, "gap or number of cards");
  Process& process = call.process();
  process.tuning = process.set_tuning = keep(process, tuning);
  return MPI_SUCCESS;
}

int MGEN_Send_tuned(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                    const MGEN_Tuning* tuning) {
  if (!sensible(tuning)) return MGEN_Set_tuning(tuning);
  const Tuned tuned(tuning);
  return MPI_Send(data, count, type, to, tag, comm);
}

int MGEN_Isend_tuned(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                     const MGEN_Tuning* tuning, MPI_Request* request) {
  if (!sensible(tuning)) return MGEN_Set_tuning(tuning);
  const Tuned tuned(tuning);
  return MPI_Isend(data, count, type, to, tag, comm, request);
}

int MGEN_Advance(double seconds) {
  Processor* processor = nullptr;
  {
    Call call("MGEN_Advance", Call::always);
    if (!(seconds >= 0 && seconds <= 1e6)) return call.result(MPI_ERR_ARG, "seconds");
    processor = &call.process().fabric.processor;
  }
  processor->compute(Duration::ps(std::llround(seconds * 1e12)));
  return MPI_SUCCESS;
}

int MGEN_Key(unsigned long long key, void* data, size_t size, int* known) {
  Call call("MGEN_Key", Call::always);
  *known = call.process().runtime.recall(key, data, size) ? 1 : 0;
  return MPI_SUCCESS;
}

int MGEN_Key_store(unsigned long long key, const void* data, size_t size) {
  Call call("MGEN_Key_store", Call::always);
  call.process().runtime.remember(key, data, size);
  return MPI_SUCCESS;
}

int MGEN_Stats_start(const char* name) {
  Call call("MGEN_Stats_start", Call::always);
  call.process().runtime.begin_window(name == nullptr ? "" : name);
  return MPI_SUCCESS;
}

int MGEN_Stats_stop(void) {
  Call call("MGEN_Stats_stop", Call::always);
  call.process().runtime.end_window();
  return MPI_SUCCESS;
}

int MGEN_Stats_mark(const char* text) {
  Call call("MGEN_Stats_mark", Call::always);
  call.process().runtime.note(text == nullptr ? "" : text);
  return MPI_SUCCESS;
}

int MGEN_Place_memory(const void* data, size_t size, int socket) {
  Call call("MGEN_Place_memory", Call::always);
  if (socket < 0) return call.result(MPI_ERR_ARG, "socket");
  call.process().runtime.place_memory(data, size, socket);
  return MPI_SUCCESS;
}

}  // extern "C"
