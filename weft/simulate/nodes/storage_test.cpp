// SPDX-License-Identifier: Apache-2.0
// Servers of files: how long accesses take, and in which order they change a file.
#include <cstring>
#include <mutex>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <weft/base/config.hpp>
#include <weft/simulate/nodes/storage_model.hpp>
#include <weft/simulate/nodes/storage_servers.hpp>
#include <weft/simulate/nodes/test_rig.hpp>

namespace weft {
namespace {

constexpr std::int64_t stripe = 65536;

// A file in memory.
struct MemoryFile {
  std::mutex mutex;
  std::vector<std::byte> bytes;

  void run(FileOperation& operation) {
    const std::lock_guard<std::mutex> guard(mutex);
    const auto from = static_cast<std::size_t>(operation.offset);
    const std::size_t end = from + operation.size;
    if (operation.writing) {
      bytes.resize(std::max(bytes.size(), end));
      std::memcpy(bytes.data() + from, operation.data, operation.size);
      operation.moved = operation.size;
      return;
    }
    operation.moved = from < bytes.size() ? std::min(bytes.size(), end) - from : 0;
    if (operation.moved > 0) std::memcpy(operation.data, bytes.data() + from, operation.moved);
  }
};

class Access final : public ServedAccess {
 public:
  void ended() override { done = true; }
  bool done = false;
};

void finish(const Fabric& fabric, const Access& access) {
  Completion ignored;
  while (!access.done) {
    fabric.transport.poll(ignored);
    if (!access.done) fabric.transport.wait(Time::never());
  }
}

// Eight nodes, each a step away from each other.
struct StorageRig : Rig {
  MemoryFile file;
  StorageRig() {
    net = "hyperx:8";
    routing = "minimal";
    ranks = 8;
    setup.machine.vcs = 1;
    setup.storage.stripe = Bytes{stripe};
    setup.storage.disk_rate = Rate::gbyte_per_s(1);
    setup.storage.latency = Duration::us(7);
    setup.storage.nodes = {4, 5, 6, 7};
    files = [this](FileOperation& operation) { file.run(operation); };
  }
  void access(const Fabric& fabric, bool writing, std::int64_t offset,
              std::vector<std::byte>& data) {
    Access one;
    one.writing = writing;
    one.offset = offset;
    one.memory = data.data();
    one.size = data.size();
    world_now->storage(fabric.self)->begin(one);
    finish(fabric, one);
    EXPECT_EQ(one.error, 0);
    EXPECT_EQ(one.moved, data.size());
  }
};

// The head through every stage on the way, then the rest of the message.
Duration flight(const NetworkHardware& m, std::int64_t data) {
  const std::int64_t size = data + StorageServers::head_bytes;
  const Duration router = m.route + m.vc_alloc + m.switch_alloc + m.switch_delay;
  const std::int64_t before = (size - 1) / m.mtu.count * m.mtu.count;
  const std::int64_t rest = std::max<std::int64_t>(size - before - m.flit.count, 0);
  return m.inject_delay + m.node_link.delay * 2 + router * 2 + m.link.delay +
         serialise(Bytes{before}, m.link.rate) + serialise(Bytes{rest}, m.link.rate) +
         m.eject_delay;
}

// Four clients, four servers, each of which gets four stripes: the first as soon as it can be
// there, then the disk never pauses.
TEST(Storage, WritesAreAsFastAsTheDisks) {
  StorageRig rig;
  const std::int64_t took = rig.run([&](const Fabric& fabric) {
    if (fabric.self.index >= 4) return;
    std::vector<std::byte> data(4 * stripe, std::byte{1});
    rig.access(fabric, true, fabric.self.index * stripe, data);
  });
  const Duration disk = rig.setup.storage.latency + serialise(Bytes{stripe}, Rate::gbyte_per_s(1));
  const Duration expected =
      flight(rig.setup.machine, stripe) + disk * 4 + flight(rig.setup.machine, 0);
  EXPECT_EQ(took, expected.in_ps());
  EXPECT_EQ(std::ssize(rig.file.bytes), 7 * stripe);
}

// Requests are short on their way there, and the data comes back.
TEST(Storage, ReadsAreAsFastAsTheDisks) {
  StorageRig rig;
  rig.file.bytes.assign(8 * stripe, std::byte{9});
  const std::int64_t took = rig.run([&](const Fabric& fabric) {
    if (fabric.self.index >= 4) return;
    std::vector<std::byte> data(4 * stripe);
    rig.access(fabric, false, fabric.self.index * stripe, data);
    EXPECT_EQ(data, std::vector<std::byte>(4 * stripe, std::byte{9}));
  });
  const Duration disk = rig.setup.storage.latency + serialise(Bytes{stripe}, Rate::gbyte_per_s(1));
  const Duration expected =
      flight(rig.setup.machine, 0) + disk * 4 + flight(rig.setup.machine, stripe);
  EXPECT_EQ(took, expected.in_ps());
}

// With fast disks the one link of the only server is what counts.
TEST(Storage, FastDisksWaitForTheNetwork) {
  StorageRig rig;
  rig.setup.storage.nodes = {7};
  rig.setup.storage.disk_rate = Rate::gbyte_per_s(1000);
  rig.setup.storage.latency = {};
  constexpr std::int64_t each = 8;
  const std::int64_t took = rig.run([&](const Fabric& fabric) {
    if (fabric.self.index >= 4) return;
    std::vector<std::byte> data(each * stripe);
    rig.access(fabric, true, fabric.self.index * each * stripe, data);
  });
  const auto whole = static_cast<double>(
      serialise(Bytes{4 * each * (stripe + StorageServers::head_bytes)}, Rate::gbyte_per_s(8))
          .in_ps());
  EXPECT_GT(static_cast<double>(took), whole);
  EXPECT_LT(static_cast<double>(took), 1.02 * whole);
}

TEST(Storage, AServerOfTheOwnNodeNeedsNoNetwork) {
  StorageRig rig;
  rig.setup.storage.nodes = {0};
  const std::int64_t took = rig.run([&](const Fabric& fabric) {
    if (fabric.self.index > 0) return;
    std::vector<std::byte> data(1000, std::byte{3}), back(1000);
    rig.access(fabric, true, 10, data);
    rig.access(fabric, false, 10, back);
    EXPECT_EQ(back, data);
  });
  const Duration one = rig.setup.node.local_latency * 2 + rig.setup.storage.latency +
                       serialise(Bytes{1000}, Rate::gbyte_per_s(1));
  EXPECT_EQ(took, (one * 2).in_ps());
}

TEST(Storage, TheEndOfAFileIsTold) {
  StorageRig rig;
  rig.file.bytes.assign(stripe + 100, std::byte{9});
  rig.run([&](const Fabric& fabric) {
    if (fabric.self.index > 0) return;
    std::vector<std::byte> data(3 * stripe);
    Access one;
    one.offset = 50;
    one.memory = data.data();
    one.size = data.size();
    rig.world_now->storage(fabric.self)->begin(one);
    finish(fabric, one);
    EXPECT_EQ(one.moved, stripe + 50U);
  });
}

// All write the same bytes: who wins follows from the network, not from who simulates it.
TEST(Storage, WorkersDoNotChangeTheFile) {
  std::vector<std::vector<std::int64_t>> ends;
  std::vector<std::vector<std::byte>> contents;
  for (const int workers : {1, 2, 4}) {
    StorageRig rig;
    rig.net = "torus:4x4";
    rig.routing = "dor";
    rig.setup.machine.vcs = 2;
    rig.ranks = 16;
    rig.setup.workers = workers;
    rig.setup.storage.nodes = {3, 12};
    rig.setup.storage.stripe = Bytes{1024};
    rig.run([&](const Fabric& fabric) {
      for (std::uint32_t turn = 0; turn < 3; ++turn) {
        std::vector<std::byte> data(4000, static_cast<std::byte>(16U * turn + fabric.self.index));
        rig.access(fabric, true, std::int64_t{300} * ((fabric.self.index * 7 + turn * 11) % 13),
                   data);
      }
    });
    ends.push_back(rig.all);
    contents.push_back(rig.file.bytes);
  }
  for (std::size_t i = 1; i < ends.size(); ++i) {
    EXPECT_EQ(ends[i], ends[0]);
    EXPECT_EQ(contents[i], contents[0]);
  }
}

std::string error_of(const std::string& table) {
  const auto config = Config::read_text("[storage]\n" + table, "test.toml");
  StorageModel model;
  const Status read = read_storage(*config, 16, model);
  return read ? "" : read.error().text();
}

TEST(StorageModel, IsRead) {
  const auto config = Config::read_text(
      "[storage]\nservers = 4\nstripe = \"64 KiB\"\ndisk_rate = \"3 GB/s\"\nlatency = \"5 us\"\n",
      "x");
  StorageModel model;
  ASSERT_TRUE(read_storage(*config, 16, model));
  EXPECT_EQ(model.nodes, (std::vector<int>{0, 4, 8, 12}));
  EXPECT_EQ(model.server_of(0), 0U);
  EXPECT_EQ(model.server_of(5 * stripe - 1), 0U);
  EXPECT_EQ(model.server_of(5 * stripe), 1U);
  EXPECT_EQ(model.latency, Duration::us(5));
  EXPECT_NE(error_of("nodes = [3, 16]\n").find("must lie in 0 to 15"), std::string::npos);
  EXPECT_NE(error_of("servers = 2\nnodes = [3]\n").find("keep one"), std::string::npos);
  EXPECT_NE(error_of("stripe = \"1 MiB\"\n").find("needs servers"), std::string::npos);
  EXPECT_NE(error_of("servers = 2\nstripe = \"1 B\"\n").find("at least 512 B"), std::string::npos);
  EXPECT_NE(error_of("servers = 2\ndisk_rate = \"0 GB/s\"\n").find("above 0"), std::string::npos);
  EXPECT_NE(error_of("servers = 17\n"), "");
  EXPECT_NE(error_of("disks = 3\n"), "");
}

}  // namespace
}  // namespace weft
