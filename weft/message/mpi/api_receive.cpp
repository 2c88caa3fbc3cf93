// SPDX-License-Identifier: Apache-2.0
// Receives, and combined sends and receives.
#include <array>
#include <memory>
#include <utility>

#include <weft/message/mpi/call.hpp>
#include <weft/message/mpi/datatype.hpp>
#include <weft/message/mpi/quick.hpp>
#include <weft/message/mpi/transfer.hpp>

using weft::mpi::Call;
using weft::mpi::Process;
using weft::mpi::Request;
using weft::mpi::TransferArguments;
namespace mp = weft::mp;

namespace {

int finish_receive(Call& call, Request& request, MPI_Status* status) {
  finish(call.process(), request);
  if (status) fill_status(request, *status);
  return call.result(request.transfer.comm, request.error, describe_error(request));
}

int receive(const char* name, const TransferArguments& arguments, MPI_Status* status) {
  if (const auto code = weft::mpi::receive_quickly(name, arguments, status)) return *code;
  Call call(name, Call::communicates);
  Request request;
  if (const int error = prepare(call, arguments, Request::Kind::receive, request)) return error;
  start(call.process(), request);
  const Request* waiting = &request;
  wait_for(call.process(), &waiting, 1);
  return finish_receive(call, request, status);
}

int make_receive(const char* name, const TransferArguments& arguments, bool persistent,
                 MPI_Request* handle) {
  Call call(name, Call::communicates);
  Request request;
  if (const int error = prepare(call, arguments, Request::Kind::receive, request)) return error;
  if (!handle) return call.result(request.transfer.comm, MPI_ERR_ARG);
  request.persistent = persistent;
  Request* kept = keep(call.process(), std::move(request));
  if (!persistent) start(call.process(), *kept);
  *handle = handle_of(kept);
  return MPI_SUCCESS;
}

// Both directions of an exchange, checked.
struct Exchange {
  Request out, in;
};
int prepare(Call& call, const TransferArguments& out, const TransferArguments& in,
            Exchange& exchange) {
  if (const int error = prepare(call, out, Request::Kind::send, exchange.out)) return error;
  return prepare(call, in, Request::Kind::receive, exchange.in);
}

// For Sendrecv_replace: copies the data to send out of the buffer before anything arrives.
void set_aside(Process& process, Exchange& exchange, std::unique_ptr<std::byte[]>& aside) {
  weft::mpi::Transfer& transfer = exchange.out.transfer;
  if (transfer.peer == MPI_PROC_NULL) return;
  const std::size_t size = size_of(transfer);
  process.fabric.processor.copy(nullptr, nullptr, size);
  if (process.fabric.carries_data) {
    aside = std::make_unique_for_overwrite<std::byte[]>(size);
    transfer.type->pack(transfer.buffer, transfer.count, 0, {aside.get(), size});
  }
  transfer.buffer = aside.get();
  transfer.count = static_cast<MPI_Count>(size);
  transfer.type = weft::mpi::find_type(MPI_BYTE);
}

int exchange_now(Call& call, Exchange& exchange, MPI_Status* status) {
  Process& process = call.process();
  process.fabric.processor.charge(weft::Work::request);
  process.fabric.processor.charge(weft::Work::request);
  start(process, exchange.in);
  start(process, exchange.out);
  const std::array<const Request*, 2> waiting = {&exchange.in, &exchange.out};
  wait_for(process, waiting.data(), 2);
  finish(process, exchange.out);
  if (exchange.out.error != MPI_SUCCESS) {
    finish(process, exchange.in);
    return call.result(exchange.out.transfer.comm, exchange.out.error);
  }
  return finish_receive(call, exchange.in, status);
}

// One request for both directions. The operation owns them; its status is that of the receive.
class ExchangeOperation final : public weft::mpi::Operation {
 public:
  ExchangeOperation(Process& process, Exchange&& exchange, std::unique_ptr<std::byte[]> aside)
      : process_(process), exchange_(std::move(exchange)), aside_(std::move(aside)) {
    exchange_.in.transfer.type->retain();
    exchange_.out.transfer.type->retain();
  }
  ~ExchangeOperation() override {
    weft::mpi::Datatype::release(exchange_.in.transfer.type);
    weft::mpi::Datatype::release(exchange_.out.transfer.type);
  }
  ExchangeOperation(const ExchangeOperation&) = delete;
  ExchangeOperation& operator=(const ExchangeOperation&) = delete;

  mp::Task start() override {
    weft::mpi::start(process_, exchange_.in);
    weft::mpi::start(process_, exchange_.out);
    return both();
  }
  const Request* status_of() const override { return &exchange_.in; }

 private:
  mp::Task both() {
    for (Request* request : {&exchange_.in, &exchange_.out}) {
      if (request->low && !request->low->done) co_await Done{request->low};
      finish(process_, *request);
    }
    co_return exchange_.in.error ? exchange_.in.error : exchange_.out.error;
  }
  // Like mp::finished, but the request is kept.
  struct Done {
    mp::Request* low;
    bool await_ready() const { return low->done; }
    void await_suspend(std::coroutine_handle<> waiter) const { low->waiter = waiter; }
    void await_resume() const {}
  };

