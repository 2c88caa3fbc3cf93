// SPDX-License-Identifier: Apache-2.0
#include "job.hpp"

#include <exception>
#include <new>
#include <string>
#include <utility>

#include "home.hpp"

#include <weft/parallel/processes/join.hpp>

namespace weft::app {

Status Job::join() {
  if (launch_.count == 1) return {};
  auto joined = join_job(launch_, find_home().lib);
  if (!joined) return std::move(joined).error();
  peers_ = *std::move(joined);
  return {};
}

Status Job::guard(const std::function<Status()>& work) const {
  if (peers_ == nullptr) return work();
  std::string trouble;
  int code = 70;
  try {
    return work();
  } catch (const std::bad_alloc&) {
    trouble = "out of memory; start fewer processes on each machine";
    code = 1;
  } catch (const std::exception& e) {
    trouble = std::string("internal error: ") + e.what();
  }
  peers_->abort(code, "process " + std::to_string(launch_.self) + ": " + trouble);
  std::terminate();  // Not reached; GCC ignores [[noreturn]] on a virtual function.
}

}  // namespace weft::app
