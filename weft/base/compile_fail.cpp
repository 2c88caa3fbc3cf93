// SPDX-License-Identifier: Apache-2.0
// Code that must not compile. Each CASE is compiled on its own and must be rejected; without a CASE
// the file compiles, which shows that a rejection is due to the case.
#include <weft/base/id.hpp>
#include <weft/base/units.hpp>

namespace weft {

inline Duration wait(Duration d) {
  return d;
}

inline void use() {
  const Time t = Time::zero();
  [[maybe_unused]] const Time later = t + wait(Duration::ns(1));
  [[maybe_unused]] const bool same = RouterId(1) == RouterId(2);
#if defined(CASE_TIME_PLUS_TIME)
  t + t;
#elif defined(CASE_BYTES_AS_DURATION)
  wait(Bytes{1});
#elif defined(CASE_INT_AS_DURATION)
  wait(1);
#elif defined(CASE_ROUTER_IS_NODE)
  RouterId(1) == NodeId(1);
#elif defined(CASE_INT_AS_ID)
  const RouterId r = 1u;
#elif defined(CASE_DURATION_AS_INT)
  const long long count = Duration::ns(1);
#elif defined(CASE_DURATION_PLUS_BYTES)
  Duration::ns(1) + Bytes{1};
#endif
}

}  // namespace weft
