// SPDX-License-Identifier: Apache-2.0
// The cache against a system that keeps its own books: thousands of random ranges, with memory that
// is given back at random moments.
#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include <weft/base/rng.hpp>
#include <weft/real/wire/registration_cache.hpp>

namespace weft::wire {
namespace {

constexpr std::size_t page = 4096;
constexpr std::size_t pages = 256;

std::byte* address(std::size_t offset) {
  return reinterpret_cast<std::byte*>(std::uintptr_t{0x10000000} + offset);
}

// A system: each page has a generation, which changes when the program gives it back. A
// registration leads to the pages as they were when it was made.
class System final : public Registrar {
 public:
  bool open(Registration& registration) override {
    if (count_ >= refuse_at) return false;
    registration.handle = reinterpret_cast<void*>(++last_);
    registration.key = last_;
    registration.base = 0;
    auto& made = opened[last_];
    made = {registration.data, registration.size, {}};
    for (std::size_t p = first_page(registration.data);
         p < end_page(registration.data, registration.size); ++p) {
      made.generations.push_back(generations[p]);
    }
    ++count_;
    return true;
  }
  void close(const Registration& registration) override {
    ASSERT_EQ(opened.erase(reinterpret_cast<std::uint64_t>(registration.handle)), 1u);
    --count_;
  }
  // Leads to what the program has there now?
  bool leads(const Registration& to, const std::byte* data, std::size_t size) const {
    const auto found = opened.find(reinterpret_cast<std::uint64_t>(to.handle));
    if (found == opened.end()) return false;
    const Made& made = found->second;
    if (data < made.data || data + size > made.data + made.size) return false;
    const std::size_t first = first_page(made.data);
    for (std::size_t p = first_page(data); p < end_page(data, size); ++p) {
      if (made.generations[p - first] != generations[p]) return false;
    }
    return true;
  }
  std::size_t bytes() const {
    std::size_t sum = 0;
    for (const auto& [name, made] : opened) sum += made.size;
    return sum;
  }
  static std::size_t first_page(const std::byte* data) {
    return static_cast<std::size_t>(data - address(0)) / page;
  }
  static std::size_t end_page(const std::byte* data, std::size_t size) {
    return (static_cast<std::size_t>(data - address(0)) + size + page - 1) / page;
  }

  struct Made {
    const std::byte* data = nullptr;
    std::size_t size = 0;
    std::vector<std::uint32_t> generations;
  };
  std::map<std::uint64_t, Made> opened;
  std::array<std::uint32_t, pages> generations = {};
  std::size_t refuse_at = SIZE_MAX;

 private:
  std::uint64_t last_ = 0;
  std::size_t count_ = 0;
};

TEST(RegistrationCache, FindsWhatItCovers) {
  System system;
  RegistrationCache cache(system, {});
  const Registration* const whole = cache.get(address(0), 10 * page, true);
  const Registration* const part = cache.get(address(page + 5), 3 * page, true);
  EXPECT_EQ(whole, part);
  EXPECT_EQ(cache.use().hits, 1u);
  cache.release(whole);
  cache.release(part);
  EXPECT_EQ(system.opened.size(), 1u);
  EXPECT_EQ(cache.get(address(0), 1, true), whole);
  cache.release(whole);
}

TEST(RegistrationCache, OverlappingBecomeOne) {
  System system;
  RegistrationCache cache(system, {});
  const Registration* const a = cache.get(address(0), 2 * page, true);
  const Registration* const b = cache.get(address(page), 3 * page, true);
  EXPECT_NE(a, b);
  EXPECT_EQ(b->data, address(0));
  EXPECT_EQ(b->size, 4 * page);
  EXPECT_TRUE(system.leads(*a, address(0), 2 * page)) << "somebody uses it";
  cache.release(a);
  EXPECT_EQ(system.opened.size(), 1u);
  cache.release(b);
}

TEST(RegistrationCache, TheLongestIdleGoesFirst) {
  System system;
  RegistrationCache cache(system, {.bytes = 4 * page, .count = 100});
  for (const std::size_t at : {0u, 2u, 4u})
    cache.release(cache.get(address(at * page), page, true));
  const Registration* const used = cache.get(address(0), page, true);
  cache.release(cache.get(address(6 * page), 2 * page, true));
  EXPECT_EQ(cache.use().evictions, 1u);
  EXPECT_TRUE(system.leads(*used, address(0), page));
  const auto misses = cache.use().misses;
  cache.release(cache.get(address(4 * page), page, true));
  EXPECT_EQ(cache.use().misses, misses);
  cache.release(cache.get(address(2 * page), page, true));
  EXPECT_EQ(cache.use().misses, misses + 1);
  cache.release(used);
}

TEST(RegistrationCache, NothingUnknownStays) {
  System system;
  RegistrationCache cache(system, {});
  cache.release(cache.get(address(100), page, false));
  EXPECT_TRUE(system.opened.empty());
}

TEST(RegistrationCache, MakesRoomWhenTheSystemRefuses) {
  System system;
  system.refuse_at = 3;
  RegistrationCache cache(system, {});
  for (const std::size_t at : {0u, 2u, 4u, 6u}) {
    const Registration* const made = cache.get(address(at * page), page, true);
    ASSERT_NE(made, nullptr);
    cache.release(made);
  }
  system.refuse_at = 0;
  EXPECT_EQ(cache.get(address(10 * page), page, true), nullptr);
  EXPECT_EQ(cache.use().count, 0u);
}

TEST(RegistrationCache, SpoiledIsClosedAtOnceAndFoundNoMore) {
  System system;
  RegistrationCache cache(system, {});
  const Registration* const a = cache.get(address(0), page, true);
  cache.spoil(a);
  EXPECT_TRUE(system.opened.empty());
  EXPECT_FALSE(a->open);
  const Registration* const b = cache.get(address(0), page, true);
  EXPECT_NE(a, b);
  EXPECT_TRUE(b->open);
  cache.release(a);
  cache.release(b);
  cache.spoil_all();
  EXPECT_TRUE(system.opened.empty());
  EXPECT_EQ(cache.use().bytes, 0u);
}

struct Use {
  const Registration* registration;
  std::byte* data;
  std::size_t size;
};

bool in_use(const std::deque<Use>& uses, const std::byte* begin, const std::byte* end) {
  return std::any_of(uses.begin(), uses.end(),
                     [&](const Use& use) { return use.data < end && begin < use.data + use.size; });
}

// A program, of whose memory the upper half is unknown: its release is not reported.
class Program {
 public:
  explicit Program(std::uint64_t seed)
      : rng_(seed),
        limits_{.bytes = (20 + rng_.below(100)) * page, .count = 2 + rng_.below(30)},
        cache_(system_, limits_) {}

