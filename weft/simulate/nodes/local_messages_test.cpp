// SPDX-License-Identifier: Apache-2.0
// Messages inside a node whose costs were measured: the sum of their parts, to the picosecond.
#include <vector>

#include <gtest/gtest.h>

#include <weft/message/port/copy_stretch.hpp>
#include <weft/simulate/nodes/test_rig.hpp>

namespace weft {
namespace {

constexpr std::int64_t kib = 1024;

Rig one_node(std::uint32_t ranks) {
  Rig rig;
  rig.net = "mesh:2";
  rig.ranks = rig.ranks_per_node = ranks;
  rig.setup.machine.vcs = 1;
  NodeModel& node = rig.setup.node;
  node.local_latency = Duration::ns(100);
  node.local.send_overhead = Duration::ns(20);
  node.local.receive_overhead = Duration::ns(30);
  node.local.write_overhead = Duration::ns(700);
  node.copy_times = *TimeBySize::parse({"1 KiB: 200 ns", "16 KiB: 1200 ns"});
  node.local.write_times = *TimeBySize::parse({"0 B: 500 ns", "16 KiB: 2 us"});
  node.memory_rate = Rate::gbyte_per_s(1000);
  return rig;
}

// When rank 1 has the message of rank 0, and when rank 0 may use its memory again.
std::pair<std::int64_t, std::int64_t> send_once(Rig& rig, std::int64_t size) {
  rig.all.clear();
  rig.run([&](const Fabric& fabric) {
    const mp::Options options;
    mp::Messenger m(fabric, options);
    std::vector<std::byte> data(static_cast<std::size_t>(size), std::byte{7});
    if (fabric.self.index == 0) send(m, 1, data.data(), data.size());
    if (fabric.self.index == 1) {
      data.assign(data.size(), std::byte{0});
      receive(m, 0, data.data(), data.size());
      EXPECT_EQ(data.back(), std::byte(fabric.carries_data ? 7 : 0));
    }
  });
  return {rig.all[1], rig.all[0]};
}

TEST(TimeBySize, GoesThroughItsPoints) {
  const TimeBySize times = *TimeBySize::parse({"1 KiB: 200 ns", "16 KiB: 1200 ns"});
  EXPECT_EQ(times.at({0}), Duration::zero());
  EXPECT_EQ(times.at({512}), Duration::ns(100));
  EXPECT_EQ(times.at({1 * kib}), Duration::ns(200));
  EXPECT_EQ(times.at({16 * kib}), Duration::ns(1200));
  EXPECT_EQ(times.at({31 * kib}), Duration::ns(2200)) << "as between the last two";
  EXPECT_EQ(TimeBySize::parse({"0 B: 500 ns", "1 KiB: 1 us"})->at({0}), Duration::ns(500));
  EXPECT_TRUE(TimeBySize::parse({})->empty());
  for (const std::vector<std::string>& wrong : {std::vector<std::string>{"1 KiB"},
                                                {"1 KiB: 2"},
                                                {"x: 2 ns"},
                                                {"0 B: 1 ns"},
                                                {"2 KiB: 1 ns", "1 KiB: 2 ns"},
                                                {"1 KiB: 2 ns", "2 KiB: 1 ns"}})
    EXPECT_FALSE(TimeBySize::parse(wrong)) << wrong[0];
}

TEST(LocalMessage, ShortOneIsCopiedOnBothSides) {
  Rig rig = one_node(2);
  // Send, copy in; latency; receive, copy out.
  EXPECT_EQ(send_once(rig, kib).first, Duration::ns(20 + 200 + 100 + 30 + 200).in_ps());
  rig.setup.node.local.copy_times = *TimeBySize::parse({"1 KiB: 250 ns"});
  rig.setup.node.local.latency_times = *TimeBySize::parse({"1 KiB: 40 ns"});
  EXPECT_EQ(send_once(rig, kib).first, Duration::ns(20 + 250 + 140 + 30 + 250).in_ps());
}

// A request and its answer are frames of 150 ns each.
TEST(LocalMessage, SenderAloneCopiesSmallRendezvous) {
  Rig rig = one_node(2);
  const Duration copy = rig.setup.node.local.write_times.at({20 * kib});
  const auto [there, back] = send_once(rig, 20 * kib);
  EXPECT_EQ(there, (Duration::ns(150 * 2 + 20 + 700) + copy + Duration::ns(100 + 30)).in_ps());
  EXPECT_LT(back, there);
}

TEST(LocalMessage, BothCopyALargeOne) {
  for (const std::int64_t size : {32 * kib, 64 * kib, 1024 * kib}) {
    Rig rig = one_node(2);
    const auto stretch = static_cast<std::int64_t>(copy_stretch(static_cast<std::uint64_t>(size)));
    const Duration each = rig.setup.node.local.write_times.at({stretch});
    const std::int64_t turns = size / stretch / 2;
    const auto [there, back] = send_once(rig, size);
    // The receiver begins a latency later, and so ends later.
    EXPECT_EQ(there,
              (Duration::ns(150 * 2 + 20 + 700 + 100) + each * turns + Duration::ns(30)).in_ps())
        << size;
    EXPECT_EQ(back, there - Duration::ns(30).in_ps() + Duration::ns(100).in_ps());
  }
}

TEST(LocalMessage, ToOneselfIsACopy) {
  for (const std::int64_t size : {kib, 100 * kib}) {
    Rig rig = one_node(1);
    rig.run([&](const Fabric& fabric) {
      const mp::Options options;
      mp::Messenger m(fabric, options);
      std::vector<std::byte> from(static_cast<std::size_t>(size), std::byte{7}), to(from.size());
      mp::Receiving r;
      r.source = 0;
      r.data = to.data();
      r.size = to.size();
      mp::Request* const request = m.receive(r);
      send(m, 0, from.data(), from.size());
      m.wait(request);
      m.release(request);
      EXPECT_EQ(to.back(), std::byte{7});
    });
    const int copies = size == kib ? 2 : 1, frames = size == kib ? 1 : 3;
    EXPECT_EQ(rig.all[0],
              (rig.setup.node.copy_times.at({size}) * copies + Duration::ns(frames)).in_ps())
        << size;
  }
}

TEST(Reductions, HaveARateOfTheirOwn) {
  for (const auto& [rate, expected] : {std::pair(Rate(), 200), {Rate::gbyte_per_s(1), 1024}}) {
    Rig rig = one_node(1);
    rig.setup.node.reduce_rate = rate;
    rig.run([&](const Fabric& fabric) { fabric.processor.charge(Work::reduction, kib); });
    EXPECT_EQ(rig.all[0], Duration::ns(expected).in_ps());
  }
}

TEST(LocalMessage, TakesTheSameTimeWithoutData) {
  for (const std::int64_t size : {kib, 20 * kib, 300 * kib}) {
    Rig with = one_node(2), without = one_node(2);
    without.setup.carry_data = false;
    EXPECT_EQ(send_once(with, size), send_once(without, size)) << size;
  }
}

TEST(LocalMessage, ABusyReceiverLeavesTheCopyToTheSender) {
  Rig rig = one_node(2);
  const Duration each = rig.setup.node.local.write_times.at({16 * kib});
  rig.run([&](const Fabric& fabric) {
    const mp::Options options;
    mp::Messenger m(fabric, options);
    std::vector<std::byte> data(64 * kib);
    if (fabric.self.index == 0) send(m, 1, data.data(), data.size());
    if (fabric.self.index != 1) return;
    mp::Receiving r;
    r.source = 0;
    r.data = data.data();
    r.size = data.size();
    mp::Request* const request = m.receive(r);
    while (fabric.processor.now() < Time::zero() + Duration::us(1)) {  // Answers the request.
      m.progress();
      fabric.transport.wait(fabric.processor.now() + Duration::ns(50));
    }
    fabric.processor.spend(Duration::ms(1));
    m.wait(request);
    m.release(request);
  });
  // Sent long before the receiver looks.
  EXPECT_EQ(rig.all[0], (Duration::ns(150 * 2 + 20 + 700) + each * 4).in_ps());
  EXPECT_GT(rig.all[1], Duration::ms(1).in_ps());
}

TEST(LocalMessage, IsSlowerBeyondTheCache) {
  const auto rounds = [](Bytes cache) {
    Rig rig = one_node(2);
    rig.setup.node.cache = cache;
    rig.setup.node.uncached_rate = Rate::gbyte_per_s(1);
    return rig.run([&](const Fabric& fabric) {
      const mp::Options options;
      mp::Messenger m(fabric, options);
      std::vector<std::byte> data(256 * kib);
      for (int i = 0; i < 8; ++i) {
        if (fabric.self.index == 0) send(m, 1, data.data(), data.size());
        if (fabric.self.index == 1) receive(m, 0, data.data(), data.size());
      }
    });
  };
  const std::int64_t unlimited = rounds({0}), fits = rounds({512 * kib}),
                     small = rounds({256 * kib});
  EXPECT_LT(unlimited, fits) << "the first is not in the cache";
  EXPECT_LT(fits, small);
  EXPECT_GE(small, serialise(Bytes{8 * 128 * kib}, Rate::gbyte_per_s(1)).in_ps());
}

TEST(Cores, AreSharedByMoreRanks) {
  for (const int cores : {0, 4, 2, 1}) {
    Rig rig = one_node(4);
    rig.setup.node.cores = cores;
    const std::int64_t took = rig.run([&](const Fabric& fabric) {
      fabric.processor.spend(Duration::us(10));
      fabric.transport.wait(fabric.processor.now() + Duration::ps(1));
    });
    const int shared_by = cores == 0 ? 1 : 4 / cores;
    EXPECT_GE(took, Duration::us(10 * shared_by).in_ps()) << cores;
    EXPECT_LT(took, Duration::us(10 * shared_by + 1).in_ps()) << cores;
  }
}

TEST(Cores, CostASwitchOrAWake) {
  const auto took = [](int cores, Duration busy) {
    Rig rig = one_node(2);
    rig.setup.node.cores = cores;
    rig.setup.node.wake_time = Duration::us(40);
    rig.setup.node.switch_time = Duration::us(3);
    rig.run([&](const Fabric& fabric) {
      const mp::Options options;
      mp::Messenger m(fabric, options);
      std::byte data{};
      if (fabric.self.index == 0) {
        fabric.processor.spend(busy);
        send(m, 1, &data, 0);
      } else {
        receive(m, 0, &data, 0);
      }
    });
    return rig.all[1];
  };
  const std::int64_t message = Duration::ns(150).in_ps();
  EXPECT_EQ(took(2, Duration::us(50)), Duration::us(50).in_ps() + message);
  EXPECT_EQ(took(2, Duration::us(500)), Duration::us(540).in_ps() + message) << "it slept";
  EXPECT_EQ(took(1, Duration::us(50)), Duration::us(53).in_ps() + message) << "one core";
}

}  // namespace
}  // namespace weft
