// SPDX-License-Identifier: Apache-2.0
// With the hooks linked in, as they are in the library of programs.
#include <memory>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <weft/real/wire/registration_cache.hpp>
#include <weft/real/wire/registration_watch.hpp>

namespace weft::wire {
namespace {

constexpr std::size_t size = std::size_t{1} << 20;

std::byte* map(void* place = nullptr, int flags = 0, std::size_t bytes = size) {
  void* const made =
      ::mmap(place, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
  return made == MAP_FAILED ? nullptr : static_cast<std::byte*>(made);
}

class Watch : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(RegistrationWatch::arm()); }
  void TearDown() override {
    static_cast<void>(gone(nullptr, nullptr));
    RegistrationWatch::disarm();
  }
  // Whether something of this range was given back since the last question.
  static bool gone(const std::byte* begin, const std::byte* end) {
    bool touched = false;
    MemoryRange range;
    while (RegistrationWatch::next_gone(range)) {
      touched = touched || (range.begin < end && begin < range.end);
    }
    return touched;
  }
};

TEST_F(Watch, MappingsAreKnownUntilTheyEnd) {
  std::byte* const data = map();
  EXPECT_TRUE(RegistrationWatch::knows(data, data + size));
  EXPECT_FALSE(RegistrationWatch::knows(data, data + 2 * size));
  EXPECT_FALSE(gone(data, data + size));
  ::munmap(data + size / 2, 4096);
  EXPECT_TRUE(gone(data + size / 2, data + size / 2 + 4096));
  EXPECT_FALSE(RegistrationWatch::knows(data, data + size));
  EXPECT_TRUE(RegistrationWatch::knows(data, data + size / 2));
  EXPECT_TRUE(RegistrationWatch::knows(data + size / 2 + 4096, data + size));
  ::munmap(data, size);
  EXPECT_TRUE(gone(data, data + size));
  EXPECT_FALSE(RegistrationWatch::knows(data, data + 1));
}

TEST_F(Watch, EveryWayToChangePagesIsHeard) {
  std::byte* const data = map();
  map(data + 8192, MAP_FIXED, 4096);
  EXPECT_TRUE(gone(data + 8192, data + 8193));
  ::madvise(data, size, MADV_DONTNEED);
  EXPECT_TRUE(gone(data, data + 1));
  EXPECT_TRUE(RegistrationWatch::knows(data, data + 8192));
  std::byte* const moved = static_cast<std::byte*>(::mremap(data, 4096, 8192, MREMAP_MAYMOVE));
  EXPECT_TRUE(gone(data, data + 1));
  EXPECT_FALSE(RegistrationWatch::knows(moved, moved + 1));
  ::malloc_trim(0);
  EXPECT_TRUE(gone(data, data + 1));
  ::munmap(moved, 8192);
  ::munmap(data, size);
}

TEST_F(Watch, LargeBlocksOfTheHeapStayWhereTheyAre) {
  const auto guard = std::make_unique<std::byte[]>(64 * size);
  const std::byte* const block = guard.get();
  EXPECT_TRUE(RegistrationWatch::knows(block, block + 64 * size));
  void* const top = ::sbrk(0);
  std::make_unique<std::byte[]>(64 * size).reset();
  EXPECT_GE(::sbrk(0), top) << "the C library has not given anything back";
}

TEST_F(Watch, StaticDataAndTheMainStackAreKnownOthersAreNot) {
  static std::byte fixed[100000];
  EXPECT_TRUE(RegistrationWatch::knows(fixed, fixed + sizeof fixed));
  std::byte local[1000] = {};
  EXPECT_TRUE(RegistrationWatch::knows(local, local + sizeof local));
  std::thread([] {
    std::byte others[1000] = {};
    EXPECT_FALSE(RegistrationWatch::knows(others, others + sizeof others));
  }).join();
}

TEST_F(Watch, TooMuchToRememberIsAll) {
  std::byte* const data = map();
  std::byte* const other = map();
  for (std::size_t i = 0; i < 2000; ++i) ::madvise(other, 4096, MADV_DONTNEED);
  EXPECT_TRUE(gone(data, data + 1));
  EXPECT_FALSE(gone(data, data + 1));
  for (std::byte* const one : {data, other}) ::munmap(one, size);
}

TEST_F(Watch, UnarmedNothingIsKnown) {
  std::byte* const data = map();
  RegistrationWatch::disarm();
  EXPECT_FALSE(RegistrationWatch::knows(data, data + size));
  ::munmap(data, size);
  ASSERT_TRUE(RegistrationWatch::arm());
  EXPECT_FALSE(RegistrationWatch::knows(data, data + size));
}

TEST_F(Watch, WorkersTellAtTheSameTime) {
  std::vector<std::thread> workers;
  for (int i = 0; i < 4; ++i) {
    workers.emplace_back([] {
      for (int round = 0; round < 500; ++round) {
        std::byte* const data = map();
        EXPECT_TRUE(RegistrationWatch::knows(data, data + size));
        ::munmap(data, size);
      }
    });
  }
  for (std::thread& worker : workers) worker.join();
  EXPECT_TRUE(gone(nullptr, reinterpret_cast<const std::byte*>(UINTPTR_MAX)));
}

}  // namespace
}  // namespace weft::wire
