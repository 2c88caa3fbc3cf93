// SPDX-License-Identifier: Apache-2.0
// A network of virtual cut-through routers in virtual time. Nodes send messages, their cards cut
// them into packets, and other nodes receive them whole. The same inputs and seed give the same
// times, for any number of workers and any window length.
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
#include <weft/simulate/router/hardware.hpp>

namespace weft {

struct Delivery {
  NodeId from, to;
  Bytes size;
  Time born;     // send() was called.
  Time entered;  // Its first flit left the card.
  Time arrived;  // Its last flit arrives; now or in the future of the node's clock.
  int hops = 0;  // Links between routers crossed by its last packet.
  std::uint64_t cookie = 0;
};

struct Outgoing {
  NodeId from, to;
  Bytes size;
  std::uint64_t cookie = 0;
  Duration gap;  // The card pauses this long after each packet.
};

// The card has made all packets of a message. The last flit leaves at `at`, now or in the future of
// the node's clock.
struct Departure {
  NodeId from, to;
  std::uint64_t cookie = 0;
  Time at;
  // Set if the receiver belongs to another process: what is put here is handed to unpack_data()
  // there. The cookie is not used any more afterwards.
  Packer* letter = nullptr;
};

// What the nodes do. The worker that owns a node's router calls these functions, for one node at a
// time and in the order of its clock. Workers call them concurrently for different nodes, so a host
// keeps its state per node or per worker.
class Host {
 public:
  virtual ~Host() = default;
  // The node's alarm rings. Returns when it rings next; Time::never() for not at all. May call
  // Network::send for this node.
  virtual Time alarm(int worker, NodeId node, Time now) = 0;
  // The node's alarm will probably ring soon: a chance to load what it needs into the caches.
  virtual void expect(NodeId /*node*/) const {}
  // A message for d.to is complete, or will certainly be at d.arrived.
  virtual void delivered(int worker, const Delivery& d) = 0;
  // A message has left the card of node d.from.
  virtual void departed(int /*worker*/, const Departure& /*d*/) {}

  // For a message to another process. pack(): what the receiver's host must know of it when it is
  // sent. unpack(): the receiver's cookie, made from that. unpack_data(): what departed() added.
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
      {};                         // Expected load by router, to balance workers; empty: by nodes.
  ProcessGroup* peers = nullptr;  // The processes that share this network; null: it is alone.
  // All processes learn the minimum of their numbers, before any node's clock passes last_moment()
  // of it.
  std::atomic<std::int64_t>* bulletin = nullptr;
  Duration window =
      {};  // Zero: the longest exact one. Shorter windows give the same results, more slowly.
  bool measure_waits = false;  // How long packets wait for links, for a few percent of the time.
  // Use visits of routers that are made for certain networks. They decide as the others do, which
  // tests verify.
  bool special_visits = true;
  // Buffers that are small together are not cut into blocks, which saves time. Results are the
  // same.
  bool whole_rings = true;
};

// A link between routers, or between a node's card and its router, in one direction.
struct LinkCount {
  std::uint64_t packets = 0;  // That have begun to pass.
  std::uint64_t bytes = 0;    // That have passed, in whole bytes.
  std::uint64_t news = 0;     // Flits of news of lines, in band.
  // How long packets waited in front of this link from when they could have gone had they been
  // alone: in queue behind others in their buffer; then, first in it, for their turn, while the
  // link or their way through the crossbar was busy; then for room in a buffer behind the link.
  // Together with the latency of an idle network this is all of a packet's time. Zero unless
  // NetworkOptions asks for it.
  Duration waited_in_queue = {}, waited_for_turn = {}, waited_for_room = {};

  Duration waited() const { return waited_in_queue + waited_for_turn + waited_for_room; }
};

// The link between a node's card and its router. A node with several cards has several such links,
// each of a NodeId of the network.
struct NodeLinkCount {
  LinkCount injected, ejected;
};

// Packets that have begun to arrive in a buffer and have not been granted an output.
struct BufferLevel {
  std::uint32_t packets = 0;
  Bytes bytes;
  bool operator==(const BufferLevel&) const = default;
};

struct NetworkCounts {
  std::uint64_t packets_sent = 0, packets_delivered = 0;
  std::uint64_t hops = 0;    // Packets times links between routers.
  std::uint64_t visits = 0;  // Routers visited, once per window: a measure of the work.
  // Of the model of flows: what it has moved, and the part that was held back where packets would
  // stand in each other's way, so that the time of it is less certain.
  std::uint64_t flow_bytes = 0, uncertain_bytes = 0;
};

struct MemoryUse {
  std::uint64_t bytes_per_router = 0;  // State without packets.
  std::uint64_t bytes_per_packet = 0;  // In flight.
  std::uint64_t bytes_reserved = 0;    // Address space of buffers; memory is used as they fill.
};

// What every model of a network does. Network::make() makes the one that follows each packet.
class Network {
 public:
  // The topology, policy and host outlive the network.
  static Result<std::unique_ptr<Network>> make(const Topology& topology,
                                               const NetworkHardware& machine, const Policy& policy,
                                               Host& host, const NetworkOptions& options);
  virtual ~Network() = default;

  // The node's alarm rings at `at`, unless it is set to ring sooner. Call before the first run, or
  // from any call to the host for that node.
  virtual void set_alarm(NodeId node, Time at) = 0;
  // Call from alarm() of node `from`, or before the first run.
  virtual void send(const Outgoing& message, Time now) = 0;
  void send(NodeId from, NodeId to, Bytes size, Time now, std::uint64_t cookie = 0) {
    send({from, to, size, cookie, Duration::zero()}, now);
  }

  // Simulates everything before `until`. True if anything remains to be done. A call that all
  // processes make, with the same answer. An error: a packet for which the routing has no way.
  virtual Result<bool> run(Time until) = 0;

  // Buffers that wait for each other in a circle, in words; empty if there are none. Exact at any
  // time. A call that all processes make.
  virtual std::string find_deadlock() const = 0;

  // The rest concerns the routers of this process.
  virtual bool is_here(RouterId router) const = 0;
  virtual bool is_here(NodeId node) const = 0;
  virtual NetworkCounts counts() const = 0;
  // Until `at`, the time up to which the network has run, or never() for all of the packets that
  // have begun to pass. Of a packet that is passing then, the part that time gives it is counted,
  // so what is counted between two moments is never more than the link's rate allows.
  virtual LinkCount link(LinkId link, Time at) const = 0;
  LinkCount link(LinkId id) const { return link(id, Time::never()); }
  virtual NodeLinkCount node_link(NodeId node, Time at) const = 0;
  NodeLinkCount node_link(NodeId node) const { return node_link(node, Time::never()); }
  // Level of an input port and VC. Ports to other routers come first, then those of the router's
  // nodes. `at`: the time up to which the network has run.
  virtual BufferLevel buffer(RouterId router, int port, int vc, Time at) const = 0;
  // What a router knows of one of its policy's lines at the end of the last run.
  virtual LineNews line(RouterId router, int port, int line) const = 0;
  virtual MemoryUse memory() const = 0;
  virtual Duration window() const = 0;
  // How far a node's clock may be before all processes know of something that happens at `time`.
  virtual Time last_moment(Time time) const = 0;
};

}  // namespace weft
