// SPDX-License-Identifier: Apache-2.0
// Sessions: a part of a program that uses the library on its own, with or without MPI_Init. Ranks
// are found by names of process sets.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <weft/message/mp/members.hpp>
#include <weft/message/mpi/call.hpp>
#include <weft/message/mpi/info.hpp>

namespace weft::mpi {

class Buffering;

struct Session {
  MPI_Errhandler handler = MPI_ERRORS_ARE_FATAL;
  InfoTable info;                        // Hints in use.
  std::shared_ptr<Buffering> buffering;  // Null: the program has attached no buffer.
};

inline constexpr std::array<std::string_view, 2> process_sets = {"mpi://WORLD", "mpi://SELF"};

// The members of a process set, or nothing if it has no such name.
std::optional<mp::Members> find_process_set(const Process& process, std::string_view name);

// Success passes through; otherwise the session's error handler is invoked. A null session: the
// error belongs to none.
int result(Call& call, MPI_Session session, int code, const std::string& detail = {});

// The level of thread support behind a name like "MPI_THREAD_MULTIPLE", and the other way round.
std::optional<int> thread_level_of(std::string_view name);
const char* name_of_thread_level(int level);

}  // namespace weft::mpi
