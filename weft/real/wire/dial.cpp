// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <cstring>
#include <span>

#include <sys/socket.h>

#include <weft/real/wire/dial.hpp>

namespace weft::wire {

namespace {

// Never more than asked for: what follows belongs to the stream.
Step read_exactly(int socket, std::span<std::byte> room, std::size_t& got) {
  while (got < room.size()) {
    const ssize_t count = ::recv(socket, room.data() + got, room.size() - got, MSG_DONTWAIT);
    if (count > 0) {
      got += static_cast<std::size_t>(count);
      continue;
    }
    if (count < 0 && errno == EINTR) continue;
    return count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK) ? Step::wait : Step::failed;
  }
  return Step::done;
}

// A few bytes into a fresh socket always fit.
bool write_all(int socket, std::span<const std::byte> bytes) {
  const ssize_t count = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  return count == static_cast<ssize_t>(bytes.size());
}

}  // namespace

Step Dial::read(std::size_t size) {
  return read_exactly(socket_.get(), std::span(room_).first(size), got_);
}

Step Dial::advance() {
  if (stage_ == Stage::connecting) {
    if (error_of(socket_) != 0 || is_its_own_peer(socket_)) return Step::failed;
    stage_ = Stage::challenge;
  }
  if (stage_ == Stage::challenge) {
    if (const Step step = read(challenge_size); step != Step::done) return step;
    std::memcpy(theirs_.data(), room_.data(), theirs_.size());
    said_ = wire::answer(secret_, theirs_, fresh_challenge(), claim_);
    if (!write_all(socket_.get(), said_)) return Step::failed;
    stage_ = Stage::verdict;
    got_ = 0;
  }
  if (const Step step = read(verdict_size); step != Step::done) return step;
  const auto verdict = read_verdict(secret_, theirs_, said_, room_);
  if (!verdict) return Step::failed;
  verdict_ = *verdict;
  return Step::done;
}

Caller::Caller(Descriptor socket, const JobSecret& secret, Time now)
    : socket_(std::move(socket)), secret_(secret), since_(now), ours_(fresh_challenge()) {
  failed_ = !write_all(socket_.get(), ours_);
}

Step Caller::advance() {
  if (failed_) return Step::failed;
  if (const Step step = read_exactly(socket_.get(), room_, got_); step != Step::done) return step;
  claim_ = read_answer(secret_, ours_, room_);
  return claim_ ? Step::done : Step::failed;
}

// A peer that no longer wants the connection has hung up, perhaps long ago: what is written would
// still go out, and the connection look like a new one.
bool Caller::answer(Verdict verdict) {
  std::byte next;
  const ssize_t count = ::recv(socket_.get(), &next, 1, MSG_PEEK | MSG_DONTWAIT);
  if (count == 0 || (count < 0 && errno != EAGAIN && errno != EWOULDBLOCK)) return false;
  return write_all(socket_.get(), give_verdict(secret_, ours_, room_, verdict));
}

}  // namespace weft::wire
