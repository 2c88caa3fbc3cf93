// SPDX-License-Identifier: Apache-2.0
// For tests of files only: their contents, as the system sees them.
#pragma once

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <weft/base/test_file.hpp>
#include <weft/message/mpi/test_job.hpp>

namespace weft::mpi {

inline std::vector<unsigned char> contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

inline void fill(const std::string& path, const std::vector<unsigned char>& bytes) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
}

inline MPI_File opened(const std::string& path, int mode, MPI_Comm comm = MPI_COMM_WORLD,
                       MPI_Info info = MPI_INFO_NULL) {
  MPI_File file = MPI_FILE_NULL;
  EXPECT_EQ(MPI_File_open(comm, path.c_str(), mode, info, &file), MPI_SUCCESS) << path;
  return file;
}
inline void closed(MPI_File file) {
  EXPECT_EQ(MPI_File_close(&file), MPI_SUCCESS);
  EXPECT_EQ(file, MPI_FILE_NULL);
}

inline int count_of(const MPI_Status& status, MPI_Datatype type) {
  int count = -1;
  MPI_Get_count(&status, type, &count);
  return count;
}

constexpr int created = MPI_MODE_CREATE | MPI_MODE_RDWR;

}  // namespace weft::mpi
