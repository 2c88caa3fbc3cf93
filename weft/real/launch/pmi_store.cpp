// SPDX-License-Identifier: Apache-2.0
#include "weft/real/launch/pmi_store.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <weft/base/text.hpp>
#include <weft/real/launch/clock.hpp>
#include <weft/real/launch/environment.hpp>
#include <weft/real/launch/notices.hpp>

namespace weft::launch {
namespace {

constexpr std::size_t line_size_max = 1 << 20;
constexpr int leave_ms_max = 10'000;
// The launcher forwards our output on another path and drops it once it ends the job.
constexpr int print_ms = 100;

// The value of one word of a line; in an answer to "get" the last word extends to the end of the
// line.
std::string_view word_of(std::string_view line, std::string_view name) {
  for (const std::string_view word : split(line, ' '))
    if (word.starts_with(name) && word.substr(name.size()).starts_with('='))
      return word.substr(name.size() + 1);
  return {};
}

std::string to_hex(std::string_view bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string out;
  for (const char c : bytes) {
    out += digits[static_cast<unsigned char>(c) >> 4];
    out += digits[static_cast<unsigned char>(c) & 15];
  }
  return out;
}

std::optional<std::string> from_hex(std::string_view text) {
  if (text.size() % 2 != 0) return std::nullopt;
  const auto digit = [](char c) {
    if (c >= '0' && c <= '9') return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
  };
  std::string out;
  for (std::size_t i = 0; i < text.size(); i += 2) {
    const int high = digit(text[i]), low = digit(text[i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    out += static_cast<char>(high * 16 + low);
  }
  return out;
}

class PmiStore final : public Store {
 public:
  explicit PmiStore(const PmiStart& start) : start_(start) {}
  PmiStore(const PmiStore&) = delete;
  PmiStore& operator=(const PmiStore&) = delete;
  ~PmiStore() override { ::close(start_.socket); }

  Status open();

  std::uint32_t self() const override { return start_.self; }
  std::uint32_t ranks() const override { return start_.ranks; }
  std::size_t value_size_max() const override { return value_size_max_; }
  Status put(const std::string& key, const std::string& value) override;
  Status barrier() override;
  Result<std::string> get(std::uint32_t rank, const std::string& key) override;
  int descriptor() const override { return notices_.descriptor(); }
  bool next_notice(Notice& out) override;
  void leave() override;
  void abort(int code, const std::string& message) override;

 private:
  Status send(const std::string& line) const;
  Result<std::string> receive(Deadline until);
  // Sends a request and waits for an answer that begins with cmd=`expected` and has no rc but 0.
  Result<std::string> ask(const std::string& line, const std::string& expected, Deadline until);
  Result<std::string> ask(const std::string& line, const std::string& expected) {
    return ask(line, expected, Deadline::in_ms(start_.answer_ms_max));
  }

  const PmiStart start_;
  std::string space_;  // Name of the key-value space.
  std::size_t value_size_max_ = 0;
  std::string bytes_;  // Bytes read beyond the last line.
  bool ended_ = false;
  Notices notices_;
};

Error dead(const std::string& why) {
  return {Broken::peer, "the launcher's PMI server: " + why};
}

Status PmiStore::send(const std::string& line) const {
  const std::string text = line + "\n";
  for (std::size_t sent = 0; sent < text.size();) {
    const ssize_t done =
        ::send(start_.socket, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
    if (done < 0 && errno != EINTR) return dead(std::string("is gone: ") + std::strerror(errno));
    if (done > 0) sent += static_cast<std::size_t>(done);
  }
  return {};
}

Result<std::string> PmiStore::receive(Deadline until) {
  for (;;) {
    if (const std::size_t end = bytes_.find('\n'); end != std::string::npos) {
      std::string line = bytes_.substr(0, end);
      bytes_.erase(0, end + 1);
      return line;
    }
    if (bytes_.size() > line_size_max) return dead("sends a line without an end");
    pollfd readable = {start_.socket, POLLIN, 0};
    const int ready = ::poll(&readable, 1, until.left_ms());
    if (ready == 0) return dead("gives no answer");
    if (ready < 0) continue;
    std::array<char, 4096> part;
    const ssize_t size = ::recv(start_.socket, part.data(), part.size(), MSG_DONTWAIT);
    if (size < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (size <= 0) return dead("is gone");
    bytes_.append(part.data(), static_cast<std::size_t>(size));
  }
}

Result<std::string> PmiStore::ask(const std::string& line, const std::string& expected,
                                  Deadline until) {
  const std::string asked(word_of(line, "cmd"));
  if (Status sent = send(line); !sent) return std::move(sent).error().during(asked);
  auto answer = receive(until);
  if (!answer) return std::move(answer).error().during(asked);
  if (word_of(*answer, "cmd") != expected)
    return dead("'cmd=" + expected + "' was expected after '" + asked + "', not '" +
                answer->substr(0, 60) + "'");
  const std::string_view code = word_of(*answer, "rc");
  if (!code.empty() && code != "0")
    return dead("'" + asked + "' failed: " + answer->substr(0, 120));
  return answer;
}

Status PmiStore::open() {
  auto answer = ask("cmd=init pmi_version=1 pmi_subversion=1", "response_to_init");
  if (!answer) return std::move(answer).error();
  answer = ask("cmd=get_maxes", "maxes");
  if (!answer) return std::move(answer).error();
  const auto keys = parse_int(word_of(*answer, "keylen_max"));
  const auto values = parse_int(word_of(*answer, "vallen_max"));
  // A byte takes two digits, and some servers count the terminating zero as well.
  if (!keys || !values || *keys < 40 || *values < 20 || *values > (1 << 24))
    return dead("its limits make no sense: " + answer->substr(0, 120));
  value_size_max_ = static_cast<std::size_t>(*values - 1) / 2;
  answer = ask("cmd=get_my_kvsname", "my_kvsname");
  if (!answer) return std::move(answer).error();
  space_ = word_of(*answer, "kvsname");
  if (space_.empty()) return dead("its store has no name");
  return notices_.open(start_.socket);
}

Status PmiStore::put(const std::string& key, const std::string& value) {
  auto answer =
      ask("cmd=put kvsname=" + space_ + " key=" + key + " value=" + to_hex(value), "put_result");
  if (!answer) return std::move(answer).error();
  return {};
}

Status PmiStore::barrier() {
  // No time limit: others may be late.
  auto answer = ask("cmd=barrier_in", "barrier_out", Deadline::never());
  if (!answer) return std::move(answer).error();
  return {};
}

Result<std::string> PmiStore::get(std::uint32_t, const std::string& key) {
  auto answer = ask("cmd=get kvsname=" + space_ + " key=" + key, "get_result");
  if (!answer) return answer;
  auto value = from_hex(word_of(*answer, "value"));
  if (!value) return dead("gives a value that nobody put: " + answer->substr(0, 120));
  return *std::move(value);
}

bool PmiStore::next_notice(Notice& out) {
  // Only answers arrive here, so only the end of the connection is news.
  std::array<char, 256> part;
  while (!ended_) {
    const ssize_t size = ::recv(start_.socket, part.data(), part.size(), MSG_DONTWAIT);
    if (size > 0 || (size < 0 && errno == EINTR)) continue;
    if (size < 0 && errno == EAGAIN) break;
    ended_ = true;
    notices_.forget_source();
    notices_.add({Notice::Kind::end, 0});
  }
  return notices_.take(out);
}

void PmiStore::leave() {
  // Without this request our exit would count as a failure; a missing answer does no harm.
  static_cast<void>(ask("cmd=finalize", "finalize_ack", Deadline::in_ms(leave_ms_max)).has_value());
}

void PmiStore::abort(int code, const std::string& message) {
  std::fprintf(stderr, "weft: rank %u: %s\n", start_.self, message.c_str());
  ::poll(nullptr, 0, print_ms);
  static_cast<void>(send("cmd=abort exitcode=" + std::to_string(code)).has_value());
}

Result<std::uint32_t> number_in(const char* name, std::int64_t least) {
  const std::string text = variable(name).value_or("");
  const auto number = parse_int(text);
  if (!number || *number < least || *number > std::numeric_limits<int>::max())
    return Error::input(std::string("variable ") + name + ": '" + text + "' makes no sense");
  return static_cast<std::uint32_t>(*number);
}

}  // namespace

Result<PmiStart> find_pmi() {
  const auto socket = number_in("PMI_FD", 0);
  if (!socket) return Error(socket.error());
  const auto self = number_in("PMI_RANK", 0);
  if (!self) return Error(self.error());
  const auto ranks = number_in("PMI_SIZE", 1);
  if (!ranks) return Error(ranks.error());
  if (*self >= *ranks) return Error::input("PMI_RANK is not below PMI_SIZE");
  PmiStart start;
  start.socket = static_cast<int>(*socket);
  start.self = *self;
  start.ranks = *ranks;
  int type = 0;
  socklen_t size = sizeof type;
  if (::getsockopt(start.socket, SOL_SOCKET, SO_TYPE, &type, &size) != 0)
    return Error::run("descriptor " + std::to_string(start.socket) +
                      " does not lead to a PMI server: whatever started this program closed it");
  ::fcntl(start.socket, F_SETFD, FD_CLOEXEC);
  for (const char* const name : {"PMI_FD", "PMI_RANK", "PMI_SIZE"}) drop_variable(name);
  return start;
}

Result<std::unique_ptr<Store>> open_pmi_store(const PmiStart& start) {
  auto store = std::make_unique<PmiStore>(start);
  if (Status opened = store->open(); !opened) return std::move(opened).error();
  return std::unique_ptr<Store>(std::move(store));
}

}  // namespace weft::launch
