// SPDX-License-Identifier: Apache-2.0
// Fuzz target: files of a record's folder, as weft report reads them. The first byte says which
// file the rest is.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include <unistd.h>

#include <weft/output/report/load.hpp>
#include <weft/program/run_record/run_settings.hpp>

using namespace weft;

namespace {

// In memory where there is such a file system, and gone at the end.
class Folder {
 public:
  Folder() {
    const bool shared = ::access("/dev/shm", W_OK) == 0;
    std::string name = (shared ? "/dev/shm" : "/tmp") + std::string("/weft-fuzz-XXXXXX");
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    path = name;
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  std::filesystem::path path;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static constexpr std::array<std::string_view, 6> names = {"summary.json",      "settings.json",
                                                            "traffic.txt",       "machine.toml",
                                                            "machine-used.toml", "map.txt"};
  if (size == 0) return 0;
  static const Folder folder;
  const std::filesystem::path file = folder.path / names[data[0] % names.size()];
  std::ofstream(folder.path / "summary.json") << "{\"program\": \"p\", \"ranks\": 2}\n";
  std::ofstream(file, std::ios::binary)
      .write(reinterpret_cast<const char*>(data + 1), static_cast<std::streamsize>(size - 1));
  static_cast<void>(report::load(folder.path.string(), {}).has_value());
  static_cast<void>(read_run_settings(folder.path.string()).has_value());
  std::filesystem::remove(file);
  // The same bytes as a file of results.
  std::ofstream(folder.path / "result.json", std::ios::binary)
      .write(reinterpret_cast<const char*>(data + 1), static_cast<std::streamsize>(size - 1));
  static_cast<void>(report::load((folder.path / "result.json").string(), {}).has_value());
  return 0;
}
