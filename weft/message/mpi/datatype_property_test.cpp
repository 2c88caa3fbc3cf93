// SPDX-License-Identifier: Apache-2.0
// Random datatypes against the type map: a plain list of basic types and displacements, built by
// the standard's definitions, one entry at a time.
#include <algorithm>
#include <cstring>
#include <limits>
#include <map>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include <weft/base/rng.hpp>
#include <weft/base/test_seed.hpp>
#include <weft/message/mpi/datatype.hpp>
#include <weft/message/mpi/include/mpi.h>

namespace weft::mpi {
namespace {

enum class Mark { data, lower, upper };

struct Entry {
  std::int64_t offset;
  std::int64_t size;
  std::int64_t alignment;
  Mark mark = Mark::data;
};

// What the standard calls a type map, with the bounds that it defines for one.
struct TypeMap {
  std::vector<Entry> entries;

  std::int64_t bound(Mark mark, bool least) const {
    bool any = false;
    std::int64_t value = 0;
    for (const Entry& entry : entries) {
      if (entry.mark != mark) continue;
      const std::int64_t at = entry.offset + (least ? 0 : entry.size);
      if (!any || (least ? at < value : at > value)) value = at;
      any = true;
    }
    return value;
  }
  bool has(Mark mark) const {
    return std::any_of(entries.begin(), entries.end(),
                       [mark](const Entry& entry) { return entry.mark == mark; });
  }
  std::int64_t lower() const {
    if (has(Mark::lower)) return bound(Mark::lower, true);
    return bound(Mark::data, true);
  }
  std::int64_t upper() const {
    if (has(Mark::upper)) return bound(Mark::upper, false);
    std::int64_t end = bound(Mark::data, false);
    std::int64_t alignment = 1;
    for (const Entry& entry : entries) alignment = std::max(alignment, entry.alignment);
    if (!has(Mark::data) || end <= lower()) return has(Mark::data) ? end : lower();
    while ((end - lower()) % alignment != 0) ++end;
    return end;
  }
  std::int64_t extent() const { return upper() - lower(); }
  std::int64_t size() const {
    std::int64_t bytes = 0;
    for (const Entry& entry : entries) bytes += entry.size;
    return bytes;
  }
  void add(const TypeMap& other, std::int64_t offset) {
    for (Entry entry : other.entries) {
      entry.offset += offset;
      entries.push_back(entry);
    }
  }
  void add_block(const TypeMap& other, std::int64_t offset, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) add(other, offset + i * other.extent());
  }
};

struct Sample {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  TypeMap map;
  bool derived = false;
};

class RandomTypes {
 public:
  explicit RandomTypes(std::uint64_t seed) : rng_(seed) {}

  std::int64_t below(std::int64_t limit) {
    return static_cast<std::int64_t>(rng_.below(static_cast<std::uint64_t>(limit)));
  }
  int between(int from, int to) { return from + static_cast<int>(below(to - from + 1)); }

  Sample make(int depth) {
    if (depth == 0) return basic();
    Sample sample;
    do {
      Sample old = make(depth - 1);
      sample = derive(old);
      free(old);
      if (sample.map.entries.size() > 600) free(sample);
    } while (!sample.derived);
    return sample;
  }

  static void free(Sample& sample) {
    if (sample.derived) MPI_Type_free(&sample.type);
    sample.derived = false;
  }

 private:
  Sample basic() {
    static const MPI_Datatype pool[] = {MPI_CHAR,      MPI_SHORT,           MPI_INT,     MPI_DOUBLE,
                                        MPI_SHORT_INT, MPI_LONG_DOUBLE_INT, MPI_COMPLEX8};
    Sample sample;
    sample.type = pool[below(std::size(pool))];
    if (sample.type == MPI_SHORT_INT) {
      sample.map.entries = {{0, 2, 2}, {4, 4, 4}};
    } else if (sample.type == MPI_LONG_DOUBLE_INT) {
      sample.map.entries = {{0, 16, 16}, {16, 4, 4}};
    } else {
      int size = 0;
      MPI_Type_size(sample.type, &size);
      const std::int64_t alignment = sample.type == MPI_COMPLEX8 ? 4 : size;
      sample.map.entries = {{0, size, alignment}};
    }
    return sample;
  }

