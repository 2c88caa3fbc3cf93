// SPDX-License-Identifier: Apache-2.0
#include "own_command.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace weft::app {

TemporaryFolder::TemporaryFolder() {
  const char* const base = std::getenv("TMPDIR");
  std::string name = std::string(base == nullptr ? "/tmp" : base) + "/weft-XXXXXX";
  if (::mkdtemp(name.data()) != nullptr) path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

Result<OwnCommandEnd> run_own_command(const std::vector<std::string>& words, OutputTo output) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const pid_t child = ::fork();
  if (child < 0) return Error::run(std::string("cannot start a process: ") + std::strerror(errno));
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (output == OutputTo::standard_error) ::dup2(STDERR_FILENO, STDOUT_FILENO);
    if (output == OutputTo::nowhere) {
      const int nothing = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
      if (nothing >= 0) ::dup2(nothing, STDOUT_FILENO);
    }
    ::execv("/proc/self/exe", arguments.data());
    ::_exit(3);
  }
  int status = 0;
  OwnCommandEnd end;
  while (::wait4(child, &status, 0, &end.use) < 0) {
    if (errno != EINTR) return Error::run(std::string("waiting: ") + std::strerror(errno));
  }
  end.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return end;
}

}  // namespace weft::app
