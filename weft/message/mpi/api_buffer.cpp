// SPDX-License-Identifier: Apache-2.0
// The buffer of buffered sends.
#include <climits>
#include <memory>
#include <utility>

#include <weft/message/mpi/buffering.hpp>
#include <weft/message/mpi/call.hpp>
#include <weft/message/mpi/request.hpp>

using weft::mpi::Buffering;
using weft::mpi::Call;
using weft::mpi::Process;
namespace mp = weft::mp;

namespace {

int attach(const char* name, void* buffer, MPI_Count size) {
  Call call(name, Call::local);
  if (call.error()) return call.error();
  Process& process = call.process();
  if (size < 0) return call.result(MPI_ERR_ARG, "negative size");
  if (!process.buffering) process.buffering = std::make_unique<Buffering>(process.messenger);
  if (process.buffering->attached()) return call.result(MPI_ERR_BUFFER, "attached already");
  if (buffer == MPI_BUFFER_AUTOMATIC) {
    process.buffering->attach_automatic();
  } else if (!buffer) {
    return call.result(MPI_ERR_BUFFER, "null");
  } else {
    process.buffering->attach(buffer, static_cast<std::size_t>(size));
  }
  return MPI_SUCCESS;
}

void wait_sent(Process& process) {
  if (process.buffering && !process.buffering->sent()) {
    process.wait_until([&] { return process.buffering->sent(); });
  }
}

int detach(const char* name, void* buffer_addr, MPI_Count& size, MPI_Count most) {
  Call call(name, Call::communicates);
  if (call.error()) return call.error();
  Process& process = call.process();
  if (!process.buffering || !process.buffering->attached()) {
    return call.result(MPI_ERR_BUFFER, "none is attached");
  }
  wait_sent(process);
  process.buffering->sweep();
  void* memory = nullptr;
  std::size_t bytes = 0;
  process.buffering->detach(memory, bytes);
  *static_cast<void**>(buffer_addr) = memory;
  size = static_cast<MPI_Count>(bytes);
  return size > most ? call.result(MPI_ERR_VALUE_TOO_LARGE) : MPI_SUCCESS;
}

// Done when everything that is in the buffer now has been sent. Checks at every turn of the message
// layer.
class Flush final : public weft::mpi::Operation {
 public:
  explicit Flush(Process& process) : process_(process) {}
  mp::Task start() override { return flush(); }

 private:
  struct Later {
    mp::Request* low;
    std::coroutine_handle<> before = {};
    bool await_ready() const { return low->done; }
    void await_suspend(std::coroutine_handle<> waiter) {
      before = std::exchange(low->waiter, waiter);  // Another flush may wait for the same send.
    }
    void await_resume() const {
      if (before) before.resume();
    }
  };
  mp::Task flush() {
    Buffering* buffering = process_.buffering.get();
    while (mp::Request* low = buffering ? buffering->under_way() : nullptr) {
      Later later{low};
      co_await later;
      buffering->sweep();
    }
    co_return MPI_SUCCESS;
  }
  Process& process_;
};

}  // namespace

WEFT_MPI(Buffer_attach)(void* buffer, int size) {
  return attach("MPI_Buffer_attach", buffer, size);
}

WEFT_MPI(Buffer_attach_c)(void* buffer, MPI_Count size) {
  return attach("MPI_Buffer_attach_c", buffer, size);
}

WEFT_MPI(Buffer_detach)(void* buffer_addr, int* size) {
  MPI_Count bytes = 0;
  const int error = detach("MPI_Buffer_detach", buffer_addr, bytes, INT_MAX);
  if (error == MPI_SUCCESS) *size = static_cast<int>(bytes);
  return error;
}

WEFT_MPI(Buffer_detach_c)(void* buffer_addr, MPI_Count* size) {
  return detach("MPI_Buffer_detach_c", buffer_addr, *size, INT64_MAX);
}

WEFT_MPI(Buffer_flush)(void) {
  Call call("MPI_Buffer_flush", Call::communicates);
  if (call.error()) return call.error();
  wait_sent(call.process());
  return MPI_SUCCESS;
}

WEFT_MPI(Buffer_iflush)(MPI_Request* request) {
  Call call("MPI_Buffer_iflush", Call::communicates);
  if (call.error()) return call.error();
  if (!request) return call.result(MPI_ERR_ARG);
  Process& process = call.process();
  *request =
      handle_of(start_operation(process, process.self_only, std::make_unique<Flush>(process)));
  return MPI_SUCCESS;
}
