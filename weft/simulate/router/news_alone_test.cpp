// SPDX-License-Identifier: Apache-2.0
// News alone, step by step: no packets, no windows; the test fills buffers and lets routers speak.
#include <string>

#include <gtest/gtest.h>

#include <weft/simulate/router/exchange.hpp>
#include <weft/simulate/router/news.hpp>
#include <weft/simulate/router/test_state.hpp>

namespace weft::detail {
namespace {

constexpr int port = 0, line = 0;  // Along the row: router r is followed by r + 1.
constexpr LocalOutput output{0};

// A row of eight routers (of two), whose lines go on to its end.
class Row {
 public:
  explicit Row(NewsMode mode, int workers = 1)
      : test_("mesh:8x2", "crossline", machine(mode), workers),
        delay_ps_(news().least_delay_ps()) {}

  // The buffers behind the router's output become full or empty.
  void set_room(std::uint32_t r, bool full, std::int64_t now) {
    const RouterIndex router(r);
    for (Vc vc{0}; vc.value < state().setup.vcs; ++vc) {
      const ChannelIndex channel = state().channel(state().output_at(router, output), vc);
      state().accounts[channel].room =
          full ? 0 : static_cast<std::int32_t>(state().setup.machine.buffer_size().count);
    }
    news().check_port(router, output, now);
  }
  void act(std::uint32_t r, std::int64_t now) { news().act(worker_of(r), RouterIndex(r), now); }
  std::int64_t next(std::uint32_t r) {
    return state().next_of(RouterIndex(r), state().routers[RouterIndex(r)].news_actor());
  }
  // What router r knows of the element that is `ahead` routers further on.
  bool is_free(std::uint32_t r, int ahead) {
    return ((news().line(RouterIndex(r), port, line).word >> ahead) & 1) != 0;
  }
  int worker_of(std::uint32_t r) { return state().placement.worker_of(RouterIndex(r)); }
  std::int64_t delay_ps() const { return delay_ps_; }
  State& state() { return *test_.state; }
  News& news() { return *test_.news; }

 private:
  static NetworkHardware machine(NewsMode mode) {
    NetworkHardware m = test_machine();
    m.vcs = vcs_needed("crossline", *make_topology("mesh:8x2"));
    m.news.mode = mode;
    return m;
  }

  TestState test_;
  std::int64_t delay_ps_;
};

TEST(NewsAlone, StartsWithAllFree) {
  Row row(NewsMode::sideband);
  const LineNews known = row.news().line(RouterIndex(0), port, line);
  EXPECT_EQ(known.length, 7);
  EXPECT_EQ(known.word, 0x7fu);
  EXPECT_EQ(row.delay_ps(), Duration::ns(11 + 100).in_ps());  // As the switch and the cable.
}

TEST(NewsAlone, GoesFromRouterToRouterAgainstTheLine) {
  Row row(NewsMode::sideband);
  row.set_room(3, true, 1000);
  EXPECT_EQ(row.next(3), 1000);
  EXPECT_TRUE(row.is_free(3, 0));  // Not noted before it acts.
  EXPECT_FALSE((row.news().line_now(RouterIndex(3), port, line, 1000).word & 1) != 0);
  row.act(3, 1000);
  EXPECT_FALSE(row.is_free(3, 0));
  const std::int64_t heard_at = 1000 + row.delay_ps();
  EXPECT_EQ(row.next(2), heard_at);
  row.act(2, heard_at - 1);  // Too soon.
  EXPECT_TRUE(row.is_free(2, 1));
  row.act(2, heard_at);
  EXPECT_FALSE(row.is_free(2, 1));
  EXPECT_TRUE(row.is_free(2, 0));
  EXPECT_TRUE(row.is_free(2, 2));
  EXPECT_TRUE(row.is_free(1, 2));
  row.act(1, heard_at + row.delay_ps());
  EXPECT_FALSE(row.is_free(1, 2));
  EXPECT_EQ(row.next(4), never_at);  // The routers ahead are not told.
}

TEST(NewsAlone, IsSentOnlyWhenItChanges) {
  Row row(NewsMode::sideband);
  row.set_room(3, true, 1000);
  row.act(3, 1000);
  row.act(2, 1000 + row.delay_ps());
  EXPECT_EQ(row.next(2), never_at);
  row.news().check_port(RouterIndex(3), output, 5000);
  row.act(3, 5000);
  EXPECT_EQ(row.next(2), never_at);
  row.set_room(3, false, 6000);
  row.act(3, 6000);
  EXPECT_EQ(row.next(2), 6000 + row.delay_ps());
}

TEST(NewsAlone, WaitsInBandForTheCable) {
  Row row(NewsMode::inband);
  row.set_room(3, true, 1000);
  // The cable of router 3 to router 2 carries data until 7000.
  const auto ports = row.state().setup.graph.ports(RouterId(3));
  std::uint32_t back = 0;
  while (ports[back].peer != RouterId(2)) ++back;
  row.state().outputs[row.state().output_at(RouterIndex(3), LocalOutput(back))].free_at = 7000;
  row.act(3, 1000);
  EXPECT_EQ(row.next(3), 7000);
  EXPECT_EQ(row.next(2), never_at);
  EXPECT_EQ(row.news().flits_on(RouterIndex(3), static_cast<int>(back)), 0u);
  row.act(3, 7000);
  EXPECT_EQ(row.next(2), 7000 + row.delay_ps());
  EXPECT_EQ(row.news().flits_on(RouterIndex(3), static_cast<int>(back)), 1u);
}

TEST(NewsAlone, ReachesTheWholeLineAtOnceWhereItIsInstant) {
  Row row(NewsMode::instant);
  row.set_room(3, true, 1000);
  row.act(3, 1000);
  for (const std::uint32_t r : {0u, 1u, 2u}) {
    EXPECT_EQ(row.next(r), 1000 + row.delay_ps()) << r;
    row.act(r, 1000 + row.delay_ps());
    EXPECT_FALSE(row.is_free(r, static_cast<int>(3 - r))) << r;
  }
}

TEST(NewsAlone, CrossesBetweenWorkersByMail) {
  Row row(NewsMode::sideband, 4);  // Rows of four routers each.
  ASSERT_NE(row.worker_of(3), row.worker_of(4));
  begin_mail(row.state(), row.worker_of(4), 0);
  row.set_room(4, true, 1000);
  row.act(4, 1000);
  EXPECT_EQ(row.next(3), never_at);
  EXPECT_EQ(row.state().worker(row.worker_of(4)).mailed_at, 1000 + row.delay_ps());
  read_mail(row.state(), row.worker_of(3), 0);
  EXPECT_EQ(row.next(3), 1000 + row.delay_ps());
}

}  // namespace
}  // namespace weft::detail