  Process& process_;
  Exchange exchange_;
  std::unique_ptr<std::byte[]> aside_;
};

int start_exchange(Call& call, Exchange&& exchange, std::unique_ptr<std::byte[]> aside,
                   MPI_Request* handle) {
  weft::mpi::Communicator& comm = *exchange.in.transfer.comm;
  if (!handle) return call.result(&comm, MPI_ERR_ARG);
  auto operation =
      std::make_unique<ExchangeOperation>(call.process(), std::move(exchange), std::move(aside));
  *handle = handle_of(start_operation(call.process(), comm, std::move(operation)));
  return MPI_SUCCESS;
}

int sendrecv(const char* name, const TransferArguments& out, const TransferArguments& in,
             MPI_Status* status) {
  Call call(name, Call::communicates);
  Exchange exchange;
  if (const int error = prepare(call, out, in, exchange)) return error;
  return exchange_now(call, exchange, status);
}

int isendrecv(const char* name, const TransferArguments& out, const TransferArguments& in,
              MPI_Request* request) {
  Call call(name, Call::communicates);
  Exchange exchange;
  if (const int error = prepare(call, out, in, exchange)) return error;
  return start_exchange(call, std::move(exchange), nullptr, request);
}

int sendrecv_replace(const char* name, const TransferArguments& out, const TransferArguments& in,
                     MPI_Status* status) {
  Call call(name, Call::communicates);
  Exchange exchange;
  if (const int error = prepare(call, out, in, exchange)) return error;
  std::unique_ptr<std::byte[]> aside;
  set_aside(call.process(), exchange, aside);
  return exchange_now(call, exchange, status);
}

int isendrecv_replace(const char* name, const TransferArguments& out, const TransferArguments& in,
                      MPI_Request* request) {
  Call call(name, Call::communicates);
  Exchange exchange;
  if (const int error = prepare(call, out, in, exchange)) return error;
  std::unique_ptr<std::byte[]> aside;
  set_aside(call.process(), exchange, aside);
  return start_exchange(call, std::move(exchange), std::move(aside), request);
}

}  // namespace

#define WEFT_RECEIVES(count_type, suffix)                                                          \
  WEFT_MPI(Recv##suffix)                                                                           \
  (void* buf, count_type count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,         \
   MPI_Status* status) {                                                                           \
    return receive("MPI_Recv" #suffix, {buf, count, datatype, source, tag, comm}, status);         \
  }                                                                                                \
  WEFT_MPI(Irecv##suffix)                                                                          \
  (void* buf, count_type count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,         \
   MPI_Request* request) {                                                                         \
    return make_receive("MPI_Irecv" #suffix, {buf, count, datatype, source, tag, comm}, false,     \
                        request);                                                                  \
  }                                                                                                \
  WEFT_MPI(Recv_init##suffix)                                                                      \
  (void* buf, count_type count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,         \
   MPI_Request* request) {                                                                         \
    return make_receive("MPI_Recv_init" #suffix, {buf, count, datatype, source, tag, comm}, true,  \
                        request);                                                                  \
  }                                                                                                \
  WEFT_MPI(Sendrecv##suffix)                                                                       \
  (const void* sendbuf, count_type sendcount, MPI_Datatype sendtype, int dest, int sendtag,        \
   void* recvbuf, count_type recvcount, MPI_Datatype recvtype, int source, int recvtag,            \
   MPI_Comm comm, MPI_Status* status) {                                                            \
    return sendrecv("MPI_Sendrecv" #suffix, {sendbuf, sendcount, sendtype, dest, sendtag, comm},   \
                    {recvbuf, recvcount, recvtype, source, recvtag, comm}, status);                \
  }                                                                                                \
  WEFT_MPI(Isendrecv##suffix)                                                                      \
  (const void* sendbuf, count_type sendcount, MPI_Datatype sendtype, int dest, int sendtag,        \
   void* recvbuf, count_type recvcount, MPI_Datatype recvtype, int source, int recvtag,            \
   MPI_Comm comm, MPI_Request* request) {                                                          \
    return isendrecv("MPI_Isendrecv" #suffix, {sendbuf, sendcount, sendtype, dest, sendtag, comm}, \
                     {recvbuf, recvcount, recvtype, source, recvtag, comm}, request);              \
  }                                                                                                \
  WEFT_MPI(Sendrecv_replace##suffix)                                                               \
  (void* buf, count_type count, MPI_Datatype datatype, int dest, int sendtag, int source,          \
   int recvtag, MPI_Comm comm, MPI_Status* status) {                                               \
    return sendrecv_replace("MPI_Sendrecv_replace" #suffix,                                        \
                            {buf, count, datatype, dest, sendtag, comm},                           \
                            {buf, count, datatype, source, recvtag, comm}, status);                \
  }                                                                                                \
  WEFT_MPI(Isendrecv_replace##suffix)                                                              \
  (void* buf, count_type count, MPI_Datatype datatype, int dest, int sendtag, int source,          \
   int recvtag, MPI_Comm comm, MPI_Request* request) {                                             \
    return isendrecv_replace("MPI_Isendrecv_replace" #suffix,                                      \
                             {buf, count, datatype, dest, sendtag, comm},                          \
                             {buf, count, datatype, source, recvtag, comm}, request);              \
  }

WEFT_RECEIVES(int, )
WEFT_RECEIVES(MPI_Count, _c)