  Sample derive(const Sample& old) {
    switch (below(12)) {
      case 0:
        return contiguous(old);
      case 1:
        return vector(old);
      case 2:
        return hvector(old);
      case 3:
        return indexed(old);
      case 4:
        return hindexed(old);
      case 5:
        return indexed_block(old);
      case 6:
        return hindexed_block(old);
      case 7:
        return structure(old);
      case 8:
        return subarray(old);
      case 9:
        return darray(old);
      case 10:
        return resized(old);
      default:
        return dup(old);
    }
  }

  static Sample made() {
    Sample sample;
    sample.derived = true;
    return sample;
  }

  Sample contiguous(const Sample& old) {
    Sample sample = made();
    const int count = between(0, 4);
    MPI_Type_contiguous(count, old.type, &sample.type);
    sample.map.add_block(old.map, 0, count);
    return sample;
  }

  Sample vector(const Sample& old) {
    Sample sample = made();
    const int count = between(0, 4), length = between(0, 3), stride = between(-4, 6);
    MPI_Type_vector(count, length, stride, old.type, &sample.type);
    for (int i = 0; i < count; ++i) {
      sample.map.add_block(old.map, i * stride * old.map.extent(), length);
    }
    return sample;
  }

  Sample hvector(const Sample& old) {
    Sample sample = made();
    const int count = between(0, 4), length = between(0, 3), stride = between(-40, 60);
    MPI_Type_create_hvector_c(count, length, stride, old.type, &sample.type);
    for (int i = 0; i < count; ++i) sample.map.add_block(old.map, i * stride, length);
    return sample;
  }

  Sample indexed(const Sample& old) {
    Sample sample = made();
    std::vector<int> lengths, offsets;
    for (int i = between(0, 4); i > 0; --i) {
      lengths.push_back(between(0, 3));
      offsets.push_back(between(-5, 9));
      sample.map.add_block(old.map, offsets.back() * old.map.extent(), lengths.back());
    }
    MPI_Type_indexed(static_cast<int>(lengths.size()), lengths.data(), offsets.data(), old.type,
                     &sample.type);
    return sample;
  }

  Sample hindexed(const Sample& old) {
    Sample sample = made();
    std::vector<int> lengths;
    std::vector<MPI_Aint> offsets;
    for (int i = between(0, 4); i > 0; --i) {
      lengths.push_back(between(0, 3));
      offsets.push_back(between(-50, 90));
      sample.map.add_block(old.map, offsets.back(), lengths.back());
    }
    MPI_Type_create_hindexed(static_cast<int>(lengths.size()), lengths.data(), offsets.data(),
                             old.type, &sample.type);
    return sample;
  }

  Sample indexed_block(const Sample& old) {
    Sample sample = made();
    const int length = between(0, 3);
    std::vector<MPI_Count> offsets;
    for (int i = between(0, 4); i > 0; --i) {
      offsets.push_back(between(-5, 9));
      sample.map.add_block(old.map, offsets.back() * old.map.extent(), length);
    }
    MPI_Type_create_indexed_block_c(std::ssize(offsets), length, offsets.data(), old.type,
                                    &sample.type);
    return sample;
  }

  Sample hindexed_block(const Sample& old) {
    Sample sample = made();
    const int length = between(0, 3);
    std::vector<MPI_Aint> offsets;
    for (int i = between(0, 4); i > 0; --i) {
      offsets.push_back(between(-50, 90));
      sample.map.add_block(old.map, offsets.back(), length);
    }
    MPI_Type_create_hindexed_block(static_cast<int>(offsets.size()), length, offsets.data(),
                                   old.type, &sample.type);
    return sample;
  }

  Sample structure(const Sample& old) {
    Sample sample = made();
    Sample others[] = {old, basic(), basic()};
    std::vector<int> lengths;
    std::vector<MPI_Aint> offsets;
    std::vector<MPI_Datatype> types;
    for (int i = between(0, 4); i > 0; --i) {
      const Sample& other = others[below(3)];
      lengths.push_back(between(0, 2));
      offsets.push_back(between(-30, 60));
      types.push_back(other.type);
      sample.map.add_block(other.map, offsets.back(), lengths.back());
    }
    MPI_Type_create_struct(static_cast<int>(lengths.size()), lengths.data(), offsets.data(),
                           types.data(), &sample.type);
    return sample;
  }

