// SPDX-License-Identifier: Apache-2.0
// Processes that start later.
#include <algorithm>
#include <charconv>
#include <filesystem>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <sys/utsname.h>

#include <weft/message/mpi/call.hpp>
#include <weft/message/mpi/info.hpp>
#include <weft/message/mpi/meeting.hpp>

using weft::mpi::Call;
using weft::mpi::Communicator;
using weft::mpi::Encounter;
using weft::mpi::InfoTable;
using weft::mpi::Process;
using weft::mpi::SpawnCommand;

namespace {

// What the root gives; null pointers at all other ranks.
struct Given {
  int count = 0;
  char* const* commands = nullptr;
  char** const* arguments = nullptr;
  const int* most = nullptr;
  const MPI_Info* infos = nullptr;
};
struct Results {
  MPI_Comm* intercomm = nullptr;
  int* codes = nullptr;
};

// The largest number that the text allows, "3", "2:8" or "2:8:2" with commas between them, up to a
// limit. 0: none.
int largest_of(std::string_view text, int limit) {
  int best = 0;
  while (!text.empty()) {
    const std::string_view one = text.substr(0, text.find(','));
    text.remove_prefix(std::min(one.size() + 1, text.size()));
    int numbers[3] = {0, 0, 1};
    int count = 0;
    const char* at = one.data();
    const char* const end = at + one.size();
    for (; count < 3 && at <= end; ++count) {
      const auto [stop, fault] = std::from_chars(at, end, numbers[count]);
      if (fault != std::errc()) return 0;
      at = stop + 1;
    }
    if (count == 1) numbers[1] = numbers[0];
    const auto [first, last, step] = numbers;
    if (step == 0) return 0;
    for (int value = first; step > 0 ? value <= last : value >= last; value += step)
      if (value <= limit) best = std::max(best, value);
  }
  return best;
}

// What the info says; an error class, and why.
int read_info(const InfoTable& info, SpawnCommand& command, std::string& why) {
  if (const std::string* const host = info.find("host")) command.host = *host;
  if (const std::string* const folder = info.find("wdir")) command.folder = *folder;
  if (const std::string* const path = info.find("path")) command.path = *path;
  if (info.find("file") != nullptr) {
    why = "the info key file is not supported: give host, wdir and path as keys";
    return MPI_ERR_SPAWN;
  }
  utsname machine = {};
  ::uname(&machine);
  if (const std::string* const arch = info.find("arch"); arch && *arch != machine.machine) {
    why = "the info key arch is " + *arch + ", and the hosts of this job are " + machine.machine;
    return MPI_ERR_SPAWN;
  }
  const std::string* const soft = info.find("soft");
  if (soft && (command.count = largest_of(*soft, command.count)) == 0) {
    why = "the info key soft, " + *soft + ", allows no number of processes up to maxprocs";
    return MPI_ERR_SPAWN;
  }
  return MPI_SUCCESS;
}

// As the root sees it: other processes may begin elsewhere.
void find_program(SpawnCommand& command) {
  std::error_code fault;
  const std::filesystem::path here = std::filesystem::current_path(fault);
  if (fault) return;
  const std::filesystem::path folder(command.folder);
  command.folder = (here / folder).lexically_normal().string();
  std::istringstream folders(command.path);
  command.path.clear();
  for (std::string one; std::getline(folders, one, ':');) {
    command.path += (command.path.empty() ? "" : ":") + (here / one).string();
  }
  std::string& program = command.words[0];
  if (program.find('/') == std::string::npos || program.starts_with('/')) return;
  if (std::filesystem::exists(here / program, fault)) program = (here / program).string();
}

int read_command(Process& process, const Given& given, int index, SpawnCommand& command,
                 std::string& why) {
  const char* const name = given.commands[index];
  if (!name || *name == 0 || given.most[index] < 0) {
    why = name && *name != 0 ? "maxprocs is negative" : "no command";
    return MPI_ERR_ARG;
  }
  command.words = {name};
  command.count = given.most[index];
  char** const words = given.arguments ? given.arguments[index] : nullptr;
  for (int i = 0; words && words[i]; ++i) command.words.emplace_back(words[i]);
  const MPI_Info handle = given.infos ? given.infos[index] : MPI_INFO_NULL;
  if (handle != MPI_INFO_NULL) {
    const InfoTable* const info = find_info(process, handle);
    if (!info) return MPI_ERR_INFO;
    if (const int error = read_info(*info, command, why)) return error;
  }
  find_program(command);
  return MPI_SUCCESS;
}

Encounter start(Process& process, const Given& given) {
  Encounter found;
  if (given.count <= 0 || !given.commands || !given.most) {
    found.error = MPI_ERR_ARG;
    found.why = "no commands";
    return found;
  }
  for (int i = 0; i < given.count; ++i)
    found.count += static_cast<std::uint32_t>(std::max(given.most[i], 0));
  std::vector<SpawnCommand> commands(static_cast<std::size_t>(given.count));
  for (int i = 0; i < given.count; ++i) {
    found.error = read_command(process, given, i, commands[static_cast<std::size_t>(i)], found.why);
    if (found.error != MPI_SUCCESS) return found;
  }
  const weft::mpi::JobDesk::Answer answer =
      weft::mpi::await(process, process.runtime.desk()->start(commands));
  found.error = answer.error;
  found.why = answer.text;
  found.meeting = answer.meeting;
  return found;
}

int spawn(Call& call, const Given& given, int root, MPI_Comm handle, const Results& results) {
  Communicator* const comm = call.communicator(handle);
  if (!comm) return call.error();
  Process& process = call.process();
  if (process.runtime.desk() == nullptr) {
    const weft::mpi::Runtime::NoDesk none = process.runtime.no_desk();
    return call.result(comm, none.error, none.why);
  }
  if (comm->inter) return call.result(comm, MPI_ERR_COMM, "an intercommunicator");
  if (root < 0 || root >= comm->size()) return call.result(comm, MPI_ERR_ROOT);
  if (!results.intercomm) return call.result(comm, MPI_ERR_ARG);
  *results.intercomm = MPI_COMM_NULL;
  Encounter found;
  if (comm->rank == root) found = start(process, given);
  const Communicator* const made = meet(process, *comm, root, found);
  // It was started, but has ended before it came to MPI_Init.
  if (found.error == MPI_ERR_PROC_FAILED) found.error = MPI_ERR_SPAWN;
  if (results.codes != MPI_ERRCODES_IGNORE) {
    std::fill_n(results.codes, found.count, made ? MPI_SUCCESS : found.error);
  }
  if (!made) return call.result(comm, found.error, found.why);
  *results.intercomm = made->handle;
  return MPI_SUCCESS;
}

}  // namespace

WEFT_MPI(Comm_spawn)
(const char* command, char* argv[], int maxprocs, MPI_Info info, int root, MPI_Comm comm,
 MPI_Comm* intercomm, int array_of_errcodes[]) {
  Call call("MPI_Comm_spawn", Call::communicates);
  char* const name = const_cast<char*>(command);
  return spawn(call, {1, &name, &argv, &maxprocs, &info}, root, comm,
               {intercomm, array_of_errcodes});
}

WEFT_MPI(Comm_spawn_multiple)
(int count, char* array_of_commands[], char** array_of_argv[], const int array_of_maxprocs[],
 const MPI_Info array_of_info[], int root, MPI_Comm comm, MPI_Comm* intercomm,
 int array_of_errcodes[]) {
  Call call("MPI_Comm_spawn_multiple", Call::communicates);
  return spawn(call, {count, array_of_commands, array_of_argv, array_of_maxprocs, array_of_info},
               root, comm, {intercomm, array_of_errcodes});
}
