// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <weft/program/simulated_run/footprint.hpp>

namespace weft {
namespace {

TEST(Footprint, CountsTouchedPagesOnly) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::size_t size = 10'000 * page;
  auto* const data = static_cast<std::byte*>(
      ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(data, MAP_FAILED);
  ::madvise(data, size, MADV_NOHUGEPAGE);
  const auto begin = reinterpret_cast<std::uintptr_t>(data);
  EXPECT_EQ(resident_bytes(begin, size), 0u);
  for (const std::size_t touched : {0u, 5u, 4096u, 9999u}) data[touched * page] = std::byte{1};
  EXPECT_EQ(resident_bytes(begin, size), 4 * page);
  EXPECT_EQ(resident_bytes(begin, page), page);
  EXPECT_EQ(resident_bytes(begin, 0), 0u);
  ::munmap(data, size);
}

TEST(Footprint, DoesNotCountFiles) {
  const auto code = reinterpret_cast<std::uintptr_t>(&resident_bytes);
  EXPECT_EQ(resident_bytes(code / 4096 * 4096, 4096), 0u);
}

TEST(Footprint, PeakIsWhatWasTouched) {
  constexpr std::size_t size = std::size_t{64} << 20;
  const std::uint64_t before = peak_memory();
  EXPECT_GT(before, 1u << 20);
  void* const data = ::mmap(nullptr, size, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  ASSERT_NE(data, MAP_FAILED);
  ::munmap(data, size);
  EXPECT_GE(peak_memory(), std::uint64_t{size});
}

TEST(Footprint, RestIsWhatNobodyNames) {
  Footprint footprint;
  footprint.resident = 100;
  footprint.stacks = 30;
  footprint.heap = 20;
  EXPECT_EQ(footprint.rest(), 50u);
  footprint.heap = 90;  // Allocated but not resident.
  EXPECT_EQ(footprint.rest(), 0u);
}

}  // namespace
}  // namespace weft
