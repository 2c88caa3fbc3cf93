// SPDX-License-Identifier: Apache-2.0
#include "seat_desk.hpp"

#include <utility>

#include <weft/message/mpi/include/mpi.h>

namespace weft {

namespace {

int error_of(launch::Verdict verdict) {
  switch (verdict) {
    case launch::Verdict::granted:
      return MPI_SUCCESS;
    case launch::Verdict::not_started:
      return MPI_ERR_SPAWN;
    case launch::Verdict::no_port:
      return MPI_ERR_PORT;
    case launch::Verdict::no_name:
      return MPI_ERR_NAME;
    case launch::Verdict::service_is_taken:
      return MPI_ERR_SERVICE;
    case launch::Verdict::not_understood:
      break;
  }
  return MPI_ERR_INTERN;
}

}  // namespace

SeatDesk::Ticket SeatDesk::ask(launch::Request kind, const std::string& rest) {
  std::string unread;
  std::erase_if(ignored_, [&](Ticket ticket) { return seat_.answered(ticket, unread); });
  Ticket ticket = 0;
  const std::string request = static_cast<char>(kind) + rest;
  if (seat_.ask(request, ticket)) {
    asked_[ticket] = kind;
    return ticket;
  }
  constexpr Ticket not_sent = Ticket{1} << 63;
  ticket = not_sent + failed_.size();
  Answer& answer = failed_[ticket];
  answer.error = MPI_ERR_OTHER;
  answer.text = "weft run cannot be asked: it is gone, or the request takes more than 1 MiB";
  return ticket;
}

SeatDesk::Ticket SeatDesk::ask_by_name(launch::Request kind, const std::string& name) {
  launch::FieldWriter out;
  out.text(name);
  return ask(kind, out.take());
}

SeatDesk::Ticket SeatDesk::start(std::span<const mpi::SpawnCommand> commands) {
  launch::StartRequest request;
  for (const mpi::SpawnCommand& command : commands) {
    request.commands.push_back({command.words, static_cast<std::uint32_t>(command.count),
                                command.folder, command.host, command.path});
  }
  return ask(launch::Request::start, to_bytes(request));
}

SeatDesk::Ticket SeatDesk::close_port(const std::string& port) {
  return ask_by_name(launch::Request::close_port, port);
}
SeatDesk::Ticket SeatDesk::accept(const std::string& port) {
  return ask_by_name(launch::Request::accept, port);
}
SeatDesk::Ticket SeatDesk::connect(const std::string& port) {
  return ask_by_name(launch::Request::connect, port);
}
SeatDesk::Ticket SeatDesk::unpublish(const std::string& service) {
  return ask_by_name(launch::Request::unpublish, service);
}
SeatDesk::Ticket SeatDesk::look_up(const std::string& service) {
  return ask_by_name(launch::Request::look_up, service);
}

SeatDesk::Ticket SeatDesk::publish(const std::string& service, const std::string& port) {
  launch::FieldWriter out;
  out.text(service);
  out.text(port);
  return ask(launch::Request::publish, out.take());
}

SeatDesk::Ticket SeatDesk::tell_connected(std::span<const std::uint32_t> worlds) {
  launch::FieldWriter out;
  for (const std::uint32_t first : worlds) out.number(first);
  return ask(launch::Request::connected, out.take());
}

SeatDesk::Ticket SeatDesk::acquaint(std::span<const RankId> ranks) {
  launch::FieldWriter out;
  for (const RankId rank : ranks) out.number(rank.index);
  return ask(launch::Request::acquaint, out.take());
}

bool SeatDesk::answered(Ticket ticket, Answer& answer) {
  if (const auto found = failed_.find(ticket); found != failed_.end()) {
    answer = std::move(found->second);
    failed_.erase(found);
    return true;
  }
  std::string text;
  if (!seat_.answered(ticket, text)) return false;
  const auto asked = asked_.extract(ticket);
  launch::FieldReader in(text);
  const auto verdict = static_cast<launch::Verdict>(in.byte());
  answer.error = error_of(verdict);
  if (verdict == launch::Verdict::granted && !asked.empty()) {
    read(asked.mapped(), in, answer);
  } else {
    answer.text = in.text();
  }
  return true;
}

void SeatDesk::read(launch::Request kind, launch::FieldReader& in, Answer& answer) {
  switch (kind) {
    case launch::Request::start:
    case launch::Request::accept:
    case launch::Request::connect: {
      const launch::Meeting meeting = launch::read_meeting(in);
      answer.meeting = {RankId(meeting.rank), meeting.number};
      break;
    }
    case launch::Request::open_port:
    case launch::Request::look_up:
      answer.text = in.text();
      break;
    case launch::Request::acquaint:
      meet(in, answer);
      break;
    case launch::Request::connected:
    case launch::Request::finalize:
    case launch::Request::close_port:
    case launch::Request::publish:
    case launch::Request::unpublish:
      break;
  }
  if (!in.broken()) return;
  answer.error = MPI_ERR_INTERN;
  answer.text = "weft run speaks another version of the protocol: install weft again";
}

void SeatDesk::meet(launch::FieldReader& in, Answer& answer) {
  while (!in.empty() && !in.broken()) {
    launch::Acquaintance one = launch::read_acquaintance(in);
    if (in.broken()) return;
    worlds_[one.rank] = one.world;
    const Status met =
        wire_.meet({RankId(one.rank), std::move(one.place), std::move(one.address), one.gone});
    if (met) continue;
    answer.error = MPI_ERR_INTERN;
    answer.text = met.error().text();
  }
}

std::uint32_t SeatDesk::world_of(RankId rank) const {
  const auto found = worlds_.find(rank.index);
  return found == worlds_.end() ? wire_.first() : found->second;
}

std::optional<mpi::JobMeeting> SeatDesk::parent() const {
  const launch::Birth birth = seat_.birth();
  if (!birth.has_parent) return std::nullopt;
  return mpi::JobMeeting{RankId(birth.parent), birth.meeting};
}

}  // namespace weft
