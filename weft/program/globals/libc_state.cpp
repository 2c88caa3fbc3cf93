// SPDX-License-Identifier: Apache-2.0
#include "libc_state.hpp"

#include <cerrno>
#include <cstring>

#include <cxxabi.h>
#include <sys/mman.h>

namespace weft {

constinit thread_local LibcState* current_libc_state = nullptr;

namespace {

// The ABI fixes size and meaning of these fields but does not name them.
struct ExceptionGlobals {
  void* caught;
  unsigned uncaught;
};

// This thread's; the address never changes.
constinit thread_local ExceptionGlobals* known_globals __attribute__((tls_model("initial-exec"))) =
    nullptr;

ExceptionGlobals& exception_globals() {
  if (known_globals == nullptr)
    known_globals = reinterpret_cast<ExceptionGlobals*>(abi::__cxa_get_globals());
  return *known_globals;
}

}  // namespace

Result<std::unique_ptr<LibcStates>> LibcStates::make(std::uint32_t ranks, const Program& program) {
  std::unique_ptr<LibcStates> states(new LibcStates);
  states->bytes_ = ranks * sizeof(LibcState);
  // Pages of ranks that use none of this are never touched.
  void* mapped = ::mmap(nullptr, states->bytes_, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED)
    return Error::run(std::string("no memory for the C library's state: ") + std::strerror(errno));
  states->states_ = static_cast<LibcState*>(mapped);
  for (const char* symbol : {"__cxa_begin_catch", "__cxa_throw"})
    states->exceptions_ |= program.imports(symbol);
  return states;
}

LibcStates::~LibcStates() {
  current_libc_state = nullptr;
  if (states_ != nullptr) ::munmap(states_, bytes_);
}

void LibcStates::save(LibcState& state) {
  const ExceptionGlobals& globals = exception_globals();
  // Usually there are none, and the state is not touched.
  if (globals.caught == nullptr && globals.uncaught == 0 && state.caught_exceptions == nullptr &&
      state.uncaught_exceptions == 0)
    return;
  state.caught_exceptions = globals.caught;
  state.uncaught_exceptions = globals.uncaught;
}

void LibcStates::restore(const LibcState& state) {
  exception_globals() = {state.caught_exceptions, state.uncaught_exceptions};
}

void LibcStates::run_exit_handlers(std::uint32_t rank) {
  LibcState& state = states_[rank];
  while (ExitHandler* handler = state.exit_handlers) {
    state.exit_handlers = handler->next;
    handler->function(handler->argument);
    delete handler;
  }
}

}  // namespace weft
