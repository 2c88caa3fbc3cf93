// SPDX-License-Identifier: Apache-2.0
// Views against a list of all bytes that they show.
#include "file_view.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <weft/base/rng.hpp>
#include <weft/base/test_seed.hpp>
#include <weft/message/mpi/test_job.hpp>

namespace weft::mpi {
namespace {

std::shared_ptr<const FileView> view_of(const FileView::Wanted& wanted) {
  int error = MPI_SUCCESS;
  std::string detail;
  std::shared_ptr<const FileView> view = FileView::make(wanted, error, detail);
  EXPECT_EQ(view != nullptr, error == MPI_SUCCESS) << detail;
  return view;
}

int error_of(const FileView::Wanted& wanted) {
  int error = MPI_SUCCESS;
  std::string detail;
  EXPECT_EQ(FileView::make(wanted, error, detail), nullptr);
  EXPECT_FALSE(detail.empty());
  return error;
}

// Datatypes belong to a rank.
void run_rank(const std::function<void(int rank)>& body) {
  Job job;
  job.ranks = 1;
  run_job(job, body);
}

// Places of the first bytes, one by one.
std::vector<std::int64_t> places(const FileView& view, std::int64_t count) {
  std::vector<std::int64_t> result;
  for (std::int64_t i = 0; i < count; ++i) result.push_back(view.place(i));
  return result;
}

void expect_consistent(const FileView& view, std::int64_t bytes) {
  const std::vector<std::int64_t> expected = places(view, bytes);
  for (std::int64_t from = 0; from < bytes; from += 3) {
    std::vector<std::int64_t> found;
    for (const FileSegment& segment : view.segments(from, bytes)) {
      EXPECT_EQ(segment.start, from + std::ssize(found));
      for (std::int64_t i = 0; i < segment.size; ++i) found.push_back(segment.offset + i);
    }
    EXPECT_EQ(found, std::vector<std::int64_t>(expected.begin() + from, expected.end()));
  }
  for (std::int64_t i = 0; i + 1 < bytes; ++i) {
    for (std::int64_t at = expected[static_cast<std::size_t>(i)] + 1;
         at <= expected[static_cast<std::size_t>(i) + 1]; ++at) {
      EXPECT_EQ(view.bytes_before(at), i + 1) << at;
    }
  }
}

TEST(FileView, BytesFromADisplacement) {
  run_rank([](int) {
    const auto view = view_of({.displacement = 100});
    EXPECT_TRUE(view->gapless());
    EXPECT_EQ(view->place(7), 107);
    EXPECT_EQ(view->bytes_before(90), 0);
    EXPECT_EQ(view->bytes_before(107), 7);
    expect_consistent(*view, 20);
  });
}

TEST(FileView, RandomTypesShowTheirBytes) {
  run_rank([](int) {
    const std::uint64_t seed = test_seed();
    SCOPED_TRACE(replay_text(seed));
    for (std::uint64_t turn = 0; turn < 200; ++turn) {
      Rng random = Rng(seed).stream("view", turn);
      std::vector<int> lengths, offsets;
      int at = static_cast<int>(random.below(3));
      for (std::uint64_t i = 0; i <= random.below(6); ++i) {
        lengths.push_back(1 + static_cast<int>(random.below(4)));
        offsets.push_back(at);
        at += lengths.back() + static_cast<int>(random.below(4));
      }
      MPI_Datatype blocks = MPI_DATATYPE_NULL, filetype = MPI_DATATYPE_NULL;
      MPI_Type_indexed(static_cast<int>(lengths.size()), lengths.data(), offsets.data(), MPI_SHORT,
                       &blocks);
      MPI_Type_create_resized(blocks, 0, 2 * (at + static_cast<int>(random.below(3))), &filetype);
      MPI_Type_commit(&filetype);
      const auto view = view_of({.displacement = static_cast<std::int64_t>(random.below(50)),
                                 .etype = MPI_SHORT,
                                 .filetype = filetype});
      ASSERT_NE(view, nullptr);
      MPI_Type_free(&blocks);
      MPI_Type_free(&filetype);  // The view keeps it.
      expect_consistent(*view, 5 * view->filetype().size());
    }
  });
}

TEST(FileView, WhatIsNoViewIsRefused) {
  run_rank([](int) {
    MPI_Datatype backwards = MPI_DATATYPE_NULL, flat = MPI_DATATYPE_NULL, open = MPI_DATATYPE_NULL;
    const std::array<int, 2> lengths = {1, 1};
    const std::array<int, 2> offsets = {4, 0};
    MPI_Type_indexed(2, lengths.data(), offsets.data(), MPI_INT, &backwards);
    MPI_Type_commit(&backwards);
    MPI_Type_create_resized(MPI_DOUBLE, 0, 0, &flat);
    MPI_Type_commit(&flat);
    MPI_Type_contiguous(2, MPI_INT, &open);
    EXPECT_EQ(error_of({.filetype = backwards}), MPI_ERR_IO);
    EXPECT_EQ(error_of({.filetype = backwards, .may_overlap = true}), MPI_ERR_IO);
    EXPECT_EQ(error_of({.filetype = flat}), MPI_ERR_IO);
    EXPECT_EQ(error_of({.filetype = open}), MPI_ERR_TYPE);  // Not committed.
    EXPECT_EQ(error_of({.etype = MPI_DATATYPE_NULL}), MPI_ERR_TYPE);
    EXPECT_EQ(error_of({.etype = MPI_INT}), MPI_ERR_ARG);  // A byte is no whole number.
    EXPECT_EQ(error_of({.representation = "words"}), MPI_ERR_UNSUPPORTED_DATAREP);
    EXPECT_EQ(error_of({.etype = MPI_LONG, .filetype = MPI_LONG, .representation = "external32"}),
              MPI_ERR_UNSUPPORTED_DATAREP);
    for (MPI_Datatype* type : {&backwards, &flat, &open}) MPI_Type_free(type);
  });
}

// As HDF5 makes them: of a piece without bounds of its own, and one with bounds, which alone count.
// It accesses no more than one.
TEST(FileView, AnExtentLessThanTheDataMattersFromTheSecondOne) {
  run_rank([](int) {
    MPI_Datatype bounded = MPI_DATATYPE_NULL, type = MPI_DATATYPE_NULL;
    MPI_Type_create_resized(MPI_DOUBLE, 0, 16, &bounded);
    const std::array<int, 2> lengths = {1, 1};
    const std::array<MPI_Aint, 2> offsets = {0, 24};
    const std::array<MPI_Datatype, 2> types = {MPI_DOUBLE, bounded};
    MPI_Type_create_struct(2, lengths.data(), offsets.data(), types.data(), &type);
    MPI_Type_commit(&type);
    MPI_Aint low = 0, extent = 0;
    MPI_Type_get_extent(type, &low, &extent);
    EXPECT_EQ(low, 24);
    EXPECT_EQ(extent, 16);
    const auto view = view_of({.displacement = 100, .filetype = type});
    ASSERT_NE(view, nullptr);
    EXPECT_FALSE(view->overlaps(0, 16));
    EXPECT_TRUE(view->overlaps(8, 24));
    const auto segments = view->segments(0, 16);
    ASSERT_EQ(segments.size(), 2u);
    EXPECT_EQ(segments[0].offset, 100);
    EXPECT_EQ(segments[1].offset, 124);
    MPI_Type_free(&bounded);
    MPI_Type_free(&type);
  });
}

TEST(FileView, AnEmptyOneShowsNothing) {
  run_rank([](int) {
    MPI_Datatype none = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(0, MPI_INT, &none);
    MPI_Type_commit(&none);
    const auto view = view_of({.etype = MPI_INT, .filetype = none});
    EXPECT_TRUE(view->empty());
    EXPECT_EQ(view->bytes_before(100), 0);
    EXPECT_TRUE(view->segments(0, 0).empty());
    MPI_Type_free(&none);
  });
}

}  // namespace
}  // namespace weft::mpi
