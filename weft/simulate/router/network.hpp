// SPDX-License-Identifier: Apache-2.0
// A network of virtual cut-through routers in virtual time. Messages go in at nodes, are cut into
// packets as the card drains them, and come out whole at other nodes. Same inputs and seed: the
// same times, for any number of workers and any window length.
#pragma once  // Public, for simulations: names and meanings stay within 0.1.

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <weft/base/id.hpp>
#include <weft/base/pack.hpp>
#include <weft/base/result.hpp>
#include <weft/base/units.hpp>
#include <weft/network/part/part.hpp>
#include <weft/network/route/policy.hpp>
#include <weft/network/topo/topology.hpp>
#include <weft/parallel/processes/process_group.hpp>
#include <weft/simulate/router/machine.hpp>

namespace weft {

struct Delivery {
  NodeId from, to;
  Bytes size;
  Time born;     // send() was called.
  Time entered;  // Its first flit left the card.
  Time arrived;  // Its last flit has arrived; may lie ahead of the clock, never behind.
  int hops = 0;  // Links between routers crossed by its last packet.
  std::uint64_t cookie = 0;
};

struct Outgoing {
  NodeId from, to;
  Bytes size;
  std::uint64_t cookie = 0;
  Duration gap;  // Silence of the card after each of its packets.
};

// The card is done with a message: its last flit leaves at `at`, which may lie ahead of the clock.
struct Departure {
  NodeId from, to;
  std::uint64_t cookie = 0;
  Time at;
  // Set when the receiver lives in another process: takes what unpack_data() shall find there. The
  // cookie is of no use to anybody afterwards.
  Packer* letter = nullptr;
};

// What the nodes do. Called by the worker that owns the node's router, for one node at a time and
// in the order of its clock; a host keeps its state per node (or per worker) and shares nothing
// else.
class Host {
 public:
  virtual ~Host() = default;
  // The node's alarm rang; returns when it shall ring next (Time::never() for not at all). May call
  // Network::send for this node.
  virtual Time alarm(int worker, NodeId node, Time now) = 0;
  // A message for d.to is complete, or certain to be at d.arrived.
  virtual void delivered(int worker, const Delivery& d) = 0;
  // The sender's side of it; called for node d.from.
  virtual void departed(int /*worker*/, const Departure& /*d*/) {}

  // Between processes: what the receiver's host must know about a message that is being sent; the
  // cookie that it makes of that; and what was added when the message departed.
  virtual void pack(std::uint64_t cookie, Packer& letter) { letter.put(cookie); }
  virtual std::uint64_t unpack(NodeId /*to*/, Unpacker& letter) {
    return letter.take<std::uint64_t>();
  }
  virtual void unpack_data(std::uint64_t /*cookie*/, Unpacker& /*letter*/) {}
};

struct NetworkOptions {
  std::uint64_t seed = 1;
  int workers = 1;  // Threads; one in each of several processes.
  Cut cut = Cut::automatic;
  std::vector<std::uint32_t> weight =
      {};                         // Expected load by router, to share it out; empty: by nodes.
  ProcessGroup* peers = nullptr;  // The processes that share this network; null: it is alone.
  // The least of all processes' is everybody's, at last_moment() of it at the latest.
  std::atomic<std::int64_t>* bulletin = nullptr;
  Duration window =
      {};  // Zero: the longest that is exact. Shorter ones give the same results, more slowly.
};

struct LinkCount {
  std::uint64_t packets = 0;
  std::uint64_t bytes = 0;
  std::uint64_t news = 0;  // Flits of what routers tell each other, in band.
};

// Packets that have begun to arrive in a buffer and were not sent on.
struct BufferLevel {
  std::uint32_t packets = 0;
  Bytes bytes;
  bool operator==(const BufferLevel&) const = default;
};

struct NetworkCounts {
  std::uint64_t packets_sent = 0, packets_delivered = 0;
  std::uint64_t hops = 0;    // Packets times links between routers.
  std::uint64_t visits = 0;  // Routers looked at; the work done.
};

struct MemoryUse {
  std::uint64_t bytes_per_router = 0;  // Of state that exists before any packet does.
  std::uint64_t bytes_per_packet = 0;  // In flight.
  std::uint64_t bytes_reserved = 0;    // Address space for buffers, committed as they fill.
};

namespace detail {
class Engine;
}

class Network {
 public:
  // The topology, policy and host outlive the network.
  static Result<std::unique_ptr<Network>> make(const Topology& topology, const Machine& machine,
                                               const Policy& policy, Host& host,
                                               const NetworkOptions& options);
  ~Network();

  // Rings the node at `at` if it would not ring sooner; before the first run, or from any call to
  // the host for that node.
  void set_alarm(NodeId node, Time at);
  // From alarm() of node `from`, or before the first run.
  void send(const Outgoing& message, Time now);
  void send(NodeId from, NodeId to, Bytes size, Time now, std::uint64_t cookie = 0) {
    send({from, to, size, cookie, Duration::zero()}, now);
  }

  // Executes everything before `until`; true when anything remains to be done. All processes make
  // this call, and get the same. An error: a packet
  // that no route leads on, or one lost, doubled or out of order (which would be our bug).
  Result<bool> run(Time until);

  // Packets that wait for each other in a circle, if there are such: "(0,0) east VC 0 waits for
  // (1,0) ...". Meant for a network in which nothing has moved for a while; exact at any time. A
  // call that all processes make.
  std::string find_deadlock() const;

  // What follows is of the routers of this process.
  bool is_here(RouterId router) const;
  bool is_here(NodeId node) const;
  NetworkCounts counts() const;
  LinkCount link(LinkId link) const;
  // Of an input port and VC; ports between routers come first, then those of the router's nodes.
  // `at`: the time up to which the network has run.
  BufferLevel buffer(RouterId router, int port, int vc, Time at) const;
  // What a router tells of one of its policy's lines, as it knows it when the run has ended.
  LineNews line(RouterId router, int port, int line) const;
  MemoryUse memory() const;
  Duration window() const;
  // Before everybody knows of something that happens at `time`, nodes may have come so far.
  Time last_moment(Time time) const;

 private:
  explicit Network(std::unique_ptr<detail::Engine> engine);
  std::unique_ptr<detail::Engine> engine_;
};

}  // namespace weft
