// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include <weft/program/rank_channel/rank_server.hpp>

namespace weft {

namespace {

SendPath take_path(Unpacker& in) {
  SendPath path;
  path.peer = in.take<RankId>();
  path.rail = in.take<RailId>();
  path.gap = in.take<Duration>();
  path.more = in.take<bool>();
  return path;
}

// The data lies in the packet.
Payload take_payload(Unpacker& in) {
  Payload payload;
  payload.size = in.take<std::uint64_t>();
  payload.given = in.take<std::uint64_t>();
  if (in.take<bool>()) payload.data = in.take_bytes(payload.held()).data();
  return payload;
}

}  // namespace

RankServer::RankServer(RankChannel& channel, const Fabric& network, Job job)
    : channel_(channel), network_(network), job_(std::move(job)) {}

bool RankServer::serve(std::span<const std::byte> packet) {
  is_waiting_ = true;
  for (Unpacker in(packet); !in.empty();) {
    const auto request = in.take<Request>();
    if (request >= first_answered) return serve_answered(request, in);
    serve_quick(request, in);
  }
  return true;
}

void RankServer::serve_quick(Request request, Unpacker& in) {
  Processor& processor = network_.processor;
  switch (request) {
    case Request::spend:
      processor.spend(in.take<Duration>());
      break;
    case Request::compute:
      processor.compute(in.take<Duration>());
      break;
    case Request::copy:
      processor.copy(nullptr, nullptr, in.take<std::uint64_t>());
      break;
    case Request::charge: {
      const auto work = in.take<Work>();
      processor.charge(work, in.take<std::uint64_t>());
      break;
    }
    case Request::enter_call:
      processor.enter_call();
      break;
    case Request::report:
      report_ = unpack_report(in);
      break;
    default:
      serve_message(request, in);
  }
}

void RankServer::serve_message(Request request, Unpacker& in) {
  switch (request) {
    case Request::connect:
      network_.connections.connect(in.take<RankId>());
      break;
    case Request::disconnect:
      network_.connections.disconnect(in.take<RankId>());
      break;
    case Request::post: {
      const SendPath path = take_path(in);
      const auto head = in.take<FrameHead>();
      const Payload payload = take_payload(in);
      network_.transport.post(path, head, payload, false, in.take<std::uint64_t>());
      break;
    }
    case Request::write: {
      const SendPath path = take_path(in);
      Payload payload = take_payload(in);
      const RemoteMemory target = {in.take<std::uint64_t>(), in.take<std::uint64_t>()};
      const auto notice = in.take<FrameHead>();
      const auto cookie = in.take<std::uint64_t>();
      if (payload.data != nullptr && cookie != 0) {
        std::vector<std::byte>& held = writes_[cookie];
        held.assign(payload.data, payload.data + payload.size);
        payload.data = held.data();
      }
      network_.transport.write(path, payload, target, notice, cookie);
      break;
    }
    case Request::sending:
      if (network_.observer != nullptr) network_.observer->sending(unpack_facts(in));
      break;
    default:
      serve_extension(request, in);
  }
}

void RankServer::serve_extension(Request request, Unpacker& in) {
  switch (request) {
    case Request::entered:
    case Request::left: {
      const char* const call = name_of_call(in.take_text());
      const Time at = in.take<Time>();
      if (job_.listener == nullptr) break;
      request == Request::entered ? job_.listener->entered(call, at)
                                  : job_.listener->left(call, at);
      break;
    }
    case Request::place_memory: {
      const auto address = in.take<std::uint64_t>();
      const auto size = in.take<std::uint64_t>();
      job_.runtime.place_memory(reinterpret_cast<const void*>(address), size, in.take<int>());
      break;
    }
    case Request::begin_window:
      job_.runtime.begin_window(in.take_text());
      break;
    case Request::end_window:
      job_.runtime.end_window();
      break;
    case Request::note:
      job_.runtime.note(in.take_text());
      break;
    case Request::remember: {
      const auto key = in.take<std::uint64_t>();
      const auto bytes = in.take_list<std::byte>();
      job_.runtime.remember(key, bytes.data(), bytes.size());
      break;
    }
    default:
      WEFT_CHECK(false);  // Both sides are of one weft (join).
  }
}

bool RankServer::serve_answered(Request request, Unpacker& in) {
  Packer out;
  switch (request) {
    case Request::join:
      join(in, out);
      break;
    case Request::poll:
      poll(out);
      break;
    case Request::wait:
      network_.transport.wait(in.take<Time>());
      break;
    case Request::recall: {
      const auto key = in.take<std::uint64_t>();
      std::vector<std::byte> bytes(in.take<std::uint64_t>());
      out.put(job_.runtime.recall(key, bytes.data(), bytes.size()));
      out.put_list(bytes);
      break;
    }
    case Request::leave:
      left_ = true;
      job_.runtime.leave();
      break;
    case Request::abort:
      abort(in);
    case Request::now:
      break;
    default:
      answer_about_peer(request, in, out);
  }
  Packer reply;
  reply.put(Reply::answer);
  reply.put(network_.processor.now());
  const std::vector<std::byte> rest = out.take();
  reply.put_bytes(rest.data(), rest.size());
  is_waiting_ = false;
  return channel_.send(reply.take());
}

void RankServer::join(Unpacker& in, Packer& out) {
  const bool fits = in.take<std::uint32_t>() == rank_channel_version;
  if (joined_ || !fits) {
    job_.runtime.abort(network_.self, 1,
                       joined_ ? "two of its processes use MPI; a rank is one process"
                               : "it uses the MPI library of another version of weft");
  }
  joined_ = true;
  job_.welcome.now = network_.processor.now();
  if (network_.observer != nullptr) network_.observer->set_teller(this);
  pack(job_.welcome, out);
}

void RankServer::answer_about_peer(Request request, Unpacker& in, Packer& out) const {
  const auto peer = in.take<RankId>();
  switch (request) {
    case Request::connected:
      out.put(network_.connections.connected(peer));
      break;
    case Request::needs_connection:
      out.put(network_.connections.needs_connection(peer));
      break;
    case Request::rail_count:
      out.put(network_.rails.rail_count(peer));
      break;
    case Request::rail_facts:
      out.put(network_.rails.rail_facts(peer, in.take<RailId>()));
      break;
    default:
      WEFT_CHECK(false);
  }
}

void RankServer::poll(Packer& out) {
  Completion completion;
  const bool found = network_.transport.poll(completion);
  out.put(found);
  if (!found) return;
  pack(completion, out);
  if (completion.kind == Completion::Kind::sent || completion.kind == Completion::Kind::unsent)
    writes_.erase(completion.cookie);
}

void RankServer::abort(Unpacker& in) {
  const auto code = in.take<int>();
  const std::string message = in.take_text();
  job_.runtime.abort(network_.self, code, message);
  __builtin_unreachable();  // Some compilers do not trust [[noreturn]] on a virtual function.
}

RankWait RankServer::ask() const {
  Packer question;
  question.put(Reply::describe);
  question.put(network_.processor.now());
  std::vector<std::byte> answer;
  if (!is_waiting_ || !channel_.send(question.take()) || !channel_.receive(answer)) {
    RankWait gone;
    gone.waiting = {"a process", "nothing any more: the process is gone", {}, 0};
    return gone;
  }
  Unpacker in(answer);
  return unpack_wait(in);
}

const RankReport& RankServer::report() {
  Packer question;
  question.put(Reply::report);
  question.put(network_.processor.now());
  std::vector<std::byte> answer;
  if (!is_waiting_ || !joined_ || !channel_.send(question.take()) || !channel_.receive(answer))
    return report_;
  Unpacker in(answer);
  report_ = unpack_report(in);
  return report_;
}

const char* RankServer::name_of_call(std::string_view text) {
  const auto known = call_names_.find(text);
  return known != call_names_.end() ? known->c_str() : call_names_.emplace(text).first->c_str();
}

}  // namespace weft
