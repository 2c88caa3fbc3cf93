// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include <weft/base/test_file.hpp>
#include <weft/output/record/series_file.hpp>

namespace weft {
namespace {

class SeriesTest : public FolderTest {
 protected:
  std::string raw() const { return folder + "/series.raw"; }
  SeriesHeader header() const {
    SeriesHeader header;
    header.links = network.links();
    header.routers = network.routers;
    header.nodes = network.node_router.size();
    header.interval_ps = 10;
    return header;
  }
  SeriesSample sample(std::uint64_t i) const {
    SeriesSample s;
    s.head = {static_cast<std::int64_t>(10 * (i + 1)), 2 * i, 100 * i};
    for (std::uint64_t l = 0; l < network.links(); ++l) s.links.push_back({100 * i + l, i});
    for (std::uint64_t r = 0; r < network.routers; ++r) s.buffers.push_back(1000 * i + r);
    for (std::uint64_t n = 0; n < network.node_router.size(); ++n) {
      s.injected.push_back({10 * i + n, i});
      s.ejected.push_back({20 * i + n, 2 * i});
    }
    return s;
  }

  NetworkFacts network = [] {
    NetworkFacts facts = facts_of(*make_topology("torus:3x2"));
    facts.link_byte_per_s.assign(facts.links(), 1e9);
    facts.router_buffer_bytes.assign(facts.routers, 4096);
    facts.injection_byte_per_s.assign(facts.node_router.size(), 2e9);
    facts.ejection_byte_per_s.assign(facts.node_router.size(), 3e9);
    return facts;
  }();
};

TEST_F(SeriesTest, ComesBackFromHdf5) {
  if (!has_hdf5()) GTEST_SKIP() << "built without HDF5";
  {
    auto writer = SeriesWriter::create(raw(), header());
    ASSERT_TRUE(writer);
    for (std::uint64_t i = 0; i < 3; ++i) ASSERT_TRUE(writer->append(sample(i)));
  }
  ASSERT_TRUE(convert_series(folder, network));
  EXPECT_FALSE(std::filesystem::exists(raw()));
  const auto series = read_series(folder);
  ASSERT_TRUE(series) << series.error().text();
  EXPECT_EQ(series->interval_ps, 10);
  EXPECT_EQ(series->end_ps, (std::vector<std::int64_t>{10, 20, 30}));
  EXPECT_EQ(series->messages, (std::vector<std::uint64_t>{0, 2, 4}));
  EXPECT_EQ(series->network.name, network.name);
  EXPECT_EQ(series->network.radix, (std::vector<std::int32_t>{3, 2}));
  EXPECT_EQ(series->network.link_to, network.link_to);
  EXPECT_EQ(series->network.injection_byte_per_s, network.injection_byte_per_s);
  EXPECT_EQ(series->network.ejection_byte_per_s, network.ejection_byte_per_s);
  std::size_t seen = 0;
  ASSERT_TRUE(read_samples(folder, [&](std::size_t i, const SeriesRow& row) {
    EXPECT_EQ(i, seen++);
    EXPECT_EQ(row.links[5], 100 * i + 5);
    EXPECT_EQ(row.buffers[2], 1000 * i + 2);
    EXPECT_EQ(row.injected[4], 10 * i + 4);
    EXPECT_EQ(row.ejected[3], 20 * i + 3);
  }));
  EXPECT_EQ(seen, 3U);
}

TEST_F(SeriesTest, RefusesWhatIsNoSeries) {
  if (!has_hdf5()) GTEST_SKIP() << "built without HDF5";
  std::ofstream(folder + "/series.h5") << "no such thing";
  const auto series = read_series(folder);
  ASSERT_FALSE(series);
  EXPECT_NE(series.error().text().find("series.h5"), std::string::npos);
}

TEST_F(SeriesTest, HalvingAddsTwoAndTwo) {
  auto writer = SeriesWriter::create(raw(), header());
  ASSERT_TRUE(writer);
  for (std::uint64_t i = 0; i < 4; ++i) ASSERT_TRUE(writer->append(sample(i)));
  ASSERT_TRUE(writer->halve());
  ASSERT_TRUE(writer->append(sample(4)));
  auto reader = SeriesReader::open(raw());
  ASSERT_TRUE(reader);
  EXPECT_EQ(reader->header().interval_ps, 20);
  std::vector<SeriesSample> seen;
  for (SeriesSample s; reader->next(s);) seen.push_back(s);
  ASSERT_EQ(seen.size(), 3U);
  EXPECT_EQ(seen[0].head.end_ps, 20);
  EXPECT_EQ(seen[0].links[3].bytes, 3U + 103U);
  EXPECT_EQ(seen[1].links[3].packets, 2U + 3U);
  EXPECT_EQ(seen[1].buffers[1], 3001U);
  EXPECT_EQ(seen[0].injected[2].bytes, 2U + 12U);
  EXPECT_EQ(seen[1].ejected[5].packets, 4U + 6U);
  EXPECT_EQ(seen[1].head.messages, 6U);
  EXPECT_EQ(seen[2].head.end_ps, 50);
}

TEST_F(SeriesTest, ALiveReaderSeesEachMomentOnce) {
  auto writer = SeriesWriter::create(raw(), header());
  ASSERT_TRUE(writer);
  auto reader = SeriesReader::open(raw());
  ASSERT_TRUE(reader);
  SeriesSample s;
  EXPECT_FALSE(reader->next_after(0, s));
  ASSERT_TRUE(writer->append(sample(0)));
  ASSERT_TRUE(writer->append(sample(1)));
  ASSERT_TRUE(reader->next_after(0, s));
  EXPECT_EQ(s.head.end_ps, 10);
  ASSERT_TRUE(writer->halve());
  ASSERT_TRUE(reader->next_after(10, s));
  EXPECT_EQ(s.head.end_ps, 20);
  EXPECT_EQ(reader->begin_ps(), 0);  // The start of the merged interval.
  EXPECT_EQ(s.links[0].bytes, 100U);
  EXPECT_FALSE(reader->next_after(20, s));
  ASSERT_TRUE(writer->append(sample(3)));
  ASSERT_TRUE(reader->next_after(20, s));
  EXPECT_EQ(s.head.end_ps, 40);
  EXPECT_EQ(reader->begin_ps(), 20);
}

}  // namespace
}  // namespace weft
