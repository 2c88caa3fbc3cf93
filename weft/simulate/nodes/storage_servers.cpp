// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <utility>

#include <weft/simulate/nodes/machinery.hpp>
#include <weft/simulate/nodes/storage_servers.hpp>

namespace weft {

namespace {

// Among what comes for a rank at one moment, numbers of answers differ from those of messages.
constexpr std::uint32_t from_client = 0x8000'0000;

}  // namespace

void StorageServers::build() {
  for (const int node : machinery_.setup.storage.nodes) {
    const auto index = static_cast<std::uint32_t>(node);
    at_node_[index].push_back(static_cast<std::uint32_t>(servers_.size()));
    servers_.push_back({index, {}, {}, {}});
  }
}

Parcel* StorageServers::take(std::vector<Waiting>& heap) {
  std::pop_heap(heap.begin(), heap.end());
  Parcel* const parcel = heap.back().parcel;
  heap.pop_back();
  return parcel;
}

void StorageServers::arrive(Parcel* parcel, Time at) {
  Server& server = servers_[parcel->task->server];
  server.arrived.push_back({at, parcel->from.index, parcel->sequence, parcel});
  std::push_heap(server.arrived.begin(), server.arrived.end());
  machinery_.ring(server.node, at);
}

Time StorageServers::serve(std::uint32_t node, Time now) {
  const auto here = at_node_.find(node);
  if (here == at_node_.end()) return Time::never();
  Time next = Time::never();
  for (const std::uint32_t index : here->second) {
    Server& server = servers_[index];
    while (!server.arrived.empty() && server.arrived.front().at <= now) {
      work(server, take(server.arrived), now);
    }
    while (!server.answers.empty() && server.answers.front().at <= now) {
      machinery_.send_answer(take(server.answers), server.node, now);
    }
    if (!server.arrived.empty()) next = std::min(next, server.arrived.front().at);
    if (!server.answers.empty()) next = std::min(next, server.answers.front().at);
  }
  return next;
}

// The disk takes requests one after the other. The file changes when its turn is certain, which
// nobody can tell from when the disk has done it.
void StorageServers::work(Server& server, Parcel* parcel, Time now) {
  StorageTask& task = *parcel->task;
  const StorageModel& model = machinery_.setup.storage;
  if (!task.writing) {
    parcel->data = std::make_unique_for_overwrite<std::byte[]>(task.size);
  }
  FileOperation operation{task.writing,       task.path, task.device, task.inode, task.offset,
                          parcel->data.get(), task.size, 0,           0};
  machinery_.program.access_file(operation);
  task.moved = operation.moved;
  task.error = operation.error;
  task.answer = true;
  parcel->held = parcel->size = task.writing ? 0 : task.moved;
  if (task.writing) parcel->data.reset();
  const Duration on_disk =
      model.latency + serialise(Bytes{static_cast<std::int64_t>(task.moved)}, model.disk_rate);
  server.free = std::max(server.free, now) + on_disk;
  server.answers.push_back({server.free, parcel->from.index, parcel->sequence, parcel});
  std::push_heap(server.answers.begin(), server.answers.end());
}

void StorageServers::drop() {
  for (Server& server : servers_) {
    for (const Waiting& one : server.arrived) delete one.parcel;
    for (const Waiting& one : server.answers) delete one.parcel;
  }
}

std::size_t StorageClient::stripe() const {
  return static_cast<std::size_t>(rank_.machinery_of().setup.storage.stripe.count);
}

Parcel* StorageClient::request(const ServedAccess& access, std::int64_t from, std::size_t size) {
  Machinery& machinery = rank_.machinery_of();
  Parcel* const parcel = machinery.make_parcel();
  parcel->from = parcel->to = rank_.self();
  parcel->task = std::make_unique<StorageTask>();
  StorageTask& task = *parcel->task;
  task.writing = access.writing;
  task.server = machinery.setup.storage.server_of(from);
  task.access = last_;
  task.device = access.device;
  task.inode = access.inode;
  task.offset = from;
  task.size = size;
  task.path = access.path;
  if (access.writing) {
    parcel->size = parcel->held = size;
    parcel->source = access.memory + (from - access.offset);
  }
  return parcel;
}

// All parts are asked for at once; the network and the servers take them as they can.
void StorageClient::begin(ServedAccess& access) {
  Machinery& machinery = rank_.machinery_of();
  rank_.settle();
  Open& open = open_[++last_];
  open.access = &access;
  const auto each = static_cast<std::int64_t>(stripe());
  const std::int64_t end = access.offset + static_cast<std::int64_t>(access.size);
  for (std::int64_t at = access.offset; at < end;) {
    const std::int64_t stop = std::min(end, (at / each + 1) * each);
    open.sizes.push_back(static_cast<std::uint64_t>(stop - at));
    at = stop;
  }
  open.moved.resize(open.sizes.size());
  open.parts_open = static_cast<std::uint32_t>(open.sizes.size());
  std::int64_t at = access.offset;
  for (std::uint32_t part = 0; part < open.parts_open; ++part) {
    const std::uint64_t size = open.sizes[part];
    Parcel* const parcel = request(access, at, size);
    parcel->task->part = part;
    parcel->sequence = from_client | sent_++;
    parcel->rail = RailId(part % machinery.rails());
    machinery.send_request(parcel, rank_.now());
    at += static_cast<std::int64_t>(size);
  }
}

void StorageClient::hear(std::unique_ptr<Parcel> answer) {
  const StorageTask& task = *answer->task;
  const auto found = open_.find(task.access);
  Open& open = found->second;
  ServedAccess& access = *open.access;
  open.moved[task.part] = task.moved;
  if (task.error != 0 && access.error == 0) access.error = task.error;
  if (!task.writing && task.moved > 0) {
    std::memcpy(access.memory + (task.offset - access.offset), answer->data.get(), task.moved);
  }
  if (--open.parts_open > 0) return;
  for (std::size_t part = 0; part < open.sizes.size(); ++part) {
    access.moved += open.moved[part];
    if (open.moved[part] < open.sizes[part]) break;
  }
  open_.erase(found);
  access.ended();
}

}  // namespace weft
