// SPDX-License-Identifier: Apache-2.0
#include "weft/program/simulated_run/workers.hpp"

#include <algorithm>
#include <cstdio>

#include <sched.h>

#include <weft/base/file.hpp>

namespace weft {

unsigned others_running(const std::string& loadavg) {
  double minutes[3];
  unsigned running = 0;
  const int fields = std::sscanf(loadavg.c_str(), "%lf %lf %lf %u/", &minutes[0], &minutes[1],
                                 &minutes[2], &running);
  return fields == 4 ? std::max(running, 1u) - 1 : 0;
}

unsigned idle_cores() {
  cpu_set_t allowed;
  const bool known = ::sched_getaffinity(0, sizeof allowed, &allowed) == 0;
  const unsigned cores = known ? std::max(1u, static_cast<unsigned>(CPU_COUNT(&allowed))) : 1;
  const auto load = read_file("/proc/loadavg");
  const unsigned others = load ? others_running(*load) : 0;
  return cores - std::min(others, cores - 1);
}

int workers_that_pay(std::uint32_t routers, unsigned cores) {
  const std::uint32_t worth = std::max(std::min(routers / 256, 8u), routers / 512);
  return static_cast<int>(std::clamp(std::min<std::uint32_t>(worth, cores), 1u, 63u));
}

}  // namespace weft
