// SPDX-License-Identifier: Apache-2.0
#include "weft/base/threads.hpp"

#include <system_error>
#include <utility>

namespace weft {

void FirstFailure::keep(std::exception_ptr failure) noexcept {
  const std::lock_guard lock(mutex_);
  if (first_ == nullptr) first_ = std::move(failure);
}

void FirstFailure::rethrow() {
  if (std::exception_ptr first = std::exchange(first_, nullptr)) std::rethrow_exception(first);
}

void Threads::start(std::function<void()> work) {
  threads_.reserve(threads_.size() + 1);  // A thread that runs must find its place.
  try {
    threads_.emplace_back([this, work = std::move(work)] { failure_.guard(work); });
  } catch (const std::system_error& error) {
    throw std::system_error(error.code(),
                            "no further thread can be started: use fewer (--threads, --jobs), or "
                            "allow more processes and memory (ulimit -u, ulimit -v)");
  }
}

void Threads::join() {
  wait();
  failure_.rethrow();
}

void Threads::wait() {
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

}  // namespace weft