  void step() {
    const std::size_t begin = rng_.below(pages * page - 1);
    const std::size_t size = 1 + rng_.below(std::min(pages * page - begin, 30 * page));
    const std::uint64_t what = rng_.below(10);
    if (what < 4 && uses_.size() < 12) {
      use(address(begin), size);
    } else if (what < 5 && !uses_.empty()) {
      const Use same = uses_[rng_.below(uses_.size())];
      use(same.data, same.size);
    } else if (what < 8 && !uses_.empty()) {
      end(rng_.below(uses_.size()));
    } else {
      give_back(address(begin / page * page), address((begin + size + page - 1) / page * page));
    }
    ASSERT_EQ(cache_.use().bytes, system_.bytes());
    ASSERT_EQ(cache_.use().count, system_.opened.size());
    ASSERT_TRUE(!uses_.empty() || cache_.use().bytes <= limits_.bytes);
  }
  void leave() {
    while (!uses_.empty()) end(0);
    ASSERT_LE(cache_.use().count, limits_.count);
    ASSERT_LE(cache_.use().bytes, limits_.bytes);
    cache_.spoil_all();
    ASSERT_TRUE(system_.opened.empty());
  }
  const RegistrationCache::Use& seen() const { return cache_.use(); }

 private:
  void use(std::byte* data, std::size_t size) {
    const bool keep = data + size <= address(known) && rng_.below(5) != 0;
    const Registration* const got = cache_.get(data, size, keep);
    ASSERT_NE(got, nullptr);
    ASSERT_TRUE(system_.leads(*got, data, size));
    uses_.push_back({got, data, size});
  }
  void end(std::size_t which) {
    const Use use = uses_[which];
    ASSERT_TRUE(system_.leads(*use.registration, use.data, use.size));
    cache_.release(use.registration);
    uses_.erase(uses_.begin() + static_cast<std::ptrdiff_t>(which));
  }
  // Not what is in a message; all else, at any time.
  void give_back(const std::byte* first, const std::byte* last) {
    if (in_use(uses_, first, last)) return;
    const std::byte* const told = std::min<const std::byte*>(last, address(known));
    if (first < told) cache_.forget(first, told);
    for (std::size_t p = System::first_page(first); p < System::first_page(last); ++p) {
      ++system_.generations[p];
    }
  }

  static constexpr std::size_t known = pages / 2 * page;
  Rng rng_;
  System system_;
  RegistrationCache::Limits limits_;
  RegistrationCache cache_;
  std::deque<Use> uses_;
};

TEST(RegistrationCache, NeverLeadsToMemoryThatWasGivenBack) {
  std::uint64_t hits = 0;
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE("WEFT_SEED=" + std::to_string(seed));
    Program program(seed);
    for (int step = 0; step < 3000 && !testing::Test::HasFatalFailure(); ++step) program.step();
    if (testing::Test::HasFatalFailure()) return;
    program.leave();
    hits += program.seen().hits;
  }
  EXPECT_GT(hits, 1000u);
}

TEST(RegistrationCache, UnknownMemoryIsSharedWhileItIsInUse) {
  System system;
  RegistrationCache cache(system, {});
  const Registration* const first = cache.get(address(100), 3 * page, false);
  EXPECT_EQ(cache.get(address(100), 3 * page, false), first);
  const Registration* const part = cache.get(address(200), page, false);
  EXPECT_NE(part, first) << "the rest may be given back while only this part is in use";
  cache.release(first);
  EXPECT_EQ(system.opened.size(), 2u);
  cache.release(first);
  cache.release(part);
  EXPECT_TRUE(system.opened.empty());
}

}  // namespace
}  // namespace weft::wire
