// SPDX-License-Identifier: Apache-2.0
// Files: opening, pointers, independent accesses, errors.
#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <weft/message/mpi/file_test_support.hpp>

namespace weft::mpi {
namespace {

int open_error(const std::string& path, int mode, MPI_Info info = MPI_INFO_NULL) {
  MPI_File file = MPI_FILE_NULL;
  const int error = MPI_File_open(MPI_COMM_WORLD, path.c_str(), mode, info, &file);
  EXPECT_EQ(file == MPI_FILE_NULL, error != MPI_SUCCESS);
  if (file != MPI_FILE_NULL) closed(file);
  return error;
}

TEST(File, OpensAsItsModeSays) {
  const std::string path = test_file("modes");
  run_jobs(3, [&](int rank) {
    EXPECT_EQ(open_error(path, MPI_MODE_RDONLY), MPI_ERR_NO_SUCH_FILE);
    EXPECT_EQ(open_error(path, MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_WRONLY), MPI_SUCCESS);
    EXPECT_EQ(open_error(path, MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDWR),
              MPI_ERR_FILE_EXISTS);
    EXPECT_EQ(open_error(path, MPI_MODE_RDONLY), MPI_SUCCESS);
    EXPECT_EQ(open_error(path, MPI_MODE_RDONLY | MPI_MODE_RDWR), MPI_ERR_AMODE);
    EXPECT_EQ(open_error(path, MPI_MODE_CREATE), MPI_ERR_AMODE);
    EXPECT_EQ(open_error(path, MPI_MODE_RDONLY | MPI_MODE_CREATE), MPI_ERR_AMODE);
    EXPECT_EQ(open_error(path, MPI_MODE_RDWR | MPI_MODE_SEQUENTIAL), MPI_ERR_AMODE);
    EXPECT_EQ(open_error(path, rank == 1 ? MPI_MODE_RDWR : MPI_MODE_RDONLY), MPI_ERR_NOT_SAME);
    EXPECT_EQ(open_error("", created), MPI_ERR_BAD_FILE);
    EXPECT_EQ(open_error(path + "/below", created), MPI_ERR_BAD_FILE);
    EXPECT_EQ(open_error("/nowhere/at/all", created), MPI_ERR_NO_SUCH_FILE);
    EXPECT_EQ(open_error(path, MPI_MODE_RDONLY | MPI_MODE_DELETE_ON_CLOSE), MPI_SUCCESS);
    EXPECT_FALSE(std::filesystem::exists(path));
  });
}

TEST(File, TellsWhatItIs) {
  const std::string path = test_file("facts");
  run_jobs(3, [&](int rank) {
    MPI_Info info = MPI_INFO_NULL;
    MPI_Info_create(&info);
    MPI_Info_set(info, "cb_nodes", "2");
    MPI_Info_set(info, "cb_buffer_size", "much");
    MPI_Info_set(info, "my_hint", "kept");
    MPI_File file = opened(path, created | MPI_MODE_DELETE_ON_CLOSE, MPI_COMM_WORLD, info);
    MPI_Info_free(&info);
    EXPECT_EQ(MPI_File_get_info(file, &info), MPI_SUCCESS);
    const auto hint = [&](const char* key) {
      std::array<char, 64> value = {};
      int room = value.size(), there = 0;
      MPI_Info_get_string(info, key, &room, value.data(), &there);
      return there != 0 ? std::string(value.data()) : "absent";
    };
    EXPECT_EQ(hint("cb_nodes"), "2");
    EXPECT_EQ(hint("cb_buffer_size"), "16777216");
    EXPECT_EQ(hint("my_hint"), "kept");
    EXPECT_EQ(hint("romio_cb_write"), "automatic");
    MPI_Info_free(&info);
    int mode = 0, flag = -1;
    MPI_Group group = MPI_GROUP_NULL;
    EXPECT_EQ(MPI_File_get_amode(file, &mode), MPI_SUCCESS);
    EXPECT_EQ(mode, created | MPI_MODE_DELETE_ON_CLOSE);
    EXPECT_EQ(MPI_File_get_group(file, &group), MPI_SUCCESS);
    EXPECT_EQ(MPI_Group_size(group, &flag), MPI_SUCCESS);
    EXPECT_EQ(flag, 3);
    MPI_Group_free(&group);
    EXPECT_EQ(MPI_File_get_atomicity(file, &flag), MPI_SUCCESS);
    EXPECT_EQ(flag, 0);
    EXPECT_EQ(MPI_File_set_atomicity(file, rank), MPI_ERR_NOT_SAME);
    EXPECT_EQ(MPI_File_set_atomicity(file, 1), MPI_SUCCESS);
    EXPECT_EQ(MPI_File_get_atomicity(file, &flag), MPI_SUCCESS);
    EXPECT_EQ(flag, 1);
    MPI_Offset size = -1;
    EXPECT_EQ(MPI_File_set_size(file, 1000), MPI_SUCCESS);
    EXPECT_EQ(MPI_File_preallocate(file, 2000), MPI_SUCCESS);
    EXPECT_EQ(MPI_File_preallocate(file, 10), MPI_SUCCESS);  // Makes nothing smaller.
    EXPECT_EQ(MPI_File_get_size(file, &size), MPI_SUCCESS);
    EXPECT_EQ(size, 2000);
    EXPECT_EQ(MPI_File_set_size(file, -1), MPI_ERR_ARG);
    EXPECT_EQ(MPI_File_sync(file), MPI_SUCCESS);
    EXPECT_EQ(MPI_File_fromint(MPI_File_toint(file)), file);
    closed(file);
  });
}

TEST(File, ReadsWhatOthersWrote) {
  const std::string path = test_file("plain");
  run_jobs(3, [&](int rank) {
    MPI_File file = opened(path, created | MPI_MODE_DELETE_ON_CLOSE);
    std::vector<int> mine(100), all(300, -1);
    std::iota(mine.begin(), mine.end(), 1000 * rank);
    MPI_Status status;
    EXPECT_EQ(MPI_File_write_at(file, MPI_Offset{400} * rank, mine.data(), 100, MPI_INT, &status),
              MPI_SUCCESS);
    EXPECT_EQ(count_of(status, MPI_INT), 100);
    EXPECT_EQ(MPI_File_sync(file), MPI_SUCCESS);
    EXPECT_EQ(MPI_File_read_at(file, 0, all.data(), 300, MPI_INT, &status), MPI_SUCCESS);
    EXPECT_EQ(count_of(status, MPI_INT), 300);
    for (int i = 0; i < 300; ++i)
      EXPECT_EQ(all[static_cast<std::size_t>(i)], i / 100 * 1000 + i % 100);
    // Beyond the end there is nothing, and what is there partly is counted.
    EXPECT_EQ(MPI_File_read_at(file, 1100, all.data(), 300, MPI_INT, &status), MPI_SUCCESS);
    EXPECT_EQ(count_of(status, MPI_INT), 25);
    EXPECT_EQ(MPI_File_read_at(file, 5000, all.data(), 300, MPI_INT, &status), MPI_SUCCESS);
    EXPECT_EQ(count_of(status, MPI_INT), 0);
    closed(file);
  });
}

TEST(File, PointersMoveInEtypes) {
  const std::string path = test_file("pointers");
  run_jobs(2, [&](int rank) {
    MPI_File file = opened(path, created | MPI_MODE_DELETE_ON_CLOSE);
    // Every second pair of doubles belongs to this rank, after 16 bytes.
    MPI_Datatype pairs = MPI_DATATYPE_NULL, mine = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(2, MPI_DOUBLE, &pairs);
    MPI_Type_create_resized(pairs, 0, 32, &mine);
    MPI_Type_commit(&mine);
    EXPECT_EQ(MPI_File_set_view(file, 16 + 16 * rank, MPI_DOUBLE, mine, "native", MPI_INFO_NULL),
              MPI_SUCCESS);
    MPI_Offset at = -1;
    std::array<double, 6> out = {}, in = {};
    std::iota(out.begin(), out.end(), 10 * rank);
    MPI_Status status;
    EXPECT_EQ(MPI_File_write(file, out.data(), 5, MPI_DOUBLE, &status), MPI_SUCCESS);
    EXPECT_EQ(MPI_File_get_position(file, &at), MPI_SUCCESS);
    EXPECT_EQ(at, 5);
    EXPECT_EQ(MPI_File_get_byte_offset(file, 3, &at), MPI_SUCCESS);
    EXPECT_EQ(at, 16 + 16 * rank + 32 + 8);
    EXPECT_EQ(MPI_File_seek(file, -4, MPI_SEEK_CUR), MPI_SUCCESS);
    MPI_Request request = MPI_REQUEST_NULL;
    EXPECT_EQ(MPI_File_iread(file, in.data(), 4, MPI_DOUBLE, &request), MPI_SUCCESS);
    EXPECT_EQ(MPI_File_get_position(file, &at), MPI_SUCCESS);
    EXPECT_EQ(at, 5);  // When it starts.
    EXPECT_EQ(MPI_Wait(&request, &status), MPI_SUCCESS);
    EXPECT_EQ(count_of(status, MPI_DOUBLE), 4);
    EXPECT_TRUE(std::equal(in.begin(), in.begin() + 4, out.begin() + 1));
    EXPECT_EQ(MPI_File_sync(file), MPI_SUCCESS);
    // The file ends after rank 1's fifth number.
    EXPECT_EQ(MPI_File_seek(file, 0, MPI_SEEK_END), MPI_SUCCESS);
    EXPECT_EQ(MPI_File_get_position(file, &at), MPI_SUCCESS);
    EXPECT_EQ(at, rank == 0 ? 6 : 5);
    EXPECT_EQ(MPI_File_seek(file, -7, MPI_SEEK_END), MPI_ERR_ARG);
    EXPECT_EQ(MPI_File_seek(file, 0, 77), MPI_ERR_ARG);
    MPI_Datatype etype = MPI_DATATYPE_NULL, filetype = MPI_DATATYPE_NULL;
    std::array<char, MPI_MAX_DATAREP_STRING> name = {};
    EXPECT_EQ(MPI_File_get_view(file, &at, &etype, &filetype, name.data()), MPI_SUCCESS);
    EXPECT_EQ(at, 16 + 16 * rank);
    EXPECT_EQ(etype, MPI_DOUBLE);
    EXPECT_STREQ(name.data(), "native");
    MPI_Type_free(&filetype);
    MPI_Type_free(&mine);
    MPI_Type_free(&pairs);
    closed(file);
  });
}

TEST(File, MemoryWithGapsAndSievedReads) {
  const std::string path = test_file("gaps");
  for (const char* sieve : {"automatic", "enable", "disable"}) {
    run_jobs(2, [&](int rank) {
      MPI_Info info = MPI_INFO_NULL;
      MPI_Info_create(&info);
      MPI_Info_set(info, "romio_ds_read", sieve);
      MPI_Info_set(info, "ind_rd_buffer_size", "100");
      MPI_File file = opened(path, created | MPI_MODE_DELETE_ON_CLOSE, MPI_COMM_SELF, info);
      MPI_Info_free(&info);
      MPI_Datatype memory = MPI_DATATYPE_NULL, shown = MPI_DATATYPE_NULL;
      MPI_Type_vector(10, 1, 2, MPI_INT, &memory);
      MPI_Type_vector(10, 1, 3, MPI_INT, &shown);
      MPI_Type_commit(&memory);
      MPI_Type_commit(&shown);
      EXPECT_EQ(MPI_File_set_view(file, 8, MPI_INT, shown, "native", MPI_INFO_NULL), MPI_SUCCESS);
      std::vector<int> out(40), in(40, -1);
      std::iota(out.begin(), out.end(), 100 * rank);
      EXPECT_EQ(MPI_File_write_at(file, 0, out.data(), 2, memory, MPI_STATUS_IGNORE), MPI_SUCCESS);
      MPI_Status status;
      EXPECT_EQ(MPI_File_read_at(file, 0, in.data(), 2, memory, &status), MPI_SUCCESS);
      EXPECT_EQ(count_of(status, MPI_INT), 20);
      for (std::size_t i = 0; i < 39; ++i) {
        const bool there = (i < 19 && i % 2 == 0) || (i >= 19 && i % 2 == 1);
        EXPECT_EQ(in[i], there ? out[i] : -1) << sieve << i;
      }
      MPI_Type_free(&memory);
      MPI_Type_free(&shown);
      closed(file);
    });
    if (testing::Test::HasFailure()) return;
  }
}

TEST(File, AllShareAPointer) {
  const std::string path = test_file("shared");
  run_jobs(4, [&](int rank) {
    MPI_File file = opened(path, created | MPI_MODE_DELETE_ON_CLOSE);
    EXPECT_EQ(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL), MPI_SUCCESS);
    const int mine[2] = {rank, rank};
    for (int i = 0; i < 5; ++i) {
      EXPECT_EQ(MPI_File_write_shared(file, mine, 2, MPI_INT, MPI_STATUS_IGNORE), MPI_SUCCESS);
    }
    MPI_Request request = MPI_REQUEST_NULL;
    EXPECT_EQ(MPI_File_iwrite_shared(file, mine, 2, MPI_INT, &request), MPI_SUCCESS);
    EXPECT_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
    EXPECT_EQ(MPI_File_sync(file), MPI_SUCCESS);
    MPI_Offset at = -1;
    EXPECT_EQ(MPI_File_get_position_shared(file, &at), MPI_SUCCESS);
    EXPECT_EQ(at, 48);
    std::vector<int> all(48), seen(4);
    EXPECT_EQ(MPI_File_read_at(file, 0, all.data(), 48, MPI_INT, MPI_STATUS_IGNORE), MPI_SUCCESS);
    for (std::size_t i = 0; i < 48; i += 2) {
      EXPECT_EQ(all[i], all[i + 1]);  // Nobody wrote in between.
      ++seen[static_cast<std::size_t>(all[i])];
    }
    EXPECT_EQ(seen, std::vector<int>(4, 6));
    EXPECT_EQ(MPI_File_seek_shared(file, 8, MPI_SEEK_SET), MPI_SUCCESS);
    EXPECT_EQ(MPI_File_write_ordered(file, mine, rank % 2 + 1, MPI_INT, MPI_STATUS_IGNORE),
              MPI_SUCCESS);
    EXPECT_EQ(MPI_File_seek_shared(file, -6, MPI_SEEK_CUR), MPI_SUCCESS);
    int back[2] = {-1, -1};
    EXPECT_EQ(MPI_File_read_ordered_begin(file, back, rank % 2 + 1, MPI_INT), MPI_SUCCESS);
    MPI_Status status;
    EXPECT_EQ(MPI_File_read_ordered_end(file, back, &status), MPI_SUCCESS);
    EXPECT_EQ(count_of(status, MPI_INT), rank % 2 + 1);
    EXPECT_EQ(back[0], rank);
    EXPECT_EQ(back[1], rank % 2 == 1 ? rank : -1);
    closed(file);
  });
}

TEST(File, AppendsAndSequentialFilesHaveOnePointer) {
  const std::string path = test_file("append");
  run_jobs(2, [&](int rank) {
    MPI_File file = opened(path, MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_SEQUENTIAL);
    const char mine[] = {static_cast<char>('a' + rank), 'x'};
    MPI_Offset at = 0;
    EXPECT_EQ(MPI_File_write(file, mine, 2, MPI_CHAR, MPI_STATUS_IGNORE),
              MPI_ERR_UNSUPPORTED_OPERATION);
    EXPECT_EQ(MPI_File_get_position(file, &at), MPI_ERR_UNSUPPORTED_OPERATION);
    EXPECT_EQ(MPI_File_write_ordered(file, mine, 2, MPI_CHAR, MPI_STATUS_IGNORE), MPI_SUCCESS);
    EXPECT_EQ(MPI_File_set_view(file, 0, MPI_CHAR, MPI_CHAR, "native", MPI_INFO_NULL),
              MPI_ERR_DISP);
    EXPECT_EQ(MPI_File_set_view(file, MPI_DISPLACEMENT_CURRENT, MPI_CHAR, MPI_CHAR, "native",
                                MPI_INFO_NULL),
              MPI_SUCCESS);
    EXPECT_EQ(MPI_File_write_ordered(file, mine, 1, MPI_CHAR, MPI_STATUS_IGNORE), MPI_SUCCESS);
    closed(file);
    file = opened(path, MPI_MODE_RDWR | MPI_MODE_APPEND | MPI_MODE_DELETE_ON_CLOSE);
    EXPECT_EQ(MPI_File_get_position(file, &at), MPI_SUCCESS);
    EXPECT_EQ(at, 6);
    EXPECT_EQ(MPI_File_set_view(file, MPI_DISPLACEMENT_CURRENT, MPI_CHAR, MPI_CHAR, "native",
                                MPI_INFO_NULL),
              MPI_ERR_DISP);
    char all[7] = {};
    EXPECT_EQ(MPI_File_read_at(file, 0, all, 6, MPI_CHAR, MPI_STATUS_IGNORE), MPI_SUCCESS);
    EXPECT_STREQ(all, "axbxab");
    closed(file);
  });
}

TEST(File, Representations) {
  const std::string path = test_file("external");
  Job job;
  run_job(job, [&](int) {
    MPI_File file = opened(path, created);
    EXPECT_EQ(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "external32", MPI_INFO_NULL),
              MPI_SUCCESS);
    const int value = 0x01020304;
    int back = 0;
    EXPECT_EQ(MPI_File_write_at_all(file, 0, &value, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_SUCCESS);
    EXPECT_EQ(MPI_File_read_at_all(file, 0, &back, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_SUCCESS);
    EXPECT_EQ(back, value);
    EXPECT_EQ(contents(path), (std::vector<unsigned char>{1, 2, 3, 4}));
    long wide = 0;
    EXPECT_EQ(MPI_File_read_at(file, 0, &wide, 1, MPI_LONG, MPI_STATUS_IGNORE),
              MPI_ERR_UNSUPPORTED_DATAREP);
    EXPECT_EQ(MPI_Register_datarep("mine", MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL, nullptr,
                                   nullptr),
              MPI_SUCCESS);
    EXPECT_EQ(MPI_Register_datarep("mine", MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL, nullptr,
                                   nullptr),
              MPI_ERR_DUP_DATAREP);
    EXPECT_EQ(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "mine", MPI_INFO_NULL), MPI_SUCCESS);
    EXPECT_EQ(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "yours", MPI_INFO_NULL),
              MPI_ERR_UNSUPPORTED_DATAREP);
    closed(file);
  });
}