  Sample subarray(const Sample& old) {
    Sample sample = made();
    const int dimensions = between(1, 3);
    const bool fortran = below(2) == 0;
    std::vector<int> sizes, parts, starts;
    for (int d = 0; d < dimensions; ++d) {
      sizes.push_back(between(1, 4));
      parts.push_back(between(1, sizes.back()));
      starts.push_back(between(0, sizes.back() - parts.back()));
    }
    MPI_Type_create_subarray(dimensions, sizes.data(), parts.data(), starts.data(),
                             fortran ? MPI_ORDER_FORTRAN : MPI_ORDER_C, old.type, &sample.type);
    for_all_indices(sizes, fortran, [&](const std::vector<int>& at, std::int64_t position) {
      for (std::size_t d = 0; d < at.size(); ++d) {
        if (at[d] < starts[d] || at[d] >= starts[d] + parts[d]) return;
      }
      sample.map.add(old.map, position * old.map.extent());
    });
    return bounded(sample, old, sizes);
  }

  Sample darray(const Sample& old) {
    Sample sample = made();
    const int dimensions = between(1, 3);
    const bool fortran = below(2) == 0;
    std::vector<int> sizes, kinds, arguments, grid;
    int processes = 1;
    for (std::size_t d = 0; d < static_cast<std::size_t>(dimensions); ++d) {
      sizes.push_back(between(1, 7));
      kinds.push_back(between(MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_CYCLIC));
      grid.push_back(kinds[d] == MPI_DISTRIBUTE_NONE ? 1 : between(1, 3));
      const int block = (sizes[d] + grid[d] - 1) / grid[d];
      arguments.push_back(kinds[d] == MPI_DISTRIBUTE_BLOCK ? between(block, block + 2)
                                                           : between(1, 3));
      if (below(3) == 0) arguments[d] = MPI_DISTRIBUTE_DFLT_DARG;
      processes *= grid[d];
    }
    const int rank = between(0, processes - 1);
    MPI_Type_create_darray(processes, rank, dimensions, sizes.data(), kinds.data(),
                           arguments.data(), grid.data(), fortran ? MPI_ORDER_FORTRAN : MPI_ORDER_C,
                           old.type, &sample.type);
    for_all_indices(sizes, fortran, [&](const std::vector<int>& at, std::int64_t position) {
      int owner = 0;
      for (std::size_t d = 0; d < at.size(); ++d) {
        int block = arguments[d];
        int coordinate = 0;
        if (kinds[d] == MPI_DISTRIBUTE_BLOCK) {
          if (block == MPI_DISTRIBUTE_DFLT_DARG) block = (sizes[d] + grid[d] - 1) / grid[d];
          coordinate = at[d] / block;
        } else if (kinds[d] == MPI_DISTRIBUTE_CYCLIC) {
          if (block == MPI_DISTRIBUTE_DFLT_DARG) block = 1;
          coordinate = at[d] / block % grid[d];
        }
        owner = owner * grid[d] + coordinate;
      }
      if (owner == rank) sample.map.add(old.map, position * old.map.extent());
    });
    return bounded(sample, old, sizes);
  }

  // Visits all elements of an array in the order of memory.
  template <typename Visit>
  static void for_all_indices(const std::vector<int>& sizes, bool fortran, Visit visit) {
    std::int64_t all = 1;
    for (const int size : sizes) all *= size;
    std::vector<int> at(sizes.size());
    for (std::int64_t position = 0; position < all; ++position) {
      std::int64_t rest = position;
      for (std::size_t i = 0; i < sizes.size(); ++i) {
        const std::size_t d = fortran ? i : sizes.size() - 1 - i;
        at[d] = static_cast<int>(rest % sizes[d]);
        rest /= sizes[d];
      }
      visit(at, position);
    }
  }

  static void set_bounds(TypeMap& map, std::int64_t lower, std::int64_t upper) {
    std::erase_if(map.entries, [](const Entry& entry) { return entry.mark != Mark::data; });
    map.entries.push_back({lower, 0, 1, Mark::lower});
    map.entries.push_back({upper, 0, 1, Mark::upper});
  }

  static Sample bounded(Sample sample, const Sample& old, const std::vector<int>& sizes) {
    std::int64_t all = old.map.extent();
    for (const int size : sizes) all *= size;
    set_bounds(sample.map, 0, all);
    return sample;
  }

  Sample resized(const Sample& old) {
    Sample sample = made();
    const int lower = between(-20, 20), extent = between(-10, 80);
    MPI_Type_create_resized(old.type, lower, extent, &sample.type);
    sample.map = old.map;
    set_bounds(sample.map, lower, lower + extent);
    return sample;
  }

  static Sample dup(const Sample& old) {
    Sample sample = made();
    MPI_Type_dup(old.type, &sample.type);
    sample.map = old.map;
    return sample;
  }

