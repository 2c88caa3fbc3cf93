// SPDX-License-Identifier: Apache-2.0
// The plugin over libfabric's tcp provider, two ports in one process.
#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <vector>

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <weft/real/wire/clock.hpp>
#include <weft/real/wire/ofi_plugin.hpp>

namespace weft::wire {
namespace {

constexpr std::size_t size = 300000;

class Plugin : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    void* const opened = ::dlopen(WEFT_OFI_PLUGIN, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(opened, nullptr) << ::dlerror();
    plugin_ = static_cast<const OfiPlugin*>(::dlsym(opened, ofi_plugin_symbol));
    ASSERT_NE(plugin_, nullptr);
    OfiName name = {};
    if (plugin_->list("tcp", "lo", &name, 1) < 1) GTEST_SKIP() << "libfabric without tcp";
    OfiTrouble trouble = {};
    from_ = plugin_->open(&name, GetParam(), &trouble);
    to_ = plugin_->open(&name, GetParam(), &trouble);
    ASSERT_TRUE(from_ != nullptr && to_ != nullptr) << trouble.text;
    for (std::size_t i = 0; i < size; ++i) source_[i] = static_cast<std::byte>(i * 7 + i / 256);
    ASSERT_TRUE(plugin_->open_memory(to_, target_.data(), size, 0x123456789abcdef, &memory_));
    meet();
  }
  void TearDown() override {
    if (memory_.handle != nullptr) plugin_->close_memory(memory_.handle);
    for (OfiPort* const port : {from_, to_}) {
      if (port != nullptr) plugin_->close(port);
    }
  }
  void meet() {
    std::array<char, 512> address = {};
    const std::size_t length = plugin_->address(to_, address.data(), address.size());
    ASSERT_GT(length, 0u);
    ASSERT_TRUE(plugin_->add_peer(from_, address.data(), length, &peer_));
  }
  void write(std::uint64_t key, std::size_t offset, std::size_t count, std::uint64_t context) {
    const OfiWrite write{
        peer_, source_.data() + offset,         nullptr, count, memory_.base + offset,
        key,   reinterpret_cast<void*>(context)};
    plugin_->write(from_, &write);
  }
  // Looks after one or both ports until `count` writes have ended.
  std::vector<OfiDone> ended(std::size_t count, bool both, Duration most) {
    std::vector<OfiDone> all;
    const Time limit = real_now() + most;
    while (all.size() < count && real_now() < limit) {
      std::array<OfiDone, 4> done;
      if (both) plugin_->poll(to_, done.data(), 4);
      const int got = plugin_->poll(from_, done.data(), 4);
      all.insert(all.end(), done.begin(), done.begin() + got);
    }
    return all;
  }

  static constexpr Duration long_enough = Duration::ms(20'000);
  const OfiPlugin* plugin_ = nullptr;
  OfiPort* from_ = nullptr;
  OfiPort* to_ = nullptr;
  OfiMemory memory_ = {};
  std::uint64_t peer_ = 0;
  std::vector<std::byte> source_ = std::vector<std::byte>(size);
  std::vector<std::byte> target_ = std::vector<std::byte>(size);
};

TEST_P(Plugin, TellsOnlyWhenTheDataIsThere) {
  write(memory_.key, 0, 10, 1);
  ASSERT_EQ(ended(1, true, long_enough).size(), 1u);
  // The other side does not move: nothing can have arrived, though all of it may have left.
  write(memory_.key, 10, 1000, 2);
  EXPECT_TRUE(ended(1, false, Duration::ms(100)).empty());
  EXPECT_NE(target_[500], source_[500]);
  write(memory_.key, 1010, size - 1010, 3);
  const auto done = ended(2, true, long_enough);
  ASSERT_EQ(done.size(), 2u);
  EXPECT_EQ(done[0].error, 0);
  EXPECT_EQ(target_, source_);
}

TEST_P(Plugin, ManyAtOnceEachTellOnce) {
  constexpr std::size_t count = 1500;  // More than a queue holds.
  for (std::size_t i = 0; i < count; ++i) write(memory_.key, i * 200, 200, i + 1);
  const auto done = ended(count, true, long_enough);
  std::vector<std::uint64_t> seen;
  for (const OfiDone& one : done) {
    EXPECT_EQ(one.error, 0);
    seen.push_back(reinterpret_cast<std::uint64_t>(one.context));
  }
  std::sort(seen.begin(), seen.end());
  ASSERT_EQ(seen.size(), count);
  EXPECT_EQ(std::adjacent_find(seen.begin(), seen.end()), seen.end());
  EXPECT_EQ(target_, source_);
}

TEST_P(Plugin, AWrongKeyWritesNothing) {
  const std::vector<std::byte> before = target_;
  write(~memory_.key, 0, size, 1);
  const auto done = ended(1, true, long_enough);
  ASSERT_EQ(done.size(), 1u);
  EXPECT_NE(done[0].error, 0);
  EXPECT_EQ(target_, before);
}

TEST_P(Plugin, ClosedMemoryIsWrittenNoMore) {
  write(memory_.key, 0, size, 1);
  ASSERT_EQ(ended(1, true, long_enough).size(), 1u);
  std::fill(target_.begin(), target_.end(), std::byte{1});
  const std::vector<std::byte> before = target_;
  plugin_->close_memory(std::exchange(memory_.handle, nullptr));
  write(memory_.key, 0, size, 2);
  const auto done = ended(1, true, long_enough);
  ASSERT_EQ(done.size(), 1u);
  EXPECT_NE(done[0].error, 0);
  EXPECT_EQ(target_, before);
}

TEST_P(Plugin, RenewedItEndsTheOldAndBeginsAnew) {
  write(memory_.key, 0, size, 1);
  EXPECT_TRUE(ended(1, false, Duration::ms(20)).empty());
  plugin_->close_memory(memory_.handle);
  OfiTrouble trouble = {};
  ASSERT_TRUE(plugin_->renew(to_, &trouble)) << trouble.text;
  ASSERT_TRUE(plugin_->renew(from_, &trouble)) << trouble.text;
  const std::vector<std::byte> before = target_;
  EXPECT_TRUE(ended(1, true, Duration::ms(50)).empty());
  EXPECT_EQ(target_, before);
  ASSERT_TRUE(plugin_->open_memory(to_, target_.data(), size, 77, &memory_));
  meet();
  write(memory_.key, 0, size, 2);
  const auto done = ended(1, true, long_enough);
  ASSERT_EQ(done.size(), 1u);
  EXPECT_EQ(done[0].error, 0);
  EXPECT_EQ(target_, source_);
}

INSTANTIATE_TEST_SUITE_P(WithAndWithoutReadingBack, Plugin, testing::Bool());

}  // namespace
}  // namespace weft::wire
