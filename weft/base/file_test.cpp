// SPDX-License-Identifier: Apache-2.0
#include "weft/base/file.hpp"

#include <filesystem>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <weft/base/test_file.hpp>

namespace weft {
namespace {

namespace fs = std::filesystem;

class FileTest : public FolderTest {
 protected:
  std::string path(const std::string& name) const { return folder + "/" + name; }
  std::size_t file_count() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
  }
};

TEST_F(FileTest, ReadsWhatItWrote) {
  std::string contents = {'a', '\0', '\n'};
  contents += std::string(200'000, 'x');
  ASSERT_TRUE(write_file(path("a"), contents));
  EXPECT_EQ(*read_file(path("a")), contents);
  ASSERT_TRUE(write_file(path("a"), ""));
  EXPECT_EQ(*read_file(path("a")), "");
  EXPECT_EQ(file_count(), 1u);
}

TEST_F(FileTest, KeepsModeAndLink) {
  ASSERT_TRUE(write_file(path("script"), "one"));
  ASSERT_EQ(::chmod(path("script").c_str(), 0750), 0);
  fs::create_symlink("script", path("link"));
  ASSERT_TRUE(write_file(path("link"), "two"));
  EXPECT_EQ(*read_file(path("script")), "two");
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(fs::status(path("script")).permissions(), static_cast<fs::perms>(0750));
}

TEST_F(FileTest, SaysWhyItCannotWrite) {
  const std::string missing = path("none/a");
  EXPECT_EQ(write_file(missing, "x").error().text(),
            "cannot write '" + missing + "': No such file or directory");
  EXPECT_EQ(write_file(path(""), "x").error().text(),
            "cannot write '" + path("") + "': Is a directory");
  EXPECT_FALSE(write_file("", "x"));
  EXPECT_EQ(file_count(), 0u);
}

TEST_F(FileTest, NamesAFileThatMayBeMeant) {
  for (const char* name : {"torus.toml", "a.toml", "fattree.toml", "notes.txt"})
    ASSERT_TRUE(write_file(path(name), "x"));
  const auto message = [&](const std::string& name) {
    const std::string text = read_file(path(name)).error().text();
    const std::string begin = "cannot read '" + path(name) + "': No such file or directory";
    EXPECT_TRUE(text.starts_with(begin)) << text;
    return text.substr(begin.size());
  };
  EXPECT_EQ(message("torus.tml"), "; did you mean '" + path("torus.toml") + "'?");
  EXPECT_EQ(message("tours.toml"), "; did you mean '" + path("torus.toml") + "'?");
  EXPECT_EQ(message("fat.toml"), "; did you mean '" + path("fattree.toml") + "'?");
  EXPECT_EQ(message("b.toml"), "");
  EXPECT_EQ(message("torus.map"), "");
  EXPECT_EQ(message("none/torus.toml"), "");
}

TEST_F(FileTest, ReportsAFullDisk) {
  const Status status = write_file("/dev/full", "x");
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().text(), "cannot write '/dev/full': No space left on device");
  EXPECT_EQ(status.error().broken(), Broken::run);
  EXPECT_TRUE(write_file("/dev/null", "x"));
}

TEST_F(FileTest, WritesIntoAPipe) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  const int reader = ::open(path("pipe").c_str(), O_RDWR);  // So that the writer does not block.
  ASSERT_GE(reader, 0);
  ASSERT_TRUE(write_file(path("pipe"), "hello"));
  char text[8] = {};
  EXPECT_EQ(::read(reader, text, sizeof text), 5);
  EXPECT_STREQ(text, "hello");
  ::close(reader);
}

TEST_F(FileTest, SaysWhyItCannotRead) {
  EXPECT_EQ(read_file(path("a")).error().text(),
            "cannot read '" + path("a") + "': No such file or directory");
  EXPECT_EQ(read_file("/").error().text(), "cannot read '/': Is a directory");
  ASSERT_TRUE(write_file(path("big"), ""));
  fs::resize_file(path("big"), (std::uintmax_t{1} << 30) + 1);  // Sparse: uses no disk space.
  EXPECT_EQ(read_file(path("big")).error().text(),
            "cannot read '" + path("big") + "': larger than 1 GiB");
}

}  // namespace
}  // namespace weft
