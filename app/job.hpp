// SPDX-License-Identifier: Apache-2.0
// The processes that one mpirun started, seen from one of them. All do the same work and take the
// same decisions; only process 0 prints and writes files.
#pragma once

#include <functional>
#include <memory>

#include <weft/base/result.hpp>
#include <weft/parallel/processes/launch.hpp>
#include <weft/parallel/processes/process_group.hpp>

namespace weft::app {

class Job {
 public:
  int processes() const { return launch_.count; }
  bool is_root() const { return launch_.self == 0; }

  // Connects to the other processes, if there are any; the destructor waits for them. mpirun kills
  // all processes as soon as one returns an error, so the job must outlive the error message.
  Status join();
  ProcessGroup* peers() const { return peers_.get(); }  // Null if alone or not joined.

  // Runs the work. If it throws here, the other processes would wait forever, so this aborts all.
  Status guard(const std::function<Status()>& work) const;

 private:
  Launch launch_ = launched();
  std::unique_ptr<ProcessGroup> peers_;
};

}  // namespace weft::app
