// SPDX-License-Identifier: Apache-2.0
// An operation of many steps, written as if each step waited: a collective runs while its rank is
// inside any call of the library, blocking or not.
//
//   Task ring(Messenger& m, ...) {
//     Request* in = m.receive(...);
//     co_await sent(m, m.send(...));   // waits and releases
//     co_await received(m, in);
//   }
#pragma once

#include <coroutine>
#include <exception>
#include <span>
#include <utility>

#include <weft/message/mp/messenger.hpp>

namespace weft::mp {

// Starts at once; runs up to its first wait. Destroying it while it waits is a bug unless the whole
// rank ends.
class [[nodiscard]] Task {
 public:
  struct promise_type {
    std::coroutine_handle<> waiter;
    int error = 0;  // co_return 0 or an error code of the caller's own.

    Task get_return_object() {
      return Task(std::coroutine_handle<promise_type>::from_promise(*this));
    }
    std::suspend_never initial_suspend() noexcept { return {}; }
    struct Final {
      bool await_ready() noexcept { return false; }
      std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> self) noexcept {
        const std::coroutine_handle<> next = self.promise().waiter;
        return next ? next : std::noop_coroutine();
      }
      void await_resume() noexcept {}
    };
    Final final_suspend() noexcept { return {}; }
    void return_value(int code) { error = code; }
    void unhandled_exception() { std::terminate(); }
  };

  Task() = default;
  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
  Task& operator=(Task&& other) noexcept {
    if (this != &other) {
      if (handle_) handle_.destroy();
      handle_ = std::exchange(other.handle_, {});
    }
    return *this;
  }
  ~Task() {
    if (handle_) handle_.destroy();
  }

  bool done() const { return !handle_ || handle_.done(); }
  int error() const { return handle_ ? handle_.promise().error : 0; }
  void set_waiter(std::coroutine_handle<> waiter) { handle_.promise().waiter = waiter; }

  // co_await task: its result.
  bool await_ready() const { return done(); }
  void await_suspend(std::coroutine_handle<> waiter) { set_waiter(waiter); }
  int await_resume() const { return error(); }

 private:
  explicit Task(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
  std::coroutine_handle<promise_type> handle_;
};

// How a request ended.
struct Ended : Arrival {
  bool failed = false;
};

// co_await finished(messenger, request): waits, releases the request, tells how it ended.
class Finished {
 public:
  Finished(Messenger& messenger, Request* request) : messenger_(messenger), request_(request) {}
  bool await_ready() const { return request_->done; }
  void await_suspend(std::coroutine_handle<> waiter) { request_->waiter = waiter; }
  Ended await_resume() const {
    const Ended ended{request_->arrival, request_->failed};
    messenger_.release(request_);
    return ended;
  }

 private:
  Messenger& messenger_;
  Request* request_;
};
inline Finished finished(Messenger& messenger, Request* request) {
  return {messenger, request};
}

// Runs the messenger until the task is done.
inline int run(Messenger& messenger, const Task& task) {
  for (messenger.progress(); !task.done(); messenger.progress()) messenger.pause();
  return task.error();
}

}  // namespace weft::mp
