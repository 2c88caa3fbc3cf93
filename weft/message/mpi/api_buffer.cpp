// SPDX-License-Identifier: Apache-2.0
// Buffers of buffered sends.
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include <weft/message/mpi/buffering.hpp>
#include <weft/message/mpi/call.hpp>
#include <weft/message/mpi/request.hpp>
#include <weft/message/mpi/session.hpp>

using weft::mpi::Buffering;
using weft::mpi::Call;
using weft::mpi::Communicator;
using weft::mpi::Process;
namespace mp = weft::mp;

namespace {

// What a buffer is attached to: the process, a communicator or a session.
struct Owner {
  Communicator* comm = nullptr;
  MPI_Session session = MPI_SESSION_NULL;
  int error = MPI_SUCCESS;
  Buffering* buffering = nullptr;  // Null: an error has been reported; return `error`.

  int result(Call& call, int code, const std::string& detail = {}) const {
    return session == MPI_SESSION_NULL ? call.result(comm, code, detail)
                                       : weft::mpi::result(call, session, code, detail);
  }
};

Owner owner_of(Call& call) {
  Owner owner;
  Process& process = call.process();
  owner.error = call.error();
  if (owner.error != MPI_SUCCESS) return owner;
  if (!process.buffering) process.buffering = std::make_unique<Buffering>(process.messenger);
  owner.buffering = process.buffering.get();
  return owner;
}

Owner owner_of(Call& call, MPI_Comm handle) {
  Owner owner;
  owner.comm = call.communicator(handle);
  owner.error = call.error();
  if (!owner.comm) return owner;
  auto& slot = owner.comm->buffering;
  if (!slot) slot = std::make_shared<Buffering>(call.process().messenger);
  owner.buffering = slot.get();
  return owner;
}

Owner owner_of(Call& call, MPI_Session handle) {
  Owner owner;
  owner.error = call.error();
  if (owner.error != MPI_SUCCESS) return owner;
  weft::mpi::Session* const session = call.process().sessions.find(handle);
  if (!session) {
    owner.error = call.result(MPI_ERR_SESSION);
    return owner;
  }
  owner.session = handle;
  if (!session->buffering) {
    session->buffering = std::make_shared<Buffering>(call.process().messenger);
  }
  owner.buffering = session->buffering.get();
  return owner;
}

int attach(Call& call, const Owner& owner, void* buffer, MPI_Count size) {
  if (!owner.buffering) return owner.error;
  if (size < 0) return owner.result(call, MPI_ERR_ARG, "negative size");
  if (owner.buffering->attached()) return owner.result(call, MPI_ERR_BUFFER, "attached already");
  if (buffer == MPI_BUFFER_AUTOMATIC) {
    owner.buffering->attach_automatic();
  } else if (!buffer) {
    return owner.result(call, MPI_ERR_BUFFER, "null");
  } else {
    owner.buffering->attach(buffer, static_cast<std::size_t>(size));
  }
  return MPI_SUCCESS;
}

void wait_sent(Process& process, const Buffering& buffering) {
  if (!buffering.sent()) process.wait_until([&] { return buffering.sent(); });
}

template <typename Size>
int detach(Call& call, const Owner& owner, void* buffer_addr, Size* size) {
  if (!owner.buffering) return owner.error;
  if (!buffer_addr || !size) return owner.result(call, MPI_ERR_ARG);
  if (!owner.buffering->attached()) {
    return owner.result(call, MPI_ERR_BUFFER, "none is attached");
  }
  wait_sent(call.process(), *owner.buffering);
  owner.buffering->sweep();
  void* memory = nullptr;
  std::size_t bytes = 0;
  owner.buffering->detach(memory, bytes);
  *static_cast<void**>(buffer_addr) = memory;
  if (bytes > static_cast<std::size_t>(std::numeric_limits<Size>::max())) {
    return owner.result(call, MPI_ERR_VALUE_TOO_LARGE);
  }
  *size = static_cast<Size>(bytes);
  return MPI_SUCCESS;
}

int flush(Call& call, const Owner& owner) {
  if (!owner.buffering) return owner.error;
  wait_sent(call.process(), *owner.buffering);
  return MPI_SUCCESS;
}

// Done when everything that is in the buffer now has been sent. Checks at every turn of the message
// layer.
class Flush final : public weft::mpi::Operation {
 public:
  explicit Flush(Buffering& buffering) : buffering_(buffering) {}
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
    while (mp::Request* low = buffering_.under_way()) {
      Later later{low};
      co_await later;
      buffering_.sweep();
    }
    co_return MPI_SUCCESS;
  }
  Buffering& buffering_;
};

