// SPDX-License-Identifier: Apache-2.0
// A network with few connections, over one with many: a layer between the message layer and a
// Fabric that replaces its transport, connections and rails. A rank reaches peers that it is not
// connected to over its neighbours, and asks for a shortcut; see docs/concepts/connections.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include <weft/message/conn/departure.hpp>
#include <weft/message/conn/layout.hpp>
#include <weft/message/conn/neighbours.hpp>
#include <weft/message/conn/options.hpp>
#include <weft/message/conn/relays.hpp>
#include <weft/message/conn/shortcuts.hpp>
#include <weft/message/conn/state.hpp>
#include <weft/message/port/fabric.hpp>

namespace weft::conn {

// Puts the parts together: hands frames to the part that carries them, and what the network reports
// to the part that it concerns.
class Managed final : public Transport,
                      public Connections,
                      public Rails,
                      private Relays::Owner,
                      private Shortcuts::Owner {
 public:
  // Begins to connect, as the mode says. What it is given must outlive it.
  Managed(const Fabric& below, const Layout& layout, const Options& options);
  Managed(const Managed&) = delete;
  Managed& operator=(const Managed&) = delete;

  // Does what others need of this rank, for as many as `most` events; what is for the layer above
  // waits until it polls. For a program that computes. false: there is nothing to do.
  bool serve(std::size_t most);
  // Serves others until all ranks have made this call and need no relays any more.
  void leave();
  const Counts& counts() const { return state_.counts; }
  // Others may depend on this rank.
  bool may_relay() const {
    return state_.options.mode == Mode::managed && state_.layout.relays(state_.self);
  }
  // For the layer above; valid as long as this object is.
  const Fabric& fabric() const { return fabric_; }

  int rail_count(RankId peer) const override { return state_.below.rails.rail_count(peer); }
  RailFacts rail_facts(RankId peer, RailId rail) const override;
  void lower_rates(RankId peer, const std::byte* data, std::span<double> rates) const override;
  void connect(RankId peer) override;
  void disconnect(RankId) override {}  // Connections close by agreement; see shortcuts.cpp.
  bool connected(RankId peer) const override {
    return is_stranger(peer) ? state_.below.connections.connected(peer) : state_.connected(peer);
  }
  bool needs_connection(RankId peer) const override {
    return state_.below.connections.needs_connection(peer);
  }
  void post(const SendPath& path, const FrameHead& head, Payload payload, bool stable,
            std::uint64_t cookie) override;
  void write(const SendPath& path, Payload payload, RemoteMemory target, const FrameHead& notice,
             std::uint64_t cookie) override;
  bool take_back(RankId peer, std::uint64_t cookie) override;
  std::uint64_t register_memory(RankId peer, std::byte* data, std::size_t size) override;
  void deregister_memory(std::uint64_t key) override;
  bool poll(Completion& out) override;
  void wait(Time until) override;

 private:
  // A rank that did not start together with this one: the network carries everything.
  bool is_stranger(RankId peer) const { return !fabric_.started_together(peer); }
  // How a frame reaches its peer.
  enum class Carriage : std::uint8_t { directly, when_open, by_relays };

  // Relays::Owner
  void no_route(RankId target) override { shortcuts_.force(target); }
  void was_relayed(RankId source) override { shortcuts_.note_relayed(source); }
  void heard(Control control, RankId source) override;
  // Shortcuts::Owner
  void link_opened(RankId peer) override;
  void link_refused(RankId peer) override;
  void unreachable(RankId peer) override { lose(peer, false); }

  Carriage carriage_to(RankId peer);
  void send_by_relays(RankId peer, SendWindow::Message&& message);
  void hold(WaitingFrame&& frame);
  void post_now(const SendPath& path, const FrameHead& head, Payload payload, bool stable,
                std::uint64_t cookie);
  void write_now(const SendPath& path, Payload payload, RemoteMemory target,
                 const FrameHead& notice, std::uint64_t cookie);
  bool holds_frames() const;

  bool pass_up(Completion& in, Completion& out);
  void keep_for_later(Completion&& arrived);
  void lose_unreachable();
  void handle(Completion& in);
  void on_own_frame(const Head& head, Completion& in);
  void on_left(const Completion& in);
  void separate(RankId a, RankId b);
  void lose(RankId rank, bool tells_others = true);

  State state_;
  const Fabric fabric_;
  Neighbours neighbours_;
  Relays relays_;
  Shortcuts shortcuts_;
  Departure departure_;
  std::unique_ptr<std::byte[]> lent_;
  Completion in_;
  bool idle_once_ = false;
};

}  // namespace weft::conn
