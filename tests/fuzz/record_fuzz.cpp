// SPDX-License-Identifier: Apache-2.0
// Fuzz target: files of a record's folder, as weft report reads them, and files of results. The
// first byte says which file the rest is; the others are sound. Not series.h5 and timeline.h5,
// which the HDF5 library reads.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "scratch_folder.hpp"

#include <weft/output/report/load.hpp>
#include <weft/program/run_record/run_settings.hpp>

using namespace weft;

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer calls it so.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static constexpr std::array<std::string_view, 10> names = {
      "summary.json", "settings.json",  "traffic.txt",        "machine.toml", "machine-used.toml",
      "ranks.csv",    "node_links.csv", "program-output.txt", "timeline.raw", "map.txt"};
  if (size == 0) return 0;
  static const ScratchFolder scratch;
  const std::filesystem::path& folder = scratch.path();
  const std::filesystem::path file = folder / names[data[0] % names.size()];
  std::ofstream(folder / "summary.json")
      << R"({"weft": "sim", "program": "p", "ranks": 4, "network": "ring:4"})"
      << "\n";
  std::ofstream(file, std::ios::binary)
      .write(reinterpret_cast<const char*>(data + 1), static_cast<std::streamsize>(size - 1));
  static_cast<void>(report::load(folder.string(), {}).has_value());
  static_cast<void>(read_run_settings(folder.string()).has_value());
  std::filesystem::remove(file);
  // The same bytes as a file of results.
  std::ofstream(folder / "result.json", std::ios::binary)
      .write(reinterpret_cast<const char*>(data + 1), static_cast<std::streamsize>(size - 1));
  static_cast<void>(report::load((folder / "result.json").string(), {}).has_value());
  return 0;
}
