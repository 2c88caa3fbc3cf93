// SPDX-License-Identifier: Apache-2.0
// Programs of one job that find each other: ports, their names, and sockets.
#include <array>
#include <cerrno>
#include <cstring>
#include <string>

#include <poll.h>
#include <unistd.h>

#include <weft/message/mpi/call.hpp>
#include <weft/message/mpi/meeting.hpp>

using weft::mpi::Call;
using weft::mpi::Communicator;
using weft::mpi::Encounter;
using weft::mpi::JobDesk;
using weft::mpi::Process;

namespace {

constexpr const char* no_ports = "ports connect programs that weft run has started";

int check_desk(Call& call, const void* argument) {
  if (call.error()) return call.error();
  if (call.process().runtime.desk() == nullptr)
    return call.result(MPI_ERR_UNSUPPORTED_OPERATION, no_ports);
  return argument ? MPI_SUCCESS : call.result(MPI_ERR_ARG);
}

Encounter encounter(const JobDesk::Answer& answer) {
  return {answer.error, answer.text, 0, answer.meeting};
}

int give(Call& call, const JobDesk::Answer& answer, char* to) {
  if (answer.error != MPI_SUCCESS) return call.result(answer.error, answer.text);
  if (answer.text.size() >= MPI_MAX_PORT_NAME) return call.result(MPI_ERR_PORT, "a long name");
  std::memcpy(to, answer.text.c_str(), answer.text.size() + 1);
  return MPI_SUCCESS;
}

struct Place {
  const char* port;
  bool accepts;
  int root;
};

int join_at(Call& call, const Place& place, MPI_Comm handle, MPI_Comm* newcomm) {
  Communicator* const comm = call.communicator(handle);
  if (!comm) return call.error();
  Process& process = call.process();
  JobDesk* const desk = process.runtime.desk();
  if (desk == nullptr) return call.result(comm, MPI_ERR_UNSUPPORTED_OPERATION, no_ports);
  if (comm->inter) return call.result(comm, MPI_ERR_COMM, "an intercommunicator");
  if (place.root < 0 || place.root >= comm->size()) return call.result(comm, MPI_ERR_ROOT);
  if (!newcomm) return call.result(comm, MPI_ERR_ARG);
  *newcomm = MPI_COMM_NULL;
  Encounter found;
  if (comm->rank == place.root && !place.port) {
    found.error = MPI_ERR_PORT;
  } else if (comm->rank == place.root) {
    found = encounter(
        await(process, place.accepts ? desk->accept(place.port) : desk->connect(place.port)));
  }
  const Communicator* const made = meet(process, *comm, place.root, found);
  if (!made) return call.result(comm, found.error, found.why);
  *newcomm = made->handle;
  return MPI_SUCCESS;
}

// Moves all bytes while the rank makes progress. false: the socket has ended.
template <typename Move>
bool move_all(Process& process, pollfd watched, std::size_t size, Move move) {
  constexpr int moment_ms = 1;
  for (std::size_t done = 0; done < size;) {
    process.progress();
    watched.revents = 0;
    if (::poll(&watched, 1, moment_ms) <= 0) continue;
    const ssize_t count = move(done);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (count <= 0) return false;
    done += static_cast<std::size_t>(count);
  }
  return true;
}

// Each side tells the other the name of a port of its own.
bool swap_names(Process& process, int socket, const std::string& own, std::string& theirs) {
  std::array<char, MPI_MAX_PORT_NAME> out = {}, in = {};
  std::memcpy(out.data(), own.c_str(), std::min(own.size(), out.size() - 1));
  const bool sent = move_all(process, {socket, POLLOUT, 0}, out.size(), [&](std::size_t done) {
    return ::write(socket, out.data() + done, out.size() - done);
  });
  const bool got = sent && move_all(process, {socket, POLLIN, 0}, in.size(), [&](std::size_t done) {
                     return ::read(socket, in.data() + done, in.size() - done);
                   });
  in.back() = 0;
  theirs = in.data();
  return got;
}

}  // namespace

