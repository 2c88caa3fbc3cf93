// SPDX-License-Identifier: Apache-2.0
// Fuzz target: OTF2 archives in which one file has other bytes. The first byte says which one. The
// numbers inside are tried faster, without the trace library, by ranks_fuzz.cpp beside the reader.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "scratch_folder.hpp"

#include <weft/base/file.hpp>
#include <weft/workload/traces/any_traffic.hpp>
#include <weft/workload/traces/otf2.hpp>
#include <weft/workload/traces/otf2_write.hpp>

using namespace weft;

// For builds with the address sanitizer: the library forgets some of its memory when an archive is
// damaged.
// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming)
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() {
  return "leak:libopen-trace-format2\nleak:libotf2\n";
}
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)

namespace {

class SoundArchive {
 public:
  static constexpr std::size_t file_count = 4;

  SoundArchive() {
    const std::string folder = scratch_.path() / "archive";
    auto writer = Otf2Writer::create(folder, "t");
    if (!writer) std::abort();
    Otf2Writer& out = **writer;
    for (std::uint32_t rank = 0; rank < 3; ++rank) {
      if (!out.begin_rank(rank)) std::abort();
      out.enter(10, "MPI_Send");
      out.send(11, {(rank + 1) % 3, 7, 5, 1000});
      out.leave(12, "MPI_Send");
      out.receive_begin(13, 5);
      out.receive_end(14, {(rank + 2) % 3, 8, -1, 50}, 5);
    }
    if (!out.finish({{"a", "a", "b"}, {"MPI_COMM_WORLD", "other"}})) std::abort();
    anchor_ = folder + "/t.otf2";
    paths_ = {anchor_, folder + "/t.def", folder + "/t/0.evt", folder + "/t/0.def"};
    for (std::size_t i = 0; i < file_count; ++i) contents_[i] = *read_file(paths_[i]);
    if (!read_otf2(anchor_)) std::abort();
  }

  // Only a reader in a process of its own survives whatever an anchor may hold: the library trusts
  // its numbers.
  void read_with(std::size_t file, std::string_view bytes) const {
    if (!write_file(paths_[file], std::string(bytes))) std::abort();
    const auto read = file == 0 ? read_any_traffic(anchor_, {}) : read_otf2(anchor_);
    if (!read && read.error().text().empty()) std::abort();
    if (!write_file(paths_[file], contents_[file])) std::abort();
  }

 private:
  ScratchFolder scratch_;
  std::string anchor_;
  std::array<std::string, file_count> paths_, contents_;
};

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer calls it so.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0 || !has_otf2()) return 0;
  static const SoundArchive archive;
  archive.read_with(data[0] % SoundArchive::file_count,
                    {reinterpret_cast<const char*>(data + 1), size - 1});
  return 0;
}
