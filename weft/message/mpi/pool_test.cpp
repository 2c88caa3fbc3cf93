// SPDX-License-Identifier: Apache-2.0
#include "pool.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace weft::mpi {
namespace {

TEST(Pool, FindsWhatLivesAndNothingElse) {
  Pool<std::string> pool;
  EXPECT_EQ(pool.find(nullptr), nullptr);
  std::vector<std::string*> made;
  for (int i = 0; i < 100; ++i) made.push_back(pool.make(std::to_string(i)));
  for (int i = 0; i < 100; ++i) {
    std::string* object = made[static_cast<std::size_t>(i)];
    EXPECT_EQ(pool.find(object), object);
    EXPECT_EQ(*object, std::to_string(i));
    EXPECT_EQ(pool.find(reinterpret_cast<char*>(object) + 1), nullptr);
    EXPECT_EQ(pool.numbered(pool.number(object)), object);
    EXPECT_GE(pool.number(object), 4096);
  }
  pool.free(made[40]);
  EXPECT_EQ(pool.find(made[40]), nullptr);
  EXPECT_EQ(pool.alive(), 99U);
  int other = 0;
  EXPECT_EQ(pool.find(&other), nullptr);
  EXPECT_EQ(pool.find(reinterpret_cast<void*>(0x180)), nullptr);
  EXPECT_EQ(pool.numbered(-1), nullptr);
  EXPECT_EQ(pool.numbered(4096 + 5000), nullptr);
}

TEST(Pool, ThatIsRareIsMadeWhenItIsUsed) {
  RarePool<std::string> pool, other;
  EXPECT_EQ(pool.find(&pool), nullptr);
  EXPECT_EQ(pool.numbered(4096), nullptr);
  EXPECT_EQ(pool.alive(), 0U);
  std::string* const made = pool.make("a");
  EXPECT_EQ(pool.find(made), made);
  EXPECT_EQ(pool.numbered(pool.number(made)), made);
  other.swap(pool);
  EXPECT_EQ(pool.find(made), nullptr);
  EXPECT_EQ(other.find(made), made);
  other.free(made);
  EXPECT_EQ(other.alive(), 0U);
}

TEST(Pool, ReusesPlaces) {
  Pool<std::string> pool;
  std::string* first = pool.make("a");
  pool.free(first);
  EXPECT_EQ(pool.make("b"), first);
  int count = 0;
  pool.for_each([&](const std::string& text) {
    EXPECT_EQ(text, "b");
    ++count;
  });
  EXPECT_EQ(count, 1);
}

}  // namespace
}  // namespace weft::mpi