WEFT_MPI(Open_port)(MPI_Info, char* port_name) {
  Call call("MPI_Open_port", Call::local);
  if (const int error = check_desk(call, port_name)) return error;
  Process& process = call.process();
  return give(call, await(process, process.runtime.desk()->open_port()), port_name);
}

WEFT_MPI(Close_port)(const char* port_name) {
  Call call("MPI_Close_port", Call::local);
  if (const int error = check_desk(call, port_name)) return error;
  Process& process = call.process();
  const JobDesk::Answer answer = await(process, process.runtime.desk()->close_port(port_name));
  return call.result(answer.error, answer.text);
}

WEFT_MPI(Comm_accept)
(const char* port_name, MPI_Info, int root, MPI_Comm comm, MPI_Comm* newcomm) {
  Call call("MPI_Comm_accept", Call::communicates);
  return join_at(call, {port_name, true, root}, comm, newcomm);
}

WEFT_MPI(Comm_connect)
(const char* port_name, MPI_Info, int root, MPI_Comm comm, MPI_Comm* newcomm) {
  Call call("MPI_Comm_connect", Call::communicates);
  return join_at(call, {port_name, false, root}, comm, newcomm);
}

// Of two ports one is enough: that with the lesser name.
WEFT_MPI(Comm_join)(int fd, MPI_Comm* intercomm) {
  Call call("MPI_Comm_join", Call::communicates);
  if (const int error = check_desk(call, intercomm)) return error;
  Process& process = call.process();
  JobDesk& desk = *process.runtime.desk();
  *intercomm = MPI_COMM_NULL;
  const JobDesk::Answer port = await(process, desk.open_port());
  if (port.error != MPI_SUCCESS) return call.result(port.error, port.text);
  std::string theirs;
  if (!swap_names(process, fd, port.text, theirs))
    return call.result(MPI_ERR_ARG, "the socket has ended");
  const auto job_of = [](const std::string& name) { return name.substr(0, name.rfind(':')); };
  Encounter found;
  const bool same_job = job_of(port.text) == job_of(theirs);
  if (same_job) {
    found = encounter(
        await(process, port.text < theirs ? desk.accept(port.text) : desk.connect(theirs)));
  }
  desk.ignore(desk.close_port(port.text));
  if (!same_job) return MPI_SUCCESS;  // As the standard wants it for a program of another library.
  const Communicator* const made = meet(process, process.self_only(), 0, found);
  if (!made) return call.result(found.error, found.why);
  *intercomm = made->handle;
  return MPI_SUCCESS;
}

WEFT_MPI(Publish_name)(const char* service_name, MPI_Info, const char* port_name) {
  Call call("MPI_Publish_name", Call::local);
  if (const int error = check_desk(call, service_name && port_name ? service_name : nullptr))
    return error;
  Process& process = call.process();
  const JobDesk::Answer answer =
      await(process, process.runtime.desk()->publish(service_name, port_name));
  return call.result(answer.error, answer.text);
}

WEFT_MPI(Unpublish_name)(const char* service_name, MPI_Info, const char*) {
  Call call("MPI_Unpublish_name", Call::local);
  if (const int error = check_desk(call, service_name)) return error;
  Process& process = call.process();
  const JobDesk::Answer answer = await(process, process.runtime.desk()->unpublish(service_name));
  // Of a name that is not there, looking it up says "name", and this says "service".
  return call.result(answer.error == MPI_ERR_NAME ? MPI_ERR_SERVICE : answer.error, answer.text);
}

WEFT_MPI(Lookup_name)(const char* service_name, MPI_Info, char* port_name) {
  Call call("MPI_Lookup_name", Call::local);
  if (const int error = check_desk(call, service_name && port_name ? service_name : nullptr))
    return error;
  Process& process = call.process();
  return give(call, await(process, process.runtime.desk()->look_up(service_name)), port_name);
}
