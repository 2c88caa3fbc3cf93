// SPDX-License-Identifier: Apache-2.0
// A thread of the library inside a program: the program's signals are not for it.
#pragma once

#include <csignal>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include <pthread.h>

#include <weft/base/result.hpp>

namespace weft::wire {

// `purpose` is for the message if the system allows no further thread.
Result<std::thread> start_without_signals(const std::string& purpose, auto body) {
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread thread;
  std::string trouble;
  try {
    thread = std::thread(std::move(body));
  } catch (const std::system_error& error) {
    trouble = error.what();
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (!trouble.empty()) {
    return Error::run("no thread for " + purpose + ": " + trouble +
                      "; raise the limit of processes (ulimit -u)");
  }
  return thread;
}

}  // namespace weft::wire