int start_flush(Call& call, const Owner& owner, MPI_Request* request) {
  if (!owner.buffering) return owner.error;
  if (!request) return owner.result(call, MPI_ERR_ARG);
  Process& process = call.process();
  // The request keeps the communicator, and with it the buffer.
  Communicator& comm = owner.comm ? *owner.comm : process.self_only();
  *request = handle_of(start_operation(process, comm, std::make_unique<Flush>(*owner.buffering)));
  return MPI_SUCCESS;
}

}  // namespace

WEFT_MPI(Buffer_attach)(void* buffer, int size) {
  Call call("MPI_Buffer_attach", Call::local);
  return attach(call, owner_of(call), buffer, size);
}

WEFT_MPI(Buffer_attach_c)(void* buffer, MPI_Count size) {
  Call call("MPI_Buffer_attach_c", Call::local);
  return attach(call, owner_of(call), buffer, size);
}

WEFT_MPI(Buffer_detach)(void* buffer_addr, int* size) {
  Call call("MPI_Buffer_detach", Call::communicates);
  return detach(call, owner_of(call), buffer_addr, size);
}

WEFT_MPI(Buffer_detach_c)(void* buffer_addr, MPI_Count* size) {
  Call call("MPI_Buffer_detach_c", Call::communicates);
  return detach(call, owner_of(call), buffer_addr, size);
}

WEFT_MPI(Buffer_flush)(void) {
  Call call("MPI_Buffer_flush", Call::communicates);
  return flush(call, owner_of(call));
}

WEFT_MPI(Buffer_iflush)(MPI_Request* request) {
  Call call("MPI_Buffer_iflush", Call::communicates);
  return start_flush(call, owner_of(call), request);
}

WEFT_MPI(Comm_attach_buffer)(MPI_Comm comm, void* buffer, int size) {
  Call call("MPI_Comm_attach_buffer", Call::local);
  return attach(call, owner_of(call, comm), buffer, size);
}

WEFT_MPI(Comm_attach_buffer_c)(MPI_Comm comm, void* buffer, MPI_Count size) {
  Call call("MPI_Comm_attach_buffer_c", Call::local);
  return attach(call, owner_of(call, comm), buffer, size);
}

WEFT_MPI(Comm_detach_buffer)(MPI_Comm comm, void* buffer_addr, int* size) {
  Call call("MPI_Comm_detach_buffer", Call::communicates);
  return detach(call, owner_of(call, comm), buffer_addr, size);
}

WEFT_MPI(Comm_detach_buffer_c)(MPI_Comm comm, void* buffer_addr, MPI_Count* size) {
  Call call("MPI_Comm_detach_buffer_c", Call::communicates);
  return detach(call, owner_of(call, comm), buffer_addr, size);
}

WEFT_MPI(Comm_flush_buffer)(MPI_Comm comm) {
  Call call("MPI_Comm_flush_buffer", Call::communicates);
  return flush(call, owner_of(call, comm));
}

WEFT_MPI(Comm_iflush_buffer)(MPI_Comm comm, MPI_Request* request) {
  Call call("MPI_Comm_iflush_buffer", Call::communicates);
  return start_flush(call, owner_of(call, comm), request);
}

WEFT_MPI(Session_attach_buffer)(MPI_Session session, void* buffer, int size) {
  Call call("MPI_Session_attach_buffer", Call::local);
  return attach(call, owner_of(call, session), buffer, size);
}

WEFT_MPI(Session_attach_buffer_c)(MPI_Session session, void* buffer, MPI_Count size) {
  Call call("MPI_Session_attach_buffer_c", Call::local);
  return attach(call, owner_of(call, session), buffer, size);
}

WEFT_MPI(Session_detach_buffer)(MPI_Session session, void* buffer_addr, int* size) {
  Call call("MPI_Session_detach_buffer", Call::communicates);
  return detach(call, owner_of(call, session), buffer_addr, size);
}

WEFT_MPI(Session_detach_buffer_c)(MPI_Session session, void* buffer_addr, MPI_Count* size) {
  Call call("MPI_Session_detach_buffer_c", Call::communicates);
  return detach(call, owner_of(call, session), buffer_addr, size);
}

WEFT_MPI(Session_flush_buffer)(MPI_Session session) {
  Call call("MPI_Session_flush_buffer", Call::communicates);
  return flush(call, owner_of(call, session));
}

WEFT_MPI(Session_iflush_buffer)(MPI_Session session, MPI_Request* request) {
  Call call("MPI_Session_iflush_buffer", Call::communicates);
  return start_flush(call, owner_of(call, session), request);
}