TEST(File, WrongArgumentsAreRefused) {
  const std::string path = test_file("wrong");
  run_jobs(2, [&](int) {
    MPI_File file = opened(path, MPI_MODE_CREATE | MPI_MODE_WRONLY);
    int value = 7;
    EXPECT_EQ(MPI_File_read(file, &value, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_ACCESS);
    EXPECT_EQ(MPI_File_write(file, &value, -1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_COUNT);
    EXPECT_EQ(MPI_File_write(file, &value, 1, MPI_DATATYPE_NULL, MPI_STATUS_IGNORE), MPI_ERR_TYPE);
    EXPECT_EQ(MPI_File_write(file, nullptr, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_BUFFER);
    EXPECT_EQ(MPI_File_write_at(file, -1, &value, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_ARG);
    EXPECT_EQ(MPI_File_write_at(file, INT64_MAX, &value, 1, MPI_INT, MPI_STATUS_IGNORE),
              MPI_ERR_ARG);
    EXPECT_EQ(MPI_File_write_all_end(file, &value, MPI_STATUS_IGNORE), MPI_ERR_OTHER);
    EXPECT_EQ(MPI_File_write_all_begin(file, &value, 1, MPI_INT), MPI_SUCCESS);
    EXPECT_EQ(MPI_File_write_all_begin(file, &value, 1, MPI_INT), MPI_ERR_OTHER);
    EXPECT_EQ(MPI_File_write_ordered_end(file, &value, MPI_STATUS_IGNORE), MPI_ERR_OTHER);
    EXPECT_EQ(MPI_File_write_all_end(file, &value, MPI_STATUS_IGNORE), MPI_SUCCESS);
    EXPECT_EQ(MPI_File_set_view(file, -5, MPI_INT, MPI_INT, "native", MPI_INFO_NULL), MPI_ERR_DISP);
    EXPECT_EQ(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL), MPI_SUCCESS);
    EXPECT_EQ(MPI_File_write(file, &value, 3, MPI_CHAR, MPI_STATUS_IGNORE), MPI_ERR_IO);
    closed(file);
    EXPECT_EQ(MPI_File_write(file, &value, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_FILE);
    EXPECT_EQ(MPI_File_write(MPI_FILE_NULL, &value, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_FILE);
    file = opened(path, MPI_MODE_RDONLY | MPI_MODE_DELETE_ON_CLOSE);
    EXPECT_EQ(MPI_File_write(file, &value, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_READ_ONLY);
    EXPECT_EQ(MPI_File_set_size(file, 0), MPI_ERR_READ_ONLY);
    closed(file);
    EXPECT_EQ(MPI_File_delete(path.c_str(), MPI_INFO_NULL), MPI_ERR_NO_SUCH_FILE);
  });
}

int told = 0;
void remember(MPI_File*, int* code, ...) {
  told = *code;
}

TEST(File, ErrorsGoToItsHandler) {
  const std::string path = test_file("handler");
  Job job;
  job.ranks = 1;
  run_job(job, [&](int) {
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL, got = MPI_ERRHANDLER_NULL;
    MPI_File_create_errhandler(remember, &handler);
    MPI_File file = opened(path, created | MPI_MODE_DELETE_ON_CLOSE);
    EXPECT_EQ(MPI_File_get_errhandler(file, &got), MPI_SUCCESS);
    EXPECT_EQ(got, MPI_ERRORS_RETURN);
    EXPECT_EQ(MPI_File_set_errhandler(file, handler), MPI_SUCCESS);
    MPI_Errhandler_free(&handler);
    char byte = 0;
    EXPECT_EQ(MPI_File_read(file, &byte, -1, MPI_CHAR, MPI_STATUS_IGNORE), MPI_ERR_COUNT);
    EXPECT_EQ(told, MPI_ERR_COUNT);
    MPI_File_call_errhandler(file, MPI_ERR_IO);
    EXPECT_EQ(told, MPI_ERR_IO);
    closed(file);
  });
}

// A limit of the process stands in for a full disk.
TEST(File, NoSpaceIsAnError) {
  const std::string path = test_file("full");
  rlimit before = {};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small = {4096, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  run_jobs(2, [&](int rank) {
    MPI_File file = opened(path, created | MPI_MODE_DELETE_ON_CLOSE);
    const std::vector<char> data(8192);
    EXPECT_EQ(MPI_File_write_at(file, 0, data.data(), 8192, MPI_CHAR, MPI_STATUS_IGNORE),
              MPI_ERR_NO_SPACE);
    MPI_Request request = MPI_REQUEST_NULL;
    EXPECT_EQ(MPI_File_iwrite_at(file, 0, data.data(), 8192, MPI_CHAR, &request), MPI_SUCCESS);
    EXPECT_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_NO_SPACE);
    // All hear of it, whoever met it.
    EXPECT_EQ(MPI_File_write_at_all(file, MPI_Offset{8000} * rank, data.data(), 10, MPI_CHAR,
                                    MPI_STATUS_IGNORE),
              MPI_ERR_NO_SPACE);
    EXPECT_EQ(MPI_File_set_size(file, 10000), MPI_ERR_NO_SPACE);
    closed(file);
  });
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
}

TEST(File, ForbiddenFoldersAreErrors) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
  const std::string folder = test_file("forbidden");
  std::filesystem::create_directory(folder);
  std::filesystem::permissions(folder, std::filesystem::perms::owner_read);
  run_jobs(2, [&](int) { EXPECT_EQ(open_error(folder + "/file", created), MPI_ERR_ACCESS); });
}

}  // namespace
}  // namespace weft::mpi
