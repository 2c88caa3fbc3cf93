// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <cstdio>
#include <exception>
#include <new>
#include <typeinfo>

#include <cxxabi.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <weft/message/mpi/process.hpp>
#include <weft/message/port/fabric.hpp>
#include <weft/program/simulated_run/console.hpp>
#include <weft/program/simulated_run/footprint.hpp>
#include <weft/program/simulated_run/out_of_memory.hpp>

namespace weft {

namespace {

thread_local std::size_t refused = 0;

// Between calls of the library, lack of memory is the program's affair.
bool is_of_program() {
  const auto* const layer = static_cast<const mpi::Process*>(Current::layer());
  return Current::fabric() != nullptr && layer != nullptr && layer->call == nullptr;
}

void on_refusal() {
  if (is_of_program()) throw std::bad_alloc();
  end_for_lack_of_memory();
}

std::terminate_handler next_terminate = nullptr;

// Called when neither the program nor our call into it caught the exception.
void on_terminate() {
  const std::type_info* const type = abi::__cxa_current_exception_type();
  if (type != nullptr && *type == typeid(std::bad_alloc)) end_for_lack_of_memory();
  next_terminate();
}

}  // namespace

void note_refusal(std::size_t bytes) {
  refused = bytes;
}

void end_for_lack_of_memory() {
  static std::atomic<bool> ending = false;
  while (ending.exchange(true)) ::pause();  // Another worker is already ending the process.
  char asked[64] = "";
  if (refused != 0) std::snprintf(asked, sizeof asked, " for %zu bytes more", refused);
  char line[320];
  const int size =
      std::snprintf(line, sizeof line,
                    "weft: error: out of memory%s after %.1f MB; use fewer ranks, carry no data "
                    "(--payload none), or more processes (mpirun -np 2 weft sim ...)\n",
                    asked, static_cast<double>(peak_memory()) / 1e6);
  Console::write_out(2, {line, static_cast<std::size_t>(size)});
  ::syscall(SYS_exit_group, 1);  // Bypasses our _exit, which would end only the rank.
  __builtin_unreachable();
}

void watch_for_exhaustion() {
  std::set_new_handler(on_refusal);
  next_terminate = std::set_terminate(on_terminate);
}

}  // namespace weft
