// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <new>
#include <utility>

#include <fcntl.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <weft/real/wire/callers.hpp>
#include <weft/real/wire/clock.hpp>
#include <weft/real/wire/own_thread.hpp>

namespace weft::wire {

namespace {

constexpr Duration caller_limit = Duration::ms(5000);
constexpr std::uint32_t most_places = 256, fewest_places = 2;
constexpr int accepts_in_turn = 32;  // Then callers are heard, before others take their places.
// Descriptors or memory of the machine have run out. Looking again at once would not help.
constexpr auto pause = std::chrono::milliseconds(10);

Descriptor open_spare() {
  return Descriptor(::open("/dev/null", O_RDONLY | O_CLOEXEC));
}

}  // namespace

template <typename Matches>
std::size_t CallerPlaces::oldest_of(Matches matches, std::size_t& found) const {
  std::size_t oldest = none;
  found = 0;
  for (std::size_t i = 0; i < places_.size(); ++i) {
    if (places_[i].caller == nullptr || !matches(places_[i].origin)) continue;
    ++found;
    if (oldest == none || places_[i].order < places_[oldest].order) oldest = i;
  }
  return oldest;
}

std::size_t CallerPlaces::oldest() const {
  std::size_t found = 0;
  const std::size_t stranger = oldest_of([](const Origin& o) { return !o.known; }, found);
  return stranger != none ? stranger : oldest_of([](const Origin&) { return true; }, found);
}

std::size_t CallerPlaces::find(const Origin& origin, std::size_t& leaves) const {
  leaves = none;
  std::size_t found = 0;
  if (!origin.known) {
    const std::size_t same =
        oldest_of([&](const Origin& o) { return !o.known && o.address == origin.address; }, found);
    if (found >= most_per_stranger) return leaves = same;
    const std::size_t stranger = oldest_of([](const Origin& o) { return !o.known; }, found);
    if (found > 0 && found >= places_.size() / 2) return leaves = stranger;
  }
  if (count_ == places_.size()) return leaves = oldest();
  const auto is_free = [](const Place& place) { return place.caller == nullptr; };
  return static_cast<std::size_t>(std::find_if(places_.begin(), places_.end(), is_free) -
                                  places_.begin());
}

void CallerPlaces::put(std::size_t place, std::unique_ptr<Caller> caller, const Origin& origin) {
  places_[place] = {std::move(caller), origin, next_order_++};
  ++count_;
}

std::unique_ptr<Caller> CallerPlaces::remove(std::size_t place) {
  if (places_[place].caller != nullptr) --count_;
  return std::exchange(places_[place].caller, nullptr);
}

Status Callers::open(std::vector<Descriptor> listeners, std::uint32_t token) {
  listeners_ = std::move(listeners);
  if (listeners_.empty()) return {};
  proved_ = Descriptor(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!proved_) {
    return Error::run(std::string("cannot wait for connections: ") + std::strerror(errno));
  }
  places_ = CallerPlaces(std::clamp(descriptors_left() / 16, fewest_places, most_places));
  auto thread = start_without_signals("connections from other hosts", [this] { run(); });
  if (!thread) return std::move(thread).error();
  thread_ = *std::move(thread);
  host_.watch(kind_, token, proved_.get());
  return {};
}

void Callers::close() {
  stopping_ = true;
  for (const Descriptor& listener : listeners_) ::shutdown(listener.get(), SHUT_RD);  // Wakes it.
  if (thread_.joinable()) thread_.join();
  listeners_.clear();
  places_ = CallerPlaces(0);
  ready_.clear();
}

void Callers::know(const locality::Address& address) {
  const std::lock_guard lock(mutex_);
  known_.insert(address);
}

bool Callers::is_known(const locality::Address& address, bool local) {
  const std::lock_guard lock(mutex_);
  return local || known_.contains(address);
}

std::unique_ptr<Caller> Callers::next() {
  const std::lock_guard lock(mutex_);
  if (ready_.empty()) {
    std::uint64_t count = 0;
    static_cast<void>(!::read(proved_.get(), &count, sizeof count));
    return nullptr;
  }
  std::unique_ptr<Caller> caller = std::move(ready_.front());
  ready_.pop_front();
  return caller;
}

void Callers::run() {
  ::pthread_setname_np(::pthread_self(), "weft-callers");
  while (!stopping_) {
    try {
      wait_and_answer();
    } catch (const std::bad_alloc&) {
      for (std::size_t place = 0; place < places_.size(); ++place) send_away(place);
      std::this_thread::sleep_for(pause);
    }
  }
}

void Callers::wait_and_answer() {
  // Not an epoll: that would take one more descriptor, and they are few here.
  watched_.clear();
  for (const Descriptor& listener : listeners_) watched_.push_back({listener.get(), POLLIN, 0});
  for (std::size_t place = 0; place < places_.size(); ++place) {
    const Caller* const caller = places_.at(place);
    watched_.push_back({caller != nullptr ? caller->socket().get() : -1, POLLIN, 0});
  }
  const int wait_ms = places_.count() > 0 ? 100 : -1;
  if (::poll(watched_.data(), watched_.size(), wait_ms) < 0 || stopping_) return;
  for (std::size_t place = 0; place < places_.size(); ++place) {
    if (watched_[listeners_.size() + place].revents != 0) hear(place);
  }
  end_late_ones();
  for (std::size_t i = 0; i < listeners_.size(); ++i) {
    if (watched_[i].revents != 0) accept(listeners_[i]);
  }
}

void Callers::accept(const Descriptor& listener) {
  for (int i = 0; i < accepts_in_turn; ++i) {
    if (!accept_one(listener)) return;
  }
}

// false: nobody waits, or nobody can be taken for now.
bool Callers::accept_one(const Descriptor& listener) {
  if (!spare_) spare_ = open_spare();
  CallerPlaces::Origin origin;
  bool local = false;
  Descriptor socket = accept_from(listener, origin.address, local);
  if (socket) {
    origin.known = is_known(origin.address, local);
    if (keep_free_ > 0 && descriptors_left() + 1 < keep_free_) {
      if (const std::size_t oldest = places_.oldest(); oldest != CallerPlaces::none) {
        send_away(oldest);
      } else {
        return true;  // Closes it; a peer of ours tries again.
      }
    }
    take(std::move(socket), origin);
    return true;
  }
  const int error = errno;
  if (error == EAGAIN || error == EWOULDBLOCK || error == EINVAL) return false;
  if (error != EMFILE && error != ENFILE && error != ENOBUFS && error != ENOMEM) return true;
  if (const std::size_t oldest = places_.oldest(); oldest != CallerPlaces::none) {
    send_away(oldest);
    return true;
  }
  // The caller would wait for ever, and we would hear of it again and again.
  spare_.close();
  socket = accept_from(listener, origin.address, local);
  socket.close();
  spare_ = open_spare();
  std::this_thread::sleep_for(pause);
  return false;
}

void Callers::take(Descriptor socket, const CallerPlaces::Origin& origin) {
  std::size_t leaves = CallerPlaces::none;
  const std::size_t place = places_.find(origin, leaves);
  if (leaves != CallerPlaces::none) send_away(leaves);
  places_.put(place, std::make_unique<Caller>(std::move(socket), secret_, real_now()), origin);
}

void Callers::hear(std::size_t place) {
  Caller* const caller = places_.at(place);
  if (caller == nullptr) return;
  const Step step = caller->advance();
  if (step == Step::wait) return;
  if (step == Step::failed) return send_away(place);
  const std::lock_guard lock(mutex_);
  // A peer that calls again has given up its former call.
  const Claim& claim = caller->claim();
  std::erase_if(ready_, [&](const auto& other) {
    return other->claim().from == claim.from && other->claim().rail == claim.rail;
  });
  ready_.push_back(places_.remove(place));
  const std::uint64_t one = 1;
  static_cast<void>(
      !::write(proved_.get(), &one, sizeof one));  // Fails only if it says so already.
}

void Callers::send_away(std::size_t place) {
  const std::unique_ptr<Caller> caller = places_.remove(place);
  if (caller == nullptr) return;
  Descriptor socket = caller->take();
  reset(socket);
}

void Callers::end_late_ones() {
  if (places_.count() == 0) return;
  const Time now = real_now();
  for (std::size_t place = 0; place < places_.size(); ++place) {
    const Caller* const caller = places_.at(place);
    if (caller != nullptr && now - caller->since() > caller_limit) send_away(place);
  }
}

}  // namespace weft::wire
