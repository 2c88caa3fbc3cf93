// SPDX-License-Identifier: Apache-2.0
// Collective accesses against what each rank's view says byte by byte.
#include <array>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <weft/base/rng.hpp>
#include <weft/base/test_seed.hpp>
#include <weft/message/mpi/file_test_support.hpp>

namespace weft::mpi {
namespace {

constexpr int ranks = 5;

MPI_Info hints(const std::vector<std::pair<std::string, std::string>>& pairs) {
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  for (const auto& [key, value] : pairs) MPI_Info_set(info, key.c_str(), value.c_str());
  return info;
}

// A file cut into cells at random; each belongs to a rank or to nobody.
struct Cells {
  std::vector<int> owner, lengths, offsets;
  int size = 0;

  Cells(std::uint64_t seed, std::uint64_t turn) {
    Rng random = Rng(seed).stream("cells", turn);
    for (std::uint64_t i = 0; i < 40; ++i) {
      owner.push_back(static_cast<int>(random.below(ranks + 1)));
      lengths.push_back(1 + static_cast<int>(random.below(50)));
      offsets.push_back(size);
      size += lengths.back();
    }
  }
  MPI_Datatype type_of(int rank) const {
    std::vector<int> of_rank, at;
    for (std::size_t i = 0; i < owner.size(); ++i) {
      if (owner[i] != rank) continue;
      of_rank.push_back(lengths[i]);
      at.push_back(offsets[i]);
    }
    MPI_Datatype cells = MPI_DATATYPE_NULL, whole = MPI_DATATYPE_NULL;
    MPI_Type_indexed(static_cast<int>(at.size()), of_rank.data(), at.data(), MPI_BYTE, &cells);
    MPI_Type_create_resized(cells, 0, size, &whole);
    MPI_Type_commit(&whole);
    MPI_Type_free(&cells);
    return whole;
  }
};

unsigned char byte_of(int rank, std::int64_t index) {
  return static_cast<unsigned char>(rank * 41 + index * 7 + 1);
}

void write_and_read_cells(const std::string& path, const Cells& cells, int rank, MPI_Info info) {
  MPI_Datatype type = cells.type_of(rank);
  int each = 0;
  MPI_Type_size(type, &each);
  constexpr int copies = 3;
  std::vector<unsigned char> out(static_cast<std::size_t>(copies * each)), in(out.size());
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = byte_of(rank, static_cast<int>(i));
  MPI_File file = opened(path, created, MPI_COMM_WORLD, info);
  EXPECT_EQ(MPI_File_set_view(file, 10, MPI_BYTE, type, "native", MPI_INFO_NULL), MPI_SUCCESS);
  MPI_Status status;
  const int count = static_cast<int>(out.size());
  EXPECT_EQ(MPI_File_write_all(file, out.data(), count, MPI_BYTE, &status), MPI_SUCCESS);
  EXPECT_EQ(count_of(status, MPI_BYTE), count);
  EXPECT_EQ(MPI_File_read_at_all(file, 0, in.data(), count, MPI_BYTE, &status), MPI_SUCCESS);
  EXPECT_EQ(count_of(status, MPI_BYTE), count);
  EXPECT_EQ(in, out);
  in.assign(in.size(), 0);
  MPI_Request request = MPI_REQUEST_NULL;
  EXPECT_EQ(MPI_File_iread_at_all(file, 0, in.data(), count, MPI_BYTE, &request), MPI_SUCCESS);
  EXPECT_EQ(MPI_Wait(&request, &status), MPI_SUCCESS);
  EXPECT_EQ(count_of(status, MPI_BYTE), count);
  EXPECT_EQ(in, out);
  MPI_Type_free(&type);
  closed(file);
}

TEST(FileCollective, RandomCells) {
  const std::uint64_t seed = test_seed();
  SCOPED_TRACE(replay_text(seed));
  const std::string path = test_file("cells");
  for (std::uint64_t turn = 0; turn < 12; ++turn) {
    const Cells cells(seed, turn);
    fill(path, {});
    Job job;
    job.ranks = ranks;
    job.seed = turn + 1;
    job.ordered = turn % 2 == 0;
    job.carries_data = turn % 3 != 0;  // Data of files is carried in any case.
    run_job(job, [&](int rank) {
      const char* const nodes[] = {"1", "2", "5"};
      MPI_Info info = hints({{"cb_nodes", nodes[turn % 3]},
                             {"cb_buffer_size", turn % 2 == 0 ? "100" : "100000"},
                             {"striping_unit", turn % 4 < 2 ? "64" : "4096"},
                             {"romio_cb_write", turn % 5 == 4 ? "disable" : "automatic"}});
      write_and_read_cells(path, cells, rank, info);
      MPI_Info_free(&info);
    });
    const std::vector<unsigned char> found = contents(path);
    std::vector<std::int64_t> next(ranks);
    for (int copy = 0; copy < 3; ++copy) {
      for (std::size_t i = 0; i < cells.owner.size(); ++i) {
        for (int k = 0; k < cells.lengths[i]; ++k) {
          const auto at = static_cast<std::size_t>(10 + copy * cells.size + cells.offsets[i] + k);
          const int rank = cells.owner[i];
          const unsigned char value = at < found.size() ? found[at] : 0;
          const unsigned char expected =
              rank < ranks ? byte_of(rank, next[static_cast<std::size_t>(rank)]++) : 0;
          ASSERT_EQ(value, expected) << "turn " << turn << ", byte " << at;
        }
      }
    }
  }
}

TEST(FileCollective, TheEndOfTheFileIsTold) {
  const std::string path = test_file("end");
  std::vector<unsigned char> bytes(100);
  std::iota(bytes.begin(), bytes.end(), 0);
  fill(path, bytes);
  for (const char* choice : {"enable", "disable"}) {
    run_jobs(3, [&](int rank) {
      MPI_Info info = hints({{"romio_cb_read", choice}, {"cb_buffer_size", "32"}});
      MPI_File file = opened(path, MPI_MODE_RDONLY, MPI_COMM_WORLD, info);
      MPI_Datatype third = MPI_DATATYPE_NULL;
      MPI_Type_create_resized(MPI_BYTE, 0, 3, &third);
      MPI_Type_commit(&third);
      MPI_File_set_view(file, rank, MPI_BYTE, third, "native", MPI_INFO_NULL);
      std::vector<unsigned char> in(50, 255);
      MPI_Status status;
      EXPECT_EQ(MPI_File_read_all(file, in.data(), 50, MPI_BYTE, &status), MPI_SUCCESS);
      EXPECT_EQ(count_of(status, MPI_BYTE), rank == 0 ? 34 : 33);
      for (int i = 0; i < 50; ++i) {
        EXPECT_EQ(in[static_cast<std::size_t>(i)], 3 * i + rank < 100 ? 3 * i + rank : 255);
      }
      // All together beyond the end.
      EXPECT_EQ(MPI_File_read_at_all(file, 500, in.data(), 50, MPI_BYTE, &status), MPI_SUCCESS);
      EXPECT_EQ(count_of(status, MPI_BYTE), 0);
      MPI_Type_free(&third);
      MPI_Info_free(&info);
      closed(file);
    });
  }
}

TEST(FileCollective, RanksWithoutDataTakePart) {
  const std::string path = test_file("some");
  run_jobs(4, [&](int rank) {
    MPI_File file = opened(path, created | MPI_MODE_DELETE_ON_CLOSE);
    const int value = 10 + rank;
    int back[4] = {};
    EXPECT_EQ(MPI_File_write_at_all(file, 4 * rank, &value, rank % 2, MPI_INT, MPI_STATUS_IGNORE),
              MPI_SUCCESS);
    EXPECT_EQ(MPI_File_read_at_all(file, 0, back, rank == 2 ? 4 : 0, MPI_INT, MPI_STATUS_IGNORE),
              MPI_SUCCESS);
    if (rank == 2) {
      EXPECT_EQ(back[1], 11);
      EXPECT_EQ(back[3], 13);
    }
    EXPECT_EQ(MPI_File_write_all(file, nullptr, 0, MPI_INT, MPI_STATUS_IGNORE), MPI_SUCCESS);
    closed(file);
  });
}

TEST(FileCollective, SeveralAtOnceAndSplit) {
  const std::string path = test_file("several");
  run_jobs(3, [&](int rank) {
    MPI_Info info = hints({{"romio_cb_write", "enable"}, {"cb_buffer_size", "64"}});
    MPI_File file = opened(path, created | MPI_MODE_DELETE_ON_CLOSE, MPI_COMM_WORLD, info);
    MPI_Info_free(&info);
    std::array<std::vector<int>, 3> out;
    std::array<MPI_Request, 3> requests;
    for (std::size_t k = 0; k < 3; ++k) {
      out[k].assign(50, static_cast<int>(10 * k) + rank);
      const auto at = static_cast<MPI_Offset>(600 * k + 200 * static_cast<std::size_t>(rank));
      EXPECT_EQ(MPI_File_iwrite_at_all(file, at, out[k].data(), 50, MPI_INT, &requests[k]),
                MPI_SUCCESS);
    }
    EXPECT_EQ(MPI_Waitall(3, requests.data(), MPI_STATUSES_IGNORE), MPI_SUCCESS);
    std::vector<int> in(450);
    EXPECT_EQ(MPI_File_read_at_all_begin(file, 0, in.data(), 450, MPI_INT), MPI_SUCCESS);
    EXPECT_EQ(MPI_File_close(&file), MPI_ERR_OTHER);
    MPI_Status status;
    EXPECT_EQ(MPI_File_read_at_all_end(file, in.data(), &status), MPI_SUCCESS);
    EXPECT_EQ(count_of(status, MPI_INT), 450);
    for (std::size_t i = 0; i < 450; ++i) {
      EXPECT_EQ(in[i], static_cast<int>(10 * (i / 150) + i % 150 / 50));
    }
    closed(file);
  });
}

// Whole writes, one after the other: no reader sees halves of two.
TEST(FileCollective, AtomicAccesses) {
  const std::string path = test_file("atomic");
  run_jobs(4, [&](int rank) {
    MPI_File file = opened(path, created | MPI_MODE_DELETE_ON_CLOSE);
    EXPECT_EQ(MPI_File_set_atomicity(file, 1), MPI_SUCCESS);
    MPI_Datatype gaps = MPI_DATATYPE_NULL;
    MPI_Type_vector(20, 1, 2, MPI_INT, &gaps);
    MPI_Type_commit(&gaps);
    MPI_File_set_view(file, 0, MPI_INT, gaps, "native", MPI_INFO_NULL);
    const std::vector<int> mine(20, rank + 1);
    std::vector<int> in(20);
    for (int i = 0; i < 5; ++i) {
      EXPECT_EQ(MPI_File_write_at(file, 0, mine.data(), 20, MPI_INT, MPI_STATUS_IGNORE),
                MPI_SUCCESS);
      EXPECT_EQ(MPI_File_read_at(file, 0, in.data(), 20, MPI_INT, MPI_STATUS_IGNORE), MPI_SUCCESS);
      EXPECT_EQ(in, std::vector<int>(20, in[0]));
      EXPECT_EQ(MPI_File_write_at_all(file, 0, mine.data(), 20, MPI_INT, MPI_STATUS_IGNORE),
                MPI_SUCCESS);
    }
    MPI_Type_free(&gaps);
    closed(file);
  });
}

}  // namespace
}  // namespace weft::mpi
