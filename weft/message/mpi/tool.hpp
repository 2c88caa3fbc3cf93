// SPDX-License-Identifier: Apache-2.0
// The tool interface of one rank: settings of the message layer as control variables, its counters
// as performance variables. Variables are rows of tables; what they are read from is the Process.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <weft/message/mpi/include/mpi.h>
#include <weft/message/port/rank.hpp>

namespace weft::mpi {

struct Process;

// A choice among values with names; a handle MPI_T_enum points to one.
struct ToolEnum {
  const char* name;
  std::span<const char* const> items;  // The value is the index.
};

struct ControlVariable {
  const char* name;
  const char* description;
  bool is_bytes;  // MPI_UNSIGNED_LONG; otherwise MPI_INT.
  const ToolEnum* values;
  std::uint64_t (*read)(const Process& process);
};
std::span<const ControlVariable> control_variables();

struct PerformanceVariable {
  const char* name;
  const char* description;
  int kind;  // MPI_T_PVAR_CLASS_COUNTER or _LEVEL; both are MPI_UNSIGNED_LONG_LONG.
  std::uint64_t (*read)(const Process& process);
  // For a variable of a communicator, with a value for each rank in it; otherwise null.
  std::uint64_t (*read_peer)(const Process& process, RankId peer) = nullptr;

  bool counts() const { return kind == MPI_T_PVAR_CLASS_COUNTER; }
};
std::span<const PerformanceVariable> performance_variables();

struct ToolCategory {
  const char* name;
  const char* description;
  // Ranges of variables.
  int first_control, control_count;
  int first_performance, performance_count;
};
std::span<const ToolCategory> tool_categories();
const ToolEnum* find_tool_enum(MPI_T_enum handle);

// A control variable that a tool reads.
struct ControlHandle {
  const ControlVariable* variable;
};

// A performance variable that a tool reads. A counter counts while it is started, from 0.
struct PerformanceHandle {
  const PerformanceVariable* variable;
  MPI_Comm comm = MPI_COMM_NULL;  // Of which it is a variable.
  bool running = false;
  std::uint64_t before = 0;  // Counted until it was last started or set,
  std::uint64_t since = 0;   // and what the variable was then.
};

struct PerformanceSession {
  std::vector<std::unique_ptr<PerformanceHandle>> handles;
};

class Tool {
 public:
  int users = 0;  // Calls of MPI_T_init_thread without MPI_T_finalize.
  std::vector<std::unique_ptr<ControlHandle>> controls;
  std::vector<std::unique_ptr<PerformanceSession>> sessions;
};

}  // namespace weft::mpi
