// SPDX-License-Identifier: Apache-2.0
#include "session.hpp"

#include <algorithm>

#include <weft/message/mpi/buffering.hpp>
#include <weft/message/mpi/handlers.hpp>

namespace weft::mpi {

namespace {

struct Level {
  const char* name;
  int level;
};
constexpr std::array<Level, 4> levels = {{{"MPI_THREAD_SINGLE", MPI_THREAD_SINGLE},
                                          {"MPI_THREAD_FUNNELED", MPI_THREAD_FUNNELED},
                                          {"MPI_THREAD_SERIALIZED", MPI_THREAD_SERIALIZED},
                                          {"MPI_THREAD_MULTIPLE", MPI_THREAD_MULTIPLE}}};

bool is_same(char a, char b) {
  const auto small = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return small(a) == small(b);
}

// Names of sets are URIs, in whose scheme and host small and large letters mean the same.
bool is_name(std::string_view name, std::string_view of) {
  return std::equal(name.begin(), name.end(), of.begin(), of.end(), is_same);
}

}  // namespace

std::optional<mp::Members> find_process_set(const Process& process, std::string_view name) {
  if (is_name(name, process_sets[0])) return process.world.local;
  if (is_name(name, process_sets[1])) {
    const std::array<RankId, 1> me = {process.fabric.self};
    return mp::Members::of(me);
  }
  return std::nullopt;
}

int result(Call& call, MPI_Session session, int code, const std::string& detail) {
  if (code == MPI_SUCCESS) return code;
  Process& process = call.process();
  const Session* const known = process.sessions.find(session);
  if (!known) return call.result(code, detail);
  const ErrorHandler* const made = process.handlers.find(known->handler);
  if (made && made->session_function) {
    int argument = code;
    made->session_function(&session, &argument);
    return code;
  }
  return raise(process, known->handler, MPI_COMM_SELF, code, detail);
}

std::optional<int> thread_level_of(std::string_view name) {
  for (const Level& level : levels) {
    if (name == level.name) return level.level;
  }
  return std::nullopt;
}

const char* name_of_thread_level(int level) {
  for (const Level& known : levels) {
    if (level == known.level) return known.name;
  }
  return levels[0].name;
}

}  // namespace weft::mpi
