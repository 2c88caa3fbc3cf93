// SPDX-License-Identifier: Apache-2.0
// Prints the comparison with BookSim2 as the table of docs/validation.md: booksim_table FOLDER
// [SEEDS [FILE-PART [packet|flit]]]
#include <cstdio>
#include <string>

#include "tests/cross/booksim.hpp"

int main(int argc, char** argv) {
  using namespace weft::test;
  if (argc < 2) {
    std::fprintf(stderr, "usage: booksim_table FOLDER [SEEDS [FILE-PART [packet|flit]]]\n");
    return 2;
  }
  const int seeds = argc > 2 ? std::stoi(argv[2]) : 2;
  const auto model = weft::parse_fidelity(argc > 4 ? argv[4] : "packet");
  if (!model) {
    std::fprintf(stderr, "%s\n", model.error().text().c_str());
    return 2;
  }
  std::printf(
      "| curve | zero load | latency, weft/BookSim at 0.25, 0.5, 0.75, 0.9 of saturation | "
      "saturation |\n");
  std::printf("| --- | --- | --- | --- |\n");
  for (const std::string& file : list_references(argv[1])) {
    if (argc > 3 && file.find(argv[3]) == std::string::npos) continue;
    const auto reference = read_reference(file);
    if (!reference) {
      std::fprintf(stderr, "%s\n", reference.error().text().c_str());
      return 1;
    }
    const auto found = compare(*reference, seeds, *model);
    if (!found) {
      std::printf("| %s | %s |\n", reference->file.c_str(), found.error().text().c_str());
      continue;
    }
    std::printf("| %s | %.2f %s | ", reference->file.substr(0, reference->file.size() - 4).c_str(),
                found->zero_load, found->zero_load == reference->zero_load ? "=" : "/");
    if (found->zero_load != reference->zero_load) std::printf("%.2f ", reference->zero_load);
    for (std::size_t i = 0; i < reference->points.size(); ++i) {
      const ReferencePoint& p = reference->points[i];
      if (p.fraction < 0.2) continue;
      std::printf("%.0f/%.0f %+.1f%%  ", found->latency[i], p.latency,
                  100 * (found->latency[i] / p.latency - 1));
    }
    std::printf(
        "| %.4f/%.4f %+.1f%%, rows cross at %.4f %+.1f%% |\n", found->saturation,
        reference->saturation, 100 * (found->saturation / reference->saturation - 1),
        reference->crossing,
        reference->crossing > 0 ? 100 * (found->saturation / reference->crossing - 1) : 0.0);
    std::fflush(stdout);
  }
  return 0;
}
