// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <vector>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <weft/base/pack.hpp>
#include <weft/workload/traces/apart.hpp>

namespace weft::detail {

namespace {

std::vector<std::byte> pack(const Result<TrafficMatrix>& read) {
  Packer letter;
  letter.put(static_cast<bool>(read));
  if (read) {
    letter.put(read->ranks());
    letter.put_list(read->flows());
  } else {
    letter.put(read.error().broken());
    letter.put_text(read.error().message());
    letter.put_text(read.error().file());
    letter.put(read.error().line());
  }
  return letter.take();
}

Result<TrafficMatrix> unpack(const std::vector<std::byte>& bytes) {
  Unpacker letter(bytes);
  if (letter.take<bool>()) {
    const auto ranks = letter.take<std::uint32_t>();
    return TrafficMatrix::make(ranks, letter.take_list<Flow>());
  }
  const auto broken = letter.take<Broken>();
  std::string message = letter.take_text();
  std::string file = letter.take_text();
  return Error(broken, std::move(message)).at(std::move(file), letter.take<int>());
}

bool write_all(int to, const std::vector<std::byte>& bytes) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t n = ::write(to, bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    done += static_cast<std::size_t>(n);
  }
  return true;
}

std::vector<std::byte> read_all(int from) {
  std::vector<std::byte> bytes;
  std::array<std::byte, 1 << 16> part;
  for (;;) {
    const ssize_t n = ::read(from, part.data(), part.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return bytes;
    bytes.insert(bytes.end(), part.begin(), part.begin() + n);
  }
}

}  // namespace

Result<TrafficMatrix> read_apart(const std::string& path,
                                 const std::function<Result<TrafficMatrix>()>& read) {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0)
    return Error::run(std::string("cannot make a pipe: ") + std::strerror(errno));
  const pid_t child = ::fork();
  if (child < 0) {
    ::close(ends[0]);
    ::close(ends[1]);
    return Error::run(std::string("cannot start a process: ") + std::strerror(errno));
  }
  if (child == 0) {
    ::close(ends[0]);
    // A crash is expected of bad files: no core, no handler, no word of the C library about it.
    const rlimit none{0, 0};
    ::setrlimit(RLIMIT_CORE, &none);
    for (const int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL}) ::signal(signal, SIG_DFL);
    ::close(STDERR_FILENO);
    ::_exit(write_all(ends[1], pack(read())) ? 0 : 1);
  }
  ::close(ends[1]);
  const std::vector<std::byte> answer = read_all(ends[0]);
  ::close(ends[0]);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return unpack(answer);
  return Error::input("the trace library crashed on it: the archive is damaged; record it again")
      .at(path, 0);
}

}  // namespace weft::detail
