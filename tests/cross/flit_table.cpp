// SPDX-License-Identifier: Apache-2.0
// Prints the flit-level router beside BookSim2's curves: flit_table FOLDER [SEEDS [FILE-PART]]
#include <cstdio>
#include <string>

#include "tests/cross/booksim.hpp"

int main(int argc, char** argv) {
  using namespace weft::test;
  if (argc < 2) {
    std::fprintf(stderr, "usage: flit_table FOLDER [SEEDS [FILE-PART]]\n");
    return 2;
  }
  const int seeds = argc > 2 ? std::stoi(argv[2]) : 2;
  std::printf(
      "| curve | latency, flits/BookSim at 0.25, 0.5, 0.75, 0.9 of saturation | saturation |\n");
  std::printf("| --- | --- | --- |\n");
  for (const std::string& file : list_references(argv[1])) {
    if (argc > 3 && file.find(argv[3]) == std::string::npos) continue;
    const auto reference = read_reference(file);
    if (!reference) {
      std::fprintf(stderr, "%s\n", reference.error().text().c_str());
      return 1;
    }
    const auto found = compare_flits(*reference, seeds);
    if (!found) continue;  // A routing that looks at ports.
    std::printf("| %s | ", reference->file.substr(0, reference->file.size() - 4).c_str());
    for (std::size_t i = 0; i < reference->points.size(); ++i) {
      const ReferencePoint& p = reference->points[i];
      if (p.fraction < 0.2) continue;
      std::printf("%+.1f ", 100 * (found->latency[i] / p.latency - 1));
    }
    std::printf(
        "| %.4f, search %.4f (%+.1f %%), rows %.4f (%+.1f %%) |\n", found->saturation,
        reference->saturation, 100 * (found->saturation / reference->saturation - 1),
        reference->crossing,
        reference->crossing > 0 ? 100 * (found->saturation / reference->crossing - 1) : 0.0);
    std::fflush(stdout);
  }
  return 0;
}
