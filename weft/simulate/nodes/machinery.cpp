// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <utility>

#include <weft/simulate/nodes/machinery.hpp>

namespace weft {

namespace {

constexpr std::size_t stack_least = std::size_t{64} << 10, stack_most = std::size_t{8} << 20;
// Limit of address space, not of memory; but each 2 MB that are touched cost a page of tables.
constexpr std::size_t stacks_in_all = std::size_t{32} << 30;

}  // namespace

Machinery::Machinery(const WorldSetup& given, RankBody& what) : setup(given), program(what) {}

// The network sees to it that cards of a node at several routers belong to one worker, if it knows
// of them.
Status Machinery::check_rails() const {
  if (setup.topology->cards == setup.node.rails) return {};
  const Graph& graph = setup.topology->graph;
  for (std::uint32_t n = 0; n < graph.node_count(); n += rails()) {
    for (std::uint32_t i = 1; i < rails(); ++i) {
      if (n + i < graph.node_count() &&
          graph.router_of(NodeId(n)) == graph.router_of(NodeId(n + i))) {
        continue;
      }
      return Error::input("node.rails = " + std::to_string(rails()) +
                          ": the cards of a node must sit at one router, but routers of this "
                          "network have a number of ends that is no multiple of it");
    }
  }
  return {};
}

// A node with ranks is busier than one without.
NetworkOptions Machinery::network_options() {
  const Graph& graph = setup.topology->graph;
  NetworkOptions options;
  options.seed = setup.seed;
  options.workers = setup.workers;
  options.cut = setup.cut;
  options.peers = setup.peers;
  options.bulletin = &stop_ps;
  options.measure_waits = setup.measure_waits;
  options.weight.assign(graph.router_count(), 1);
  for (std::uint32_t n = 0; n < graph.node_count(); ++n) {
    options.weight[graph.router_of(NodeId(n)).index] +=
        setup.placement->count(n / rails()) > 0 ? 2 : 0;
  }
  return options;
}

Status Machinery::build() {
  if (Status status = check_rails(); !status) return status;
  // The card is as fast as its slowest part.
  const Rate card = setup.node.card_rate();
  const Rate wire = setup.machine.node_link.rate;
  setup.machine.inject_rate = slower(slower(setup.machine.inject_rate, wire), card);
  setup.machine.eject_rate = slower(slower(setup.machine.eject_rate, wire), card);
  auto made = make_network(setup.model, *setup.topology, setup.machine, *setup.policy, *this,
                           network_options());
  if (!made) return std::move(made).error();
  network = std::move(*made);
  in_order = setup.policy->facts().in_order;
  tallies.resize(static_cast<std::size_t>(setup.workers));

  const std::uint32_t count = setup.placement->ranks();
  const std::size_t even = stacks_in_all / std::max(count, 1u);
  const std::size_t stack =
      setup.stack_bytes > 0 ? setup.stack_bytes : std::clamp(even, stack_least, stack_most);
  auto mapped =
      Stacks::make(count, stack, setup.guard_stacks ? Stacks::Guards::best : Stacks::Guards::none);
  if (!mapped) return std::move(mapped).error();
  stacks = std::move(*mapped);
  const std::uint32_t nodes = setup.topology->graph.node_count() / rails();
  memory_free_.resize(std::size_t{nodes} * static_cast<std::uint32_t>(setup.node.sockets));
  cards_.resize(std::size_t{nodes} * rails());
  storage.build();
  core_free_.resize(std::size_t{nodes} * static_cast<std::uint32_t>(setup.node.cores));
  if (setup.node.sockets > 1) landings_.resize(nodes);
  ranks.reserve(count);
  waiting_ranks.resize(count);
  for (std::uint32_t r = 0; r < count; ++r) {
    const std::uint32_t node = node_of(RankId(r));
    const bool here = network->is_here(endpoint(node, RailId(0)));
    ranks.push_back(here ? std::make_unique<SimRank>(*this, RankId(r)) : nullptr);
    if (here) ring(node, ranks.back()->next_turn());
  }
  return {};
}

std::uint32_t Machinery::cores_of(RankId rank) const {
  if (setup.cores_per_rank > 0) return setup.cores_per_rank;
  const auto cores = static_cast<std::uint32_t>(setup.node.cores);
  if (cores == 0) return 0;
  return std::max(cores / std::max(setup.placement->count(node_of(rank)), 1u), 1u);
}

void Machinery::start_thread(SimRank& rank) {
  const auto entry = [](void* argument) -> void* {
    auto& self = *static_cast<SimRank*>(argument);
    self.machinery_of().program.run(self.fabric());
    self.end();
  };
  const int error = RankThreads::of(rank).add_main(entry, &rank, stacks->size());
  if (error == 0) return;
  thread_error = error;
  without_thread = rank.self();
  rank.done = true;
  stop(Time::zero());
}

void Machinery::start(SimRank& rank) {
  if (setup.own_threads) {
    start_thread(rank);
    return;
  }
  rank.fiber = std::make_unique<Fiber>(
      stacks->low(rank.self().index), stacks->size(),
      [](void* argument) {
        auto& self = *static_cast<SimRank*>(argument);
        self.machinery_of().program.run(self.fabric());
        self.counts.ended = self.now();
      },
      &rank);
}

void Machinery::rank_ended(SimRank& rank) {
  stacks->give_back(rank.self().index);
}

void Machinery::note_overflow(RankId rank, Time now) {
  std::uint32_t known = nobody;
  overflowed.compare_exchange_strong(known, rank.index);
  stop(now);
}

void Machinery::stop(Time at) {
  std::int64_t known = stop_ps.load();
  while (at.in_ps() < known && !stop_ps.compare_exchange_weak(known, at.in_ps())) {
  }
}

Status Machinery::check_stacks() const {
  if (thread_error != 0)
    return Error::run("no thread for rank " + std::to_string(without_thread.index) + ": " +
                      std::strerror(thread_error) +
                      "; ranks of a program with OpenMP are threads of the system: use fewer, or "
                      "more processes (mpirun -np 2 weft sim ...)");
  const std::uint32_t rank = overflowed.load();
  if (rank == nobody) return {};
  return Error::run("rank " + std::to_string(rank) + " overflowed its stack of " +
                    std::to_string(stacks->size() / 1024) + " KiB; give more with --stack");
}

Time Machinery::alarm(int worker, NodeId endpoint, Time now) {
  const std::uint32_t node = endpoint.index / rails();
  const Time next_landing = land(worker, node, now);
  const Time next_served = storage.serve(node, now);
  const std::uint32_t* const first = setup.placement->first(node);
  const std::uint32_t count = setup.placement->count(node);
  Time next = std::min(next_landing, next_served);
  for (std::uint32_t i = 0; i < count; ++i) {
    SimRank& rank = *ranks[first[i]];
    if (rank.next_turn() <= now && now < last_turn()) rank.take_turn(now);
  }
  // Only now: a rank's turn may have sent something to one that had its turn before.
  for (std::uint32_t i = 0; i < count; ++i) next = std::min(next, ranks[first[i]]->next_turn());
  return next < last_turn() ? next : Time::never();
}

namespace {

void load_lines(const void* from, int lines) {
  constexpr int line = 64;
  if (from == nullptr) return;
  for (int i = 0; i < lines; ++i) __builtin_prefetch(static_cast<const char*>(from) + i * line);
}

}  // namespace

// Ranks take turns, and with thousands of them what one needs has left the caches when its turn
// comes. Of a node with several the first one.
void Machinery::expect(NodeId endpoint) const {
  constexpr int frame_lines = 10, layer_lines = 8;
  const std::uint32_t node = endpoint.index / rails();
  if (setup.placement->count(node) == 0) return;
  const std::uint32_t rank = *setup.placement->first(node);
  load_lines(ranks[rank].get(), static_cast<int>(sizeof(SimRank) / 64) + 1);
  load_lines(waiting_ranks[rank].frame, frame_lines);
  load_lines(waiting_ranks[rank].layer, layer_lines);
}

// A stop takes a while to reach everyone: others may have been further already, and what has
// happened must not depend on them.
Time Machinery::last_turn() const {
  const std::int64_t stop = stop_ps.load(std::memory_order_relaxed);
  if (stop == Time::never().in_ps()) return Time::never();
  return network->last_moment(Time::ps(stop));
}

int Machinery::socket_of(RankId rank) const {
  const std::uint32_t node = node_of(rank), count = setup.placement->count(node);
  const std::uint32_t* const first = setup.placement->first(node);
  const auto slot =
      static_cast<std::uint32_t>(std::lower_bound(first, first + count, rank.index) - first);
  return static_cast<int>(slot * static_cast<std::uint32_t>(setup.node.sockets) / count);
}

int Machinery::socket_of(RankId rank, const void* address) const {
  const auto& placed = ranks[rank.index]->placed;
  if (placed == nullptr) return socket_of(rank);
  const auto* const at = static_cast<const std::byte*>(address);
  for (auto it = placed->rbegin(); it != placed->rend(); ++it) {
    if (at >= it->data && at < it->data + it->size) return it->socket;
  }
  return socket_of(rank);
}

void Machinery::send(Parcel* parcel, const SendPath& path, Time now) {
  const std::uint32_t from = node_of(parcel->from), to = node_of(parcel->to);
  if (from == to) {
    send_locally(parcel, now);
    return;
  }
  const Bytes size = Bytes{static_cast<std::int64_t>(parcel->size)} + setup.node.envelope;
  network->send({endpoint(from, path.rail), endpoint(to, path.rail), size,
                 reinterpret_cast<std::uint64_t>(parcel), path.gap},
                now);
}

void Machinery::send_request(Parcel* parcel, Time now) {
  const std::uint32_t from = node_of(parcel->from);
  const auto to = static_cast<std::uint32_t>(
      setup.storage.nodes[static_cast<std::size_t>(parcel->task->server)]);
  if (from != to) {
    const Bytes size{static_cast<std::int64_t>(parcel->size) + StorageServers::head_bytes};
    network->send({endpoint(from, parcel->rail), endpoint(to, parcel->rail), size,
                   reinterpret_cast<std::uint64_t>(parcel), Duration::zero()},
                  now);
    return;
  }
  if (parcel->source != nullptr) {
    parcel->data = std::make_unique_for_overwrite<std::byte[]>(parcel->held);
    std::memcpy(parcel->data.get(), std::exchange(parcel->source, nullptr), parcel->held);
  }
  storage.arrive(parcel, now + setup.node.local_latency);
}

void Machinery::send_answer(Parcel* parcel, std::uint32_t from, Time now) {
  const std::uint32_t to = node_of(parcel->to);
  if (from == to) {
    hand_over_locally(parcel, now + setup.node.local_latency);
    return;
  }
  const Bytes size{static_cast<std::int64_t>(parcel->size) + StorageServers::head_bytes};
  network->send({endpoint(from, parcel->rail), endpoint(to, parcel->rail), size,
                 reinterpret_cast<std::uint64_t>(parcel), Duration::zero()},
                now);
}

// Through the memory of the node: a frame is there after a moment, a write when it has been copied.
void Machinery::send_locally(Parcel* parcel, Time now) {
  const Duration latency =
      local_latency(parcel->from, parcel->to, parcel->is_write ? 0 : parcel->size);
  Time at = now + latency;
  if (parcel->is_write) {
    const Duration alone =
        serialise(Bytes{static_cast<std::int64_t>(parcel->size)}, setup.node.memory_rate);
    at = copy_end(parcel->to, now, {parcel->size, alone}) + latency;
    if (parcel->source != nullptr && parcel->target != nullptr) {
      std::memcpy(parcel->target, parcel->source, parcel->size);
    }
  } else if (parcel->source != nullptr) {
    parcel->data = std::make_unique_for_overwrite<std::byte[]>(parcel->held);
    std::memcpy(parcel->data.get(), parcel->source, parcel->held);
  }
  if (parcel->cookie != 0) ranks[parcel->from.index]->push_sent(at, parcel->to, parcel->cookie);
  hand_over_locally(parcel, at);
}

// Where large messages are copied by processors, one to oneself is a copy and nothing else.
Duration Machinery::local_latency(RankId a, RankId b, std::size_t size) const {
  const NodeModel& node = setup.node;
  if (a == b && !node.local.write_times.empty()) return Duration::ns(1);
  const bool far = node.local.far_latency > Duration::zero() && socket_of(a) != socket_of(b);
  return (far ? node.local.far_latency : node.local_latency) +
         node.local.latency_times.at(Bytes{static_cast<std::int64_t>(size)});
}

void Machinery::hand_over_locally(Parcel* parcel, Time at) {
  SimRank& rank = *ranks[parcel->to.index];
  rank.push(at, parcel->from.index, parcel->sequence, parcel);
  if (rank.waits()) ring(node_of(parcel->to), at);
}

void Machinery::report_sent(RankId sender, RankId peer, std::uint64_t cookie, Time at) {
  if (cookie == 0) return;
  SimRank& rank = *ranks[sender.index];
  rank.push_sent(at, peer, cookie);
  if (rank.waits()) ring(node_of(sender), at);
}

// The core that is free first takes the work, and does it without a pause.
Time Machinery::work_end(RankId rank, Time from, Duration work) {
  if (!shares_cores(rank)) return from + work;
  const auto cores = static_cast<std::uint32_t>(setup.node.cores);
  const auto first = core_free_.begin() + static_cast<std::ptrdiff_t>(node_of(rank)) * cores;
  Time& free = *std::min_element(first, first + cores);
  free = std::max(free, from) + work;
  return free;
}

Time Machinery::copy_end(RankId rank, Time from, const CopyWork& copy) {
  if (copy.cached || !shares_memory(rank)) return from + copy.alone;
  Time& free =
      memory_free_[std::size_t{node_of(rank)} * static_cast<std::uint32_t>(setup.node.sockets) +
                   static_cast<std::uint32_t>(socket_of(rank))];
  const Bytes size{static_cast<std::int64_t>(copy.size)};
  free = std::max(free, from) + serialise(size, setup.node.memory_rate);
  return std::max(free, from + copy.alone);
}

// The sender's data is taken at the last moment before it may change.
void Machinery::departed(int /*worker*/, const Departure& d) {
  auto& parcel = *reinterpret_cast<Parcel*>(d.cookie);
  if (d.letter != nullptr) {
    d.letter->put(parcel.source != nullptr);
    if (parcel.source != nullptr) d.letter->put_bytes(parcel.source, parcel.held);
  } else if (parcel.source != nullptr) {
    if (parcel.is_write) {
      // Into the receiver's memory at once: it does not look before the notice.
      if (parcel.target != nullptr) std::memcpy(parcel.target, parcel.source, parcel.size);
    } else {
      parcel.data = std::make_unique_for_overwrite<std::byte[]>(parcel.held);
      std::memcpy(parcel.data.get(), parcel.source, parcel.held);
    }
    parcel.source = nullptr;
  }
  if (parcel.cookie != 0) {
    SimRank& rank = *ranks[parcel.from.index];
    rank.push_sent(d.at, parcel.to, parcel.cookie);
    if (rank.waits()) ring(node_of(parcel.from), d.at);
  }
  if (d.letter != nullptr) delete &parcel;
}

namespace {

// A parcel as it travels between processes; the target is an address of the receiver's.
struct ParcelText {
  std::uint32_t from, to, rail, sequence;
  bool is_write, has_data;
  Parcel::Greeting greeting;
  std::uint64_t size, held, target;
  FrameHead head;
  bool has_task;
};

struct TaskText {
  std::uint64_t access, device, inode, size, moved;
  std::int64_t offset;
  std::uint32_t server, part;
  std::int32_t error;
  bool writing, answer;
};

void pack_task(const StorageTask& task, Packer& letter) {
  letter.put(TaskText{task.access, task.device, task.inode, task.size, task.moved, task.offset,
                      task.server, task.part, task.error, task.writing, task.answer});
  letter.put_text(task.path);
}

std::unique_ptr<StorageTask> unpack_task(Unpacker& letter) {
  const auto text = letter.take<TaskText>();
  auto task = std::make_unique<StorageTask>();
  task->access = text.access;
  task->device = text.device;
  task->inode = text.inode;
  task->size = text.size;
  task->moved = text.moved;
  task->offset = text.offset;
  task->server = text.server;
  task->part = text.part;
  task->error = text.error;
  task->writing = text.writing;
  task->answer = text.answer;
  task->path = letter.take_text();
  return task;
}

}  // namespace

void Machinery::pack(std::uint64_t cookie, Packer& letter) {
  const auto& parcel = *reinterpret_cast<const Parcel*>(cookie);
  ParcelText text = {};
  text.from = parcel.from.index;
  text.to = parcel.to.index;
  text.rail = parcel.rail.index;
  text.sequence = parcel.sequence;
  text.is_write = parcel.is_write;
  text.has_data = parcel.data != nullptr;
  text.greeting = parcel.greeting;
  text.size = parcel.size;
  text.held = parcel.held;
  text.target = reinterpret_cast<std::uint64_t>(parcel.target);
  text.head = parcel.head;
  text.has_task = parcel.task != nullptr;
  letter.put(text);
  if (text.has_task) pack_task(*parcel.task, letter);
  if (text.has_data) letter.put_bytes(parcel.data.get(), parcel.held);
}

std::uint64_t Machinery::unpack(NodeId /*to*/, Unpacker& letter) {
  const auto text = letter.take<ParcelText>();
  Parcel* const parcel = make_parcel();
  parcel->from = RankId(text.from);
  parcel->to = RankId(text.to);
  parcel->rail = RailId(text.rail);
  parcel->sequence = text.sequence;
  parcel->is_write = text.is_write;
  parcel->greeting = text.greeting;
  parcel->size = text.size;
  parcel->held = text.held;
  parcel->target = reinterpret_cast<std::byte*>(text.target);
  parcel->head = text.head;
  if (text.has_task) parcel->task = unpack_task(letter);
  if (text.has_data) {
    parcel->data = std::make_unique_for_overwrite<std::byte[]>(text.held);
    std::memcpy(parcel->data.get(), letter.take_bytes(text.held).data(), text.held);
  }
  return reinterpret_cast<std::uint64_t>(parcel);
}

// As departed() does where both ends are in one process: it is read later, but before anyone looks.
void Machinery::unpack_data(std::uint64_t cookie, Unpacker& letter) {
  auto& parcel = *reinterpret_cast<Parcel*>(cookie);
  if (!letter.take<bool>()) return;
  const std::byte* const data = letter.take_bytes(parcel.held).data();
  if (!parcel.is_write) {
    parcel.data = std::make_unique_for_overwrite<std::byte[]>(parcel.held);
    std::memcpy(parcel.data.get(), data, parcel.held);
  } else if (parcel.target != nullptr) {
    std::memcpy(parcel.target, data, parcel.size);
  }
}

void Machinery::delivered(int worker, const Delivery& d) {
  auto* const parcel = reinterpret_cast<Parcel*>(d.cookie);
  if (parcel->task != nullptr) {
    if (parcel->task->answer) {
      hand_over_locally(parcel, d.arrived);
    } else {
      storage.arrive(parcel, d.arrived);
    }
    return;
  }
  if (setup.node.sockets == 1) {
    hand_over(worker, parcel, d.born, d.arrived);
    return;
  }
  const std::uint32_t node = node_of(parcel->to);
  Card& card = cards_[std::size_t{node} * rails() + parcel->rail.index];
  const int near = setup.node.socket_of_card(static_cast<int>(parcel->rail.index));
  card.socket = parcel->is_write ? socket_of(parcel->to, parcel->target) : near;
  const Duration on_wire = serialise(d.size, setup.machine.eject_rate);
  card.since = std::max(card.free, std::max(d.entered, d.arrived - on_wire));
  card.free = std::max(card.free, d.arrived);
  if (card.socket == near || setup.node.far_latency == Duration::zero()) {
    hand_over(worker, parcel, d.born, card.free);
    return;
  }
  // Other writes to that memory are known only when all of it has arrived.
  landings_[node].push_back({parcel, d});
  ring(node, d.arrived);
}

void Machinery::hand_over(int worker, Parcel* parcel, Time born, Time at) {
  tallies[static_cast<std::size_t>(worker)].latencies_ps.add((at - born).in_ps());
  SimRank& rank = *ranks[parcel->to.index];
  rank.push(at, parcel->from.index, parcel->sequence, parcel);
  if (rank.waits()) ring(node_of(parcel->to), at);
}

// Hands over what has come for far memory; when there will be more.
Time Machinery::land(int worker, std::uint32_t node, Time now) {
  if (landings_.empty()) return Time::never();
  Time next = Time::never();
  std::vector<Landing> later;
  for (const Landing& landing : std::exchange(landings_[node], {})) {
    if (landing.delivery.arrived > now) {
      next = std::min(next, landing.delivery.arrived);
      later.push_back(landing);
    } else {
      hand_over(worker, landing.parcel, landing.delivery.born, far_end(node, landing));
    }
  }
  landings_[node] = std::move(later);
  return next;
}

// When a card has written a message to far memory. It has some bus payloads under way at once, and
// each waits for one payload of every other card that writes to the same memory meanwhile. Where
// cards send in turns, messages arrive together, and each is written while it arrives.
Time Machinery::far_end(std::uint32_t node, const Landing& landing) {
  Card* const first = &cards_[std::size_t{node} * rails()];
  const std::uint32_t own = landing.parcel->rail.index;
  Card& card = first[own];
  const bool together = setup.machine.order == SendOrder::round_robin;
  const Time since = together ? std::max(card.far_free, landing.delivery.entered) : card.since;
  std::int64_t others = 0;
  for (std::uint32_t i = 0; i < rails(); ++i) {
    const Card& other = first[i];
    if (i != own && other.socket == card.socket && other.free > since && other.since < card.free) {
      ++others;
    }
  }
  const std::int64_t payload = setup.node.bus_payload.count;
  const std::int64_t payloads = (landing.delivery.size.count + payload - 1) / payload;
  const std::int64_t at_once = std::min<std::int64_t>(setup.node.far_transactions, payloads);
  const Duration one = serialise(setup.node.bus_payload, setup.node.memory_rate);
  // The payloads under way share the memory with the others, or wait for the round trip.
  const Duration round_trip =
      std::max(setup.node.far_latency + one * others, one * (1 + others) * at_once);
  const std::int64_t round_trips = (payloads + at_once - 1) / at_once;
  card.far_free = since + round_trip * round_trips;
  card.free = std::max(card.free, card.far_free);
  if (!together) return card.free;
  return std::max(landing.delivery.arrived + round_trip, card.far_free);
}

}  // namespace weft
