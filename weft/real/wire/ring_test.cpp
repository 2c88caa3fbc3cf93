// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <weft/base/rng.hpp>
#include <weft/real/wire/regions.hpp>
#include <weft/real/wire/ring.hpp>

namespace weft::wire {
namespace {

std::byte byte_at(std::uint64_t record, std::size_t i) {
  return static_cast<std::byte>((record * 131 + i * 7) & 0xff);
}

std::size_t size_of(const Rng& random, std::uint64_t record) {
  const std::uint64_t draw = random.at(record);
  return draw % (draw % 5 == 0 ? RingWriter::largest + 1 : 200);
}

bool put(RingWriter& writer, const Rng& random, std::uint64_t record) {
  const std::size_t size = size_of(random, record);
  std::byte* const at = writer.reserve(size);
  if (at == nullptr) return false;
  for (std::size_t i = 0; i < size; ++i) at[i] = byte_at(record, i);
  writer.publish({static_cast<std::uint32_t>(size), static_cast<std::uint8_t>(record % 200 + 1)});
  return true;
}

// false: nothing there.
bool get(RingReader& reader, const Rng& random, std::uint64_t record) {
  RingWord head;
  const std::byte* data = nullptr;
  const RingReader::State state = reader.take(head, data);
  EXPECT_NE(state, RingReader::State::broken);
  if (state != RingReader::State::record) return false;
  EXPECT_EQ(head.size, size_of(random, record));
  EXPECT_EQ(head.kind, record % 200 + 1);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < head.size; ++i) wrong += data[i] != byte_at(record, i);
  EXPECT_EQ(wrong, 0u) << "record " << record;
  reader.release();
  return true;
}

TEST(Ring, KeepsOrderAndContent) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Rng random(seed);
    const auto memory = std::make_unique<RingMemory>();
    RingWriter writer(*memory);
    RingReader reader(*memory);
    std::uint64_t written = 0, read = 0;
    for (std::uint64_t step = 0; step < 4000; ++step) {
      const bool writes = random.at(1'000'000 + step) % 2 == 0;
      if (writes) {
        written += put(writer, random, written) ? 1 : 0;
      } else if (get(reader, random, read)) {
        ++read;
      } else {
        EXPECT_EQ(read, written);
      }
    }
    while (get(reader, random, read)) ++read;
    EXPECT_EQ(read, written);
    EXPECT_GT(read, 500u);
  }
}

TEST(Ring, CarriesBetweenThreadsWorkers) {
  const Rng random(7);
  const auto memory = std::make_unique<RingMemory>();
  constexpr std::uint64_t records = 20'000;
  std::thread sender([&] {
    RingWriter writer(*memory);
    for (std::uint64_t i = 0; i < records;) {
      if (put(writer, random, i)) {
        ++i;
      } else {
        std::this_thread::yield();
      }
    }
  });
  RingReader reader(*memory);
  for (std::uint64_t i = 0; i < records;) {
    if (get(reader, random, i)) {
      ++i;
    } else {
      std::this_thread::yield();
    }
  }
  sender.join();
}

TEST(Ring, IsFullAndGoesOn) {
  const auto memory = std::make_unique<RingMemory>();
  RingWriter writer(*memory);
  RingReader reader(*memory);
  int put_in = 0;
  while (writer.reserve(1000) != nullptr) {
    writer.publish({1000, 1});
    ++put_in;
  }
  EXPECT_GT(put_in, 200);
  EXPECT_LT(put_in, static_cast<int>(RingMemory::capacity / 1000));
  RingWord head;
  const std::byte* data = nullptr;
  for (int i = 0; i < put_in; ++i) {
    ASSERT_EQ(reader.take(head, data), RingReader::State::record);
    reader.release();
  }
  EXPECT_EQ(reader.take(head, data), RingReader::State::none);
  EXPECT_NE(writer.reserve(1000), nullptr);
}

TEST(Ring, NoticesNonsense) {
  const Rng random(3);
  for (std::uint64_t i = 0; i < 2000; ++i) {
    const auto memory = std::make_unique<RingMemory>();
    const std::uint64_t word = random.at(i) | 1;
    std::memcpy(memory->data, &word, sizeof word);
    RingReader reader(*memory);
    RingWord head;
    const std::byte* data = nullptr;
    const RingReader::State state = reader.take(head, data);
    if (word >> 48 != RingWord::present) {
      EXPECT_EQ(state, RingReader::State::broken);
    } else if (state == RingReader::State::record) {
      EXPECT_LE(head.size, RingWriter::largest);
    }
  }
}

TEST(Regions, FindWhatIsOpenAndNothingElse) {
  const auto table = std::make_unique<RegionTable>();
  Regions regions(*table);
  std::vector<std::byte> memory(1000);
  const std::uint64_t key = regions.add(memory.data(), memory.size());
  EXPECT_EQ(regions.find(key, 10, 990).data, memory.data() + 10);
  EXPECT_EQ(find_shared(*table, key, 10, 990).data, memory.data() + 10);
  EXPECT_EQ(regions.find(key, 11, 990).data, nullptr);
  EXPECT_EQ(regions.find(key, ~std::uint64_t{0}, 2).data, nullptr);
  EXPECT_EQ(find_shared(*table, key, ~std::uint64_t{0}, 2).data, nullptr);
  EXPECT_EQ(regions.find(key + 1, 0, 1).data, nullptr);
  EXPECT_EQ(regions.find(0, 0, 1).data, nullptr);
  regions.remove(key);
  EXPECT_EQ(regions.find(key, 0, 1).data, nullptr);
  EXPECT_EQ(find_shared(*table, key, 0, 1).data, nullptr);
  // The place is used again, under another key.
  const std::uint64_t other = regions.add(memory.data(), 5);
  EXPECT_NE(other, key);
  EXPECT_EQ(regions.find(key, 0, 1).data, nullptr);
  regions.remove(key);  // Long gone.
  EXPECT_NE(regions.find(other, 0, 5).data, nullptr);
}

TEST(Regions, AreAsManyAsNeeded) {
  const auto table = std::make_unique<RegionTable>();
  Regions regions(*table);
  std::vector<std::byte> memory(8);
  std::vector<std::uint64_t> keys;
  for (std::size_t i = 0; i < 3 * RegionTable::count; ++i) {
    keys.push_back(regions.add(memory.data(), memory.size()));
  }
  for (const std::uint64_t key : keys) EXPECT_NE(regions.find(key, 0, 8).data, nullptr);
  // Beyond the table no process can see them.
  EXPECT_EQ(find_shared(*table, keys.back(), 0, 8).data, nullptr);
  for (const std::uint64_t key : keys) regions.remove(key);
  for (const std::uint64_t key : keys) EXPECT_EQ(regions.find(key, 0, 8).data, nullptr);
}

}  // namespace
}  // namespace weft::wire