  Rng rng_;
};

// Memory that holds `count` elements of the map, with margins, and the bytes in packing order.
struct Image {
  std::vector<std::byte> memory;
  std::vector<std::size_t> order;  // Index into memory of each packed byte.
  std::int64_t origin = 0;
};

Image make_image(const TypeMap& map, std::int64_t count) {
  Image image;
  std::int64_t low = 0, high = 1;
  const std::int64_t extent = map.extent();
  for (std::int64_t i = 0; i < count; ++i) {
    for (const Entry& entry : map.entries) {
      low = std::min(low, i * extent + entry.offset);
      high = std::max(high, i * extent + entry.offset + entry.size);
    }
  }
  image.origin = -low;
  image.memory.resize(static_cast<std::size_t>(high - low));
  for (std::int64_t i = 0; i < count; ++i) {
    for (const Entry& entry : map.entries) {
      for (std::int64_t b = 0; b < entry.size; ++b) {
        image.order.push_back(
            static_cast<std::size_t>(image.origin + i * extent + entry.offset + b));
      }
    }
  }
  return image;
}

void expect_bounds(const Datatype& type, const TypeMap& map) {
  EXPECT_EQ(type.size(), map.size());
  EXPECT_EQ(type.lower_bound(), map.lower());
  EXPECT_EQ(type.extent(), map.extent());
  if (!map.has(Mark::data)) return;
  EXPECT_EQ(type.true_lower_bound(), map.bound(Mark::data, true));
  EXPECT_EQ(type.true_extent(), map.bound(Mark::data, false) - map.bound(Mark::data, true));
}

void expect_elements(const Datatype& type, const TypeMap& map) {
  std::map<std::int64_t, std::int64_t> whole;  // Bytes at which an element ends: elements so far.
  std::int64_t bytes = 0, elements = 0;
  whole[0] = 0;
  for (int i = 0; i < 2; ++i) {
    for (const Entry& entry : map.entries) {
      if (entry.mark != Mark::data) continue;
      bytes += entry.size;
      whole[bytes] = ++elements;
      EXPECT_EQ(type.bytes_of(elements), bytes);
    }
  }
  for (std::int64_t n = 0; n <= bytes; ++n) {
    const auto found = whole.find(n);
    const auto got = type.elements_in(n);
    ASSERT_EQ(got.has_value(), found != whole.end()) << n;
    if (got) {
      ASSERT_EQ(*got, found->second);
    }
  }
}

void expect_copies(const Datatype& type, const TypeMap& map, RandomTypes& random) {
  const std::int64_t count = random.between(1, 4);
  Image image = make_image(map, count);
  for (std::byte& byte : image.memory) byte = static_cast<std::byte>(random.below(256));
  const auto total = static_cast<std::int64_t>(image.order.size());
  ASSERT_EQ(total, count * type.size());
  std::byte* base = image.memory.data() + image.origin;
  for (int turn = 0; turn < 8; ++turn) {
    const std::int64_t from = turn == 0 ? 0 : random.below(total + 1);
    const std::int64_t length = turn == 0 ? total : random.below(total - from + 1);
    const std::span<const std::size_t> order =
        std::span(image.order)
            .subspan(static_cast<std::size_t>(from), static_cast<std::size_t>(length));
    std::vector<std::byte> packed(order.size());
    type.pack(base, count, from, packed);
    for (std::size_t i = 0; i < order.size(); ++i) {
      ASSERT_EQ(packed[i], image.memory[order[i]]) << from << "+" << i;
    }
    // Overlapping entries are erroneous for receiving; the later byte wins in both implementations.
    for (std::byte& byte : packed) byte = static_cast<std::byte>(random.below(256));
    std::vector<std::byte> expected = image.memory;
    for (std::size_t i = 0; i < order.size(); ++i) expected[order[i]] = packed[i];
    type.unpack(base, count, from, packed);
    ASSERT_EQ(image.memory, expected);
  }
}

TEST(DatatypeProperty, EqualsTheTypeMap) {
  const std::uint64_t seed = test_seed();
  SCOPED_TRACE(replay_text(seed));
  RandomTypes random(seed);
  for (int round = 0; round < 6000; ++round) {
    SCOPED_TRACE(round);
    Sample sample = random.make(random.between(1, 4));
    const Datatype* type = find_type(sample.type);
    ASSERT_NE(type, nullptr);
    MPI_Type_commit(&sample.type);
    expect_bounds(*type, sample.map);
    expect_elements(*type, sample.map);
    expect_copies(*type, sample.map, random);
    RandomTypes::free(sample);
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace weft::mpi
