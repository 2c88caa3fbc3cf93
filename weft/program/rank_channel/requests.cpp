// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include <weft/program/rank_channel/requests.hpp>

namespace weft {

namespace {

void put_texts(const std::vector<std::string>& texts, Packer& out) {
  out.put(std::uint64_t{texts.size()});
  for (const std::string& text : texts) out.put_text(text);
}

std::vector<std::string> take_texts(Unpacker& in) {
  std::vector<std::string> texts(in.take<std::uint64_t>());
  for (std::string& text : texts) text = in.take_text();
  return texts;
}

void put_waiting(const Waiting& waiting, Packer& out) {
  out.put_text(waiting.call);
  out.put_text(waiting.what);
  out.put_list(waiting.on);
  out.put(waiting.thread);
}

Waiting take_waiting(Unpacker& in) {
  Waiting waiting;
  waiting.call = in.take_text();
  waiting.what = in.take_text();
  waiting.on = in.take_list<RankId>();
  waiting.thread = in.take<std::uint32_t>();
  return waiting;
}

// The data of a completion lies where its kind says.
std::size_t data_size(const Completion& completion) {
  return completion.data == nullptr && completion.lent == nullptr ? 0 : completion.size;
}

}  // namespace

void pack(const RankWelcome& welcome, Packer& out) {
  out.put(welcome.self);
  out.put(welcome.ranks);
  out.put(welcome.ordered);
  out.put(welcome.carries_data);
  out.put(welcome.has_timeline);
  out.put(welcome.now);
  out.put(welcome.call_overhead);
  out.put(welcome.request_overhead);
  out.put(welcome.collective_overhead);
  out.put(welcome.compute_factor);
  out.put(welcome.messages);
  out.put_text(welcome.processor_name);
  out.put_list(welcome.nodes);
  put_texts(welcome.forced_algorithms, out);
  out.put_list(welcome.grid);
  out.put_list(welcome.groups);
  out.put(welcome.connections);
}

RankWelcome unpack_welcome(Unpacker& in) {
  RankWelcome welcome;
  welcome.self = in.take<RankId>();
  welcome.ranks = in.take<std::uint32_t>();
  welcome.ordered = in.take<bool>();
  welcome.carries_data = in.take<bool>();
  welcome.has_timeline = in.take<bool>();
  welcome.now = in.take<Time>();
  welcome.call_overhead = in.take<Duration>();
  welcome.request_overhead = in.take<Duration>();
  welcome.collective_overhead = in.take<Duration>();
  welcome.compute_factor = in.take<double>();
  welcome.messages = in.take<mp::Options>();
  welcome.processor_name = in.take_text();
  welcome.nodes = in.take_list<std::uint32_t>();
  welcome.forced_algorithms = take_texts(in);
  welcome.grid = in.take_list<int>();
  welcome.groups = in.take_list<std::uint32_t>();
  welcome.connections = in.take<conn::Options>();
  return welcome;
}

void pack(const RankReport& report, Packer& out) {
  out.put(std::uint64_t{report.calls.size()});
  for (const RankReport::CallRecord& record : report.calls) {
    out.put_text(record.call);
    out.put(record.count);
    out.put(record.bytes);
    out.put(record.inside);
  }
  out.put(std::uint64_t{report.algorithms.size()});
  for (const RankReport::AlgorithmCount& algorithm : report.algorithms) {
    out.put_text(algorithm.name);
    out.put(algorithm.calls);
  }
  out.put(report.eager);
  out.put(report.rendezvous);
  out.put(report.unexpected);
  out.put(report.clock_reads);
  out.put(report.connections);
  out.put(report.running);
}

RankReport unpack_report(Unpacker& in) {
  RankReport report;
  report.calls.resize(in.take<std::uint64_t>());
  for (RankReport::CallRecord& record : report.calls) {
    record.call = in.take_text();
    record.count = in.take<std::uint64_t>();
    record.bytes = in.take<std::uint64_t>();
    record.inside = in.take<Duration>();
  }
  report.algorithms.resize(in.take<std::uint64_t>());
  for (RankReport::AlgorithmCount& algorithm : report.algorithms) {
    algorithm.name = in.take_text();
    algorithm.calls = in.take<std::uint64_t>();
  }
  report.eager = in.take<std::uint64_t>();
  report.rendezvous = in.take<std::uint64_t>();
  report.unexpected = in.take<std::uint64_t>();
  report.clock_reads = in.take<std::uint64_t>();
  report.connections = in.take<conn::Counts>();
  report.running = in.take<bool>();
  return report;
}

void pack(const RankWait& wait, Packer& out) {
  put_waiting(wait.waiting, out);
  out.put(std::uint64_t{wait.threads.size()});
  for (const Waiting& thread : wait.threads) put_waiting(thread, out);
  out.put(wait.idle);
}

RankWait unpack_wait(Unpacker& in) {
  RankWait wait;
  wait.waiting = take_waiting(in);
  wait.threads.resize(in.take<std::uint64_t>());
  for (Waiting& thread : wait.threads) thread = take_waiting(in);
  wait.idle = in.take<Duration>();
  return wait;
}

void pack(const Completion& completion, Packer& out) {
  out.put(completion.kind);
  out.put(completion.peer);
  out.put(completion.rail);
  out.put(completion.cookie);
  out.put(std::uint64_t{completion.size});
  out.put(completion.head);
  out.put(reinterpret_cast<std::uint64_t>(completion.target));
  const std::size_t size = data_size(completion);
  out.put(size > 0);
  if (size > 0)
    out.put_bytes(completion.lent != nullptr ? completion.lent : completion.data.get(), size);
}

void unpack(Unpacker& in, Completion& out) {
  out.kind = in.take<Completion::Kind>();
  out.peer = in.take<RankId>();
  out.rail = in.take<RailId>();
  out.cookie = in.take<std::uint64_t>();
  out.size = in.take<std::uint64_t>();
  out.head = in.take<FrameHead>();
  out.target = reinterpret_cast<std::byte*>(in.take<std::uint64_t>());
  out.lent = nullptr;
  out.data = nullptr;
  if (!in.take<bool>()) return;
  const std::byte* const data = in.take_bytes(out.size).data();
  if (out.target != nullptr) {
    std::memcpy(out.target, data, out.size);
    out.target = nullptr;
  } else {
    out.data = std::make_unique_for_overwrite<std::byte[]>(out.size);
    std::memcpy(out.data.get(), data, out.size);
  }
}

void pack(const MessageFacts& message, Packer& out) {
  out.put(message.source);
  out.put(message.destination);
  out.put(message.context);
  out.put(message.tag);
  out.put(std::uint64_t{message.size});
  out.put(message.protocol);
}

MessageFacts unpack_facts(Unpacker& in) {
  MessageFacts message;
  message.source = in.take<RankId>();
  message.destination = in.take<RankId>();
  message.context = in.take<std::uint32_t>();
  message.tag = in.take<int>();
  message.size = in.take<std::uint64_t>();
  message.protocol = in.take<MessageFacts::Protocol>();
  return message;
}

}  // namespace weft
