// SPDX-License-Identifier: Apache-2.0
// The processes that one mpirun started, seen from one of them. All do the same work and take the
// same decisions; process 0 alone prints and writes files.
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
  bool speaks() const { return launch_.self == 0; }

  // Finds the others, if there are any. Who has joined waits for the others in the destructor. An
  // mpirun ends all as soon as one process returns an error: the job must outlive the complaint.
  Status join();
  ProcessGroup* peers() const { return peers_.get(); }  // Null: alone, or not joined.

  // An exception is one process's own. The others would wait for it: ends all.
  Status guard(const std::function<Status()>& work) const;

 private:
  Launch launch_ = launched();
  std::unique_ptr<ProcessGroup> peers_;
};

}  // namespace weft::app
