// SPDX-License-Identifier: Apache-2.0
#include "host_block.hpp"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <weft/real/wire/free_memory.hpp>

namespace weft::wire {
namespace {

// Runs in a process of its own; the test fails unless it returns 0.
template <typename Body>
void in_child(Body body) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) ::_exit(body());
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(HostBlock, IsSeenByAnotherProcess) {
  constexpr std::size_t size = 3 * 4096 + 100;
  auto made = HostBlock::make(size);
  ASSERT_TRUE(made) << made.error().text();
  const auto own = (*made)->map(0, 4096);
  ASSERT_TRUE(own);
  EXPECT_EQ((*own)[size - 1], std::byte{0});
  (*own)[0] = std::byte{7};
  const HostBlock::Address address = (*made)->address();
  in_child([&] {
    auto opened = HostBlock::open(address, size);
    if (!opened) return 1;
    const auto theirs = (*opened)->map(4096, size - 4096);
    if (!theirs || (*theirs)[0] != std::byte{7}) return 2;
    (*opened)->close_file();
    (*theirs)[size - 1] = std::byte{9};
    return 0;
  });
  EXPECT_EQ((*own)[size - 1], std::byte{9});
  (*made)->close_file();  // What is mapped stays.
  EXPECT_EQ((*own)[0], std::byte{7});
}

TEST(HostBlock, OfNobodyIsAnError) {
  auto made = HostBlock::make(4096);
  ASSERT_TRUE(made);
  HostBlock::Address address = (*made)->address();
  EXPECT_FALSE(HostBlock::open(address, 8192));
  address.inode += 1;
  EXPECT_FALSE(HostBlock::open(address, 4096));
  address.inode -= 1;
  EXPECT_TRUE(HostBlock::open(address, 4096));
  (*made)->close_file();
  EXPECT_FALSE(HostBlock::open(address, 4096));
}

TEST(HostBlock, LargerThanTheHostIsAnError) {
  const auto made = HostBlock::make(std::size_t{1} << 60);
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().text().find("are free on this host"), std::string::npos);
}

TEST(HostBlock, LimitsOfTheProcessAreErrors) {
  in_child([] {
    const rlimit files = {1 << 20, 1 << 20};
    ::setrlimit(RLIMIT_FSIZE, &files);
    return HostBlock::make(2 << 20) ? 1 : 0;
  });
  in_child([] {
    auto made = HostBlock::make(std::size_t{64} << 20);
    const rlimit space = {std::size_t{32} << 20, std::size_t{32} << 20};
    ::setrlimit(RLIMIT_AS, &space);
    return !made || (*made)->map(0, 4096) ? 1 : 0;
  });
}

// A tree of files as the system has them.
class FakeSystem {
 public:
  FakeSystem() { std::filesystem::remove_all(root_); }
  ~FakeSystem() { std::filesystem::remove_all(root_); }
  FakeSystem(const FakeSystem&) = delete;
  FakeSystem& operator=(const FakeSystem&) = delete;
  void write(const std::string& path, const std::string& text) const {
    const std::filesystem::path file = root_ + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  std::uint64_t free() const { return free_memory(root_); }

 private:
  std::string root_ = testing::TempDir() + "free_memory_" + std::to_string(::getpid());
};

TEST(FreeMemory, IsWhatHostAndLimitsLeave) {
  const FakeSystem system;
  EXPECT_EQ(system.free(), std::numeric_limits<std::uint64_t>::max());
  system.write("/proc/meminfo", "MemTotal: 900 kB\nMemAvailable:     500 kB\nSwapFree: 12 kB\n");
  EXPECT_EQ(system.free(), 512U * 1024);
  system.write("/proc/self/cgroup", "0::/job/step\n");
  system.write("/sys/fs/cgroup/job/step/memory.max", "max\n");
  system.write("/sys/fs/cgroup/job/step/memory.current", "4096\n");
  EXPECT_EQ(system.free(), 512U * 1024);
  system.write("/sys/fs/cgroup/job/memory.max", "100000\n");
  system.write("/sys/fs/cgroup/job/memory.current", "60000\n");
  EXPECT_EQ(system.free(), 40000U);
  system.write("/sys/fs/cgroup/job/memory.stat",
               "anon 1\nactive_file 5000\ninactive_file 15000\nfile 30000\n");
  EXPECT_EQ(system.free(), 60000U);
  system.write("/sys/fs/cgroup/job/memory.current", "130000\n");
  EXPECT_EQ(system.free(), 0U);
  system.write("/proc/self/cgroup", "3:cpu,memory:/old\n2:pids:/\n");
  system.write("/sys/fs/cgroup/memory/old/memory.limit_in_bytes", "70000\n");
  system.write("/sys/fs/cgroup/memory/old/memory.usage_in_bytes", "20000\n");
  EXPECT_EQ(system.free(), 50000U);
}

TEST(FreeMemory, OfThisHostIsMoreThanNothing) {
  EXPECT_GT(free_memory(), 0U);
}

}  // namespace
}  // namespace weft::wire
