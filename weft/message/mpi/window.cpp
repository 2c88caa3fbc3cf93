// SPDX-License-Identifier: Apache-2.0
#include "window.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include <weft/message/mpi/datatype.hpp>
#include <weft/message/mpi/handlers.hpp>
#include <weft/message/mpi/shared_block.hpp>
#include <weft/message/mpi/target_memory.hpp>

namespace weft::mpi {

namespace {

// Tags of a window's messages. Answers have increasing numbers from the last one on.
enum Tag : int { command_tag, blocks_tag, data_tag, first_answer_tag };

// A message of a window: the library's own, or the program's data, which may not be carried.
struct Message {
  int peer;
  int tag;
  void* data;
  std::size_t size;
  bool internal;
};

// Answers have their own context, so that arriving commands are not matched against all receives
// that wait for an answer.
mp::ContextId context_of(const Window& window, int tag) {
  using Traffic = Communicator::Traffic;
  return window.comm->context_of(tag < first_answer_tag ? Traffic::messages : Traffic::local);
}

mp::Request* send(Process& process, const Window& window, const Message& message) {
  mp::Sending sending;
  sending.to = window.comm->local[message.peer];
  sending.context = context_of(window, message.tag);
  sending.source = window.comm->rank;
  sending.tag = message.tag;
  sending.data = message.data;
  sending.size = message.size;
  sending.internal = message.internal;
  return process.messenger.send(sending);
}

mp::Request* receive(Process& process, const Window& window, const Message& message) {
  mp::Receiving receiving;
  receiving.context = context_of(window, message.tag);
  receiving.source = message.peer;
  receiving.tag = message.tag;
  receiving.data = message.data;
  receiving.size = message.size;
  receiving.internal = message.internal;
  return process.messenger.receive(receiving);
}

using Bytes = std::vector<std::byte>;

mp::Task answer(Process& process, Window& window, int peer, int tag, Bytes data, bool internal) {
  mp::Request* sent = send(process, window, {peer, tag, data.data(), data.size(), internal});
  co_await mp::finished(process.messenger, sent);
  co_return 0;
}

// Answers without data are sent without waiting for completion.
void acknowledge(Process& process, const Window& window, int peer, int tag) {
  if (tag == 0) return;
  process.messenger.release(send(process, window, {peer, tag, nullptr, 0, true}));
}

void grant_locks(Process& process, Window& window) {
  while (!window.waiters.empty() && !window.exclusive_lock) {
    const Window::Waiter next = window.waiters.front();
    if (next.exclusive && window.shared_locks > 0) return;
    window.waiters.pop_front();
    if (next.exclusive) {
      window.exclusive_lock = true;
    } else {
      ++window.shared_locks;
    }
    acknowledge(process, window, next.rank, next.answer_tag);
  }
}

// Commands that do not access memory.
void synchronize(Process& process, Window& window, const RmaCommand& command, int source) {
  switch (command.kind) {
    case RmaCommand::Kind::lock_shared:
    case RmaCommand::Kind::lock_exclusive:
      window.waiters.push_back(
          {source, command.kind == RmaCommand::Kind::lock_exclusive, command.answer_tag});
      grant_locks(process, window);
      return;
    case RmaCommand::Kind::unlock:
      if (window.exclusive_lock) {
        window.exclusive_lock = false;
      } else if (window.shared_locks > 0) {
        --window.shared_locks;
      }
      acknowledge(process, window, source, command.answer_tag);
      grant_locks(process, window);
      return;
    case RmaCommand::Kind::posted:
      window.posted.push_back(source);
      return;
    case RmaCommand::Kind::completed:
      ++window.completed;
      return;
    default:
      acknowledge(process, window, source, command.answer_tag);
  }
}

bool touches_memory(RmaCommand::Kind kind) {
  return kind <= RmaCommand::Kind::swap;
}

// A dynamic window has no bounds that we know.
void check_range(Process& process, const Window& window, const TargetMemory& place) {
  const bool dynamic = window.flavor == MPI_WIN_FLAVOR_DYNAMIC;
  if (dynamic ? place.addressable() : place.inside(window.own_part())) return;
  end_job(process, MPI_ERR_RMA_RANGE,
          "rank " + std::to_string(process.rank().index) +
              ": an access by another rank lies outside of the window of " +
              std::to_string(window.size) + " bytes");
}

mp::Task grant(Process& process, Window& window, RmaCommand command, int source) {
  std::vector<std::uint64_t> blocks(command.blocks);
  if (command.blocks > 0) {
    mp::Request* list =
        receive(process, window, {source, blocks_tag, blocks.data(), blocks.size() * 8, true});
    co_await mp::finished(process.messenger, list);
  }
  const TargetMemory place(window.own_part(), command, std::move(blocks));
  check_range(process, window, place);
  const bool carried = process.fabric.carries_data;
  const std::size_t size = command.kind == RmaCommand::Kind::swap ? 2 * place.size() : place.size();
  // A put into one block is received directly in place.
  const bool direct = command.kind == RmaCommand::Kind::put && place.piece();
  Bytes data(command.data && !direct ? size : 0);
  if (command.data) {
    std::byte* to = direct ? place.piece() : data.data();
    mp::Request* in = receive(process, window, {source, data_tag, to, size, false});
    co_await mp::finished(process.messenger, in);
  }
  if (!direct) process.fabric.processor.copy(nullptr, nullptr, place.size());
  Bytes old(command.answer_tag != 0 ? place.size() : 0);
  if (carried) {
    if (command.answer_tag != 0) old = place.read();
    if (!direct) change(command, place, data);
  }
  if (command.answer_tag != 0) {
    mp::Task answered = answer(process, window, source, command.answer_tag, std::move(old), false);
    co_await answered;
  }
  co_return 0;
}

}  // namespace

mp::Task serve(Process& process, Window& window) {
  for (;;) {
    RmaCommand command;
    window.listening =
        receive(process, window, {mp::any_source, command_tag, &command, sizeof command, true});
    const mp::Arrival arrival = co_await mp::finished(process.messenger, window.listening);
    window.listening = nullptr;
    if (arrival.cancelled) co_return 0;
    if (touches_memory(command.kind)) {
      mp::Task granted = grant(process, window, command, arrival.source);
      co_await granted;
    } else {
      synchronize(process, window, command, arrival.source);
    }
  }
}

Window::Window() = default;
Window::~Window() = default;

Window::Target& Window::target(int rank) {
  for (Target& known : targets) {
    if (known.rank == rank) return known;
  }
  return targets.emplace_back(Target{.rank = rank});
}

void Window::sweep() {
  std::erase_if(pending, [](const Pending& p) { return p.task.done(); });
  sweeps.next = 2 * pending.size() + 64;
  ++sweeps.count;
}

void Window::add_pending(int target, mp::Task task) {
  if (pending.size() >= sweeps.next) sweep();
  pending.push_back({target, std::move(task)});
}

namespace {

int next_answer_tag(Window& window) {
  window.last_answer_tag = (window.last_answer_tag + 1) & 0xffffff;
  return first_answer_tag + window.last_answer_tag;
}

void append(Bytes& to, Process& process, const Access::Piece& piece) {
  const auto size = static_cast<std::size_t>(piece.count * piece.type->size());
  const std::size_t before = to.size();
  to.resize(before + size);
  process.fabric.processor.copy(nullptr, nullptr, size);
  if (!process.fabric.carries_data) return;
  piece.type->pack(piece.buffer, piece.count, 0, {to.data() + before, size});
}

}  // namespace

mp::Task perform(Process& process, Window& window, std::unique_ptr<Access> access) {
  Access& a = *access;
  const int to = a.target;
  if (a.result.type) a.command.answer_tag = next_answer_tag(window);
  const auto result_size =
      a.result.type ? static_cast<std::size_t>(a.result.count * a.result.type->size()) : 0;
  Bytes in(result_size), out;
  mp::Request* answered = nullptr;
  if (a.result.type) {
    answered = receive(process, window, {to, a.command.answer_tag, in.data(), in.size(), false});
  }
  if (a.compare) append(out, process, {const_cast<void*>(a.compare), 1, a.origin.type});
  if (a.origin.type) append(out, process, a.origin);
  a.command.data = a.origin.type ? 1 : 0;
  a.command.blocks = static_cast<std::uint32_t>(a.blocks.size());
  std::vector<mp::Request*> sends = {
      send(process, window, {to, command_tag, &a.command, sizeof a.command, true})};
  if (!a.blocks.empty()) {
    sends.push_back(
        send(process, window, {to, blocks_tag, a.blocks.data(), a.blocks.size() * 8, true}));
  }
  if (a.command.data) {
    sends.push_back(send(process, window, {to, data_tag, out.data(), out.size(), false}));
  }
  for (mp::Request* sent : sends) co_await mp::finished(process.messenger, sent);
  if (answered) {
    co_await mp::finished(process.messenger, answered);
    process.fabric.processor.copy(nullptr, nullptr, in.size());
    if (process.fabric.carries_data) {
      a.result.type->unpack(a.result.buffer, a.result.count, 0, std::span<const std::byte>(in));
    }
  }
  if (a.result.type) Datatype::release(a.result.type);
  if (a.origin.type) Datatype::release(a.origin.type);
  co_return 0;
}

mp::Task ask(Process& process, Window& window, int target, RmaCommand::Kind kind, bool answered) {
  RmaCommand command;
  command.kind = kind;
  command.answer_tag = answered ? next_answer_tag(window) : 0;
  mp::Request* reply = nullptr;
  if (answered) reply = receive(process, window, {target, command.answer_tag, nullptr, 0, true});
  mp::Request* sent = send(process, window, {target, command_tag, &command, sizeof command, true});
  co_await mp::finished(process.messenger, sent);
  if (reply) co_await mp::finished(process.messenger, reply);
  co_return 0;
}

Window* find_window(Process& process, MPI_Win handle) {
  return process.windows.find(handle);
}

int result(Call& call, const Window& window, int code, const std::string& detail) {
  if (code == MPI_SUCCESS) return code;
  Process& process = call.process();
  const ErrorHandler* made = process.handlers.find(window.handler);
  if (made && made->win_function) {
    MPI_Win handle = window.handle;
    int argument = code;
    made->win_function(&handle, &argument);
    return code;
  }
  return raise(process, window.handler, window.comm->handle, code, detail);
}

}  // namespace weft::mpi
