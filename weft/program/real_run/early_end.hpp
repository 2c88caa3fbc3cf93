// SPDX-License-Identifier: Apache-2.0
// A recorded process that is asked to end (SIGTERM): inside a call of the library it first saves
// its record, outside of calls it ends at once, as no call would notice the request.
#pragma once

#include <functional>

namespace weft {

class EarlyEnd {
 public:
  // From now on; unless the program handles the signal itself.
  void watch(std::function<void()> save);
  void enter_call();
  void leave_call();  // Ends the process if that was asked for.
  bool asked() const;
  void end();  // Saves and ends the process.

 private:
  std::function<void()> save_;
};

}  // namespace weft
