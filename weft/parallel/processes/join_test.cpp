// SPDX-License-Identifier: Apache-2.0
#include "join.hpp"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <weft/base/test_file.hpp>

namespace weft {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(Join, AloneNeedsNoLibrary) {
  const Result<std::unique_ptr<ProcessGroup>> peers = join_job({}, "/nowhere");
  ASSERT_TRUE(peers);
  EXPECT_EQ((*peers)->self(), 0);
  EXPECT_EQ((*peers)->count(), 1);
  EXPECT_EQ((*peers)->all_reduce_min(7), 7);
}

TEST(Join, SaysWhatIsMissing) {
  const auto open_mpi = join_job({Launch::By::open_mpi, 0, 2}, "/nowhere");
  ASSERT_FALSE(open_mpi);
  EXPECT_THAT(open_mpi.error().text(),
              AllOf(HasSubstr("built without Open MPI"),
                    HasSubstr("/nowhere/weft-processes-openmpi.so"), HasSubstr("libopenmpi-dev")));
  const auto mpich = join_job({Launch::By::mpich, 0, 2}, "/nowhere");
  ASSERT_FALSE(mpich);
  EXPECT_THAT(mpich.error().text(),
              AllOf(HasSubstr("/nowhere/weft-processes-mpich.so"), HasSubstr("libmpich-dev")));
}

// Sanitizers abort on RTLD_DEEPBIND.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST(Join, SaysWhatCannotBeLoaded) {
  const std::filesystem::path file = test_file("weft-processes-mpich.so");
  std::ofstream(file) << "no library\n";
  const auto peers = join_job({Launch::By::mpich, 0, 2}, file.parent_path().string());
  ASSERT_FALSE(peers);
  EXPECT_THAT(peers.error().text(),
              AllOf(HasSubstr("cannot load MPICH"), HasSubstr(file.string())));
}
#endif

}  // namespace
}  // namespace weft
