// SPDX-License-Identifier: Apache-2.0
// A command of weft that another one needs: started as a process, in a folder that goes away.
#pragma once

#include <string>
#include <vector>

#include <sys/resource.h>

#include <weft/base/result.hpp>

namespace weft::app {

class TemporaryFolder {
 public:
  TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder();

  // Empty if none could be made; errno says why.
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// Where its standard output goes. Errors are seen in any case.
enum class OutputTo { standard_output, standard_error, nowhere };

struct OwnCommandEnd {
  int status = 0;  // Exit code, or 128 + the signal that ended it.
  rusage use = {};
};

// `words` begin with "weft". Waits for its end.
Result<OwnCommandEnd> run_own_command(const std::vector<std::string>& words, OutputTo output);

}  // namespace weft::app
