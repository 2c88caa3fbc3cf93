// SPDX-License-Identifier: Apache-2.0
// Requests of the MPI library to `weft run`, over the seat of the process.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <weft/message/mpi/job_desk.hpp>
#include <weft/real/launch/requests.hpp>
#include <weft/real/launch/seat.hpp>
#include <weft/real/wire/wire.hpp>

namespace weft {

class SeatDesk final : public mpi::JobDesk {
 public:
  SeatDesk(launch::Seat& seat, wire::Wire& wire) : seat_(seat), wire_(wire) {}

  Ticket start(std::span<const mpi::SpawnCommand> commands) override;
  Ticket open_port() override { return ask(launch::Request::open_port, {}); }
  Ticket close_port(const std::string& port) override;
  Ticket accept(const std::string& port) override;
  Ticket connect(const std::string& port) override;
  Ticket publish(const std::string& service, const std::string& port) override;
  Ticket unpublish(const std::string& service) override;
  Ticket look_up(const std::string& service) override;
  Ticket tell_connected(std::span<const std::uint32_t> worlds) override;
  Ticket finalize() override { return ask(launch::Request::finalize, {}); }
  Ticket acquaint(std::span<const RankId> ranks) override;
  bool answered(Ticket ticket, Answer& answer) override;
  void ignore(Ticket ticket) override { ignored_.push_back(ticket); }
  bool knows(RankId rank) const override { return wire_.knows(rank); }
  std::uint32_t world_of(RankId rank) const override;
  std::optional<mpi::JobMeeting> parent() const override;

 private:
  Ticket ask(launch::Request kind, const std::string& rest);
  Ticket ask_by_name(launch::Request kind, const std::string& name);
  void read(launch::Request kind, launch::FieldReader& in, Answer& answer);
  void meet(launch::FieldReader& in, Answer& answer);

  launch::Seat& seat_;
  wire::Wire& wire_;
  std::map<Ticket, launch::Request> asked_;
  std::map<Ticket, Answer> failed_;  // Requests that could not be sent.
  std::vector<Ticket> ignored_;
  std::map<std::uint32_t, std::uint32_t> worlds_;  // By rank.
};

}  // namespace weft
