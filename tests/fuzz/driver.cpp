// SPDX-License-Identifier: Apache-2.0
// Runs a fuzz target without libFuzzer, for compilers that have none: every file of the corpus,
// then files of it with random changes, for some seconds. Knows nothing of coverage; the preset
// `fuzz` does.
//
//   TARGET [--seconds N] [--seed N] [FILE or FOLDER...]
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include <weft/base/rng.hpp>

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer calls it so.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using Input = std::vector<std::uint8_t>;
constexpr std::size_t size_max = 4096;

const Input* tried = nullptr;
std::string kept_in;  // Where a failing input goes.

void keep_input(int signal) {
  const int file = ::open(kept_in.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (file >= 0 && tried != nullptr && ::write(file, tried->data(), tried->size()) >= 0) {
    static constexpr char text[] = "the input that failed is in the file fuzz-failed-* here\n";
    if (::write(STDERR_FILENO, text, sizeof text - 1) < 0) std::abort();
  }
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

void give(const Input& input) {
  tried = &input;
  LLVMFuzzerTestOneInput(input.data(), input.size());
}

Input read(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<Input> read_corpus(const std::vector<std::string>& paths) {
  std::vector<std::filesystem::path> files;
  for (const std::string& path : paths) {
    if (!std::filesystem::is_directory(path)) {
      files.emplace_back(path);
      continue;
    }
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path))
      if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::vector<Input> corpus;
  for (const auto& file : files) corpus.push_back(read(file));
  return corpus;
}

// Bytes with a meaning somewhere.
std::uint8_t any_byte(weft::Rng& rng) {
  static constexpr std::string_view usual = "0123456789 \n\t,:=-+.\"'[]{}()#/x\\<>\xff";
  return rng.coin() ? static_cast<std::uint8_t>(usual[rng.below(usual.size())])
                    : static_cast<std::uint8_t>(rng.below(256));
}

void change(Input& input, const Input& other, weft::Rng& rng) {
  const std::size_t at = rng.below(input.size() + 1);
  const auto where = input.begin() + static_cast<std::ptrdiff_t>(at);
  const std::size_t length = std::min<std::size_t>(1 + rng.below(16), input.size() - at);
  switch (rng.below(6)) {
    case 0:
      if (at < input.size()) *where = any_byte(rng);
      break;
    case 1:
      input.insert(where, any_byte(rng));
      break;
    case 2:
      input.erase(where, where + static_cast<std::ptrdiff_t>(length));
      break;
    case 3: {  // Repeats a part.
      const Input part(where, where + static_cast<std::ptrdiff_t>(length));
      input.insert(input.begin() + static_cast<std::ptrdiff_t>(rng.below(input.size() + 1)),
                   part.begin(), part.end());
      break;
    }
    case 4: {  // Goes on as another one does.
      const auto from = other.begin() + static_cast<std::ptrdiff_t>(rng.below(other.size() + 1));
      input.erase(where, input.end());
      input.insert(input.end(), from, other.end());
      break;
    }
    default:
      if (at < input.size()) *where ^= static_cast<std::uint8_t>(1u << rng.below(8));
  }
}

}  // namespace

int main(int count, char** words) {
  double seconds = 1;
  std::uint64_t seed = 1;
  std::vector<std::string> paths;
  for (int i = 1; i < count; ++i) {
    const std::string_view word = words[i];
    if (word == "--seconds" && i + 1 < count)
      seconds = std::atof(words[++i]);
    else if (word == "--seed" && i + 1 < count)
      seed = std::strtoull(words[++i], nullptr, 10);
    else
      paths.emplace_back(word);
  }
  kept_in = "fuzz-failed-" + std::filesystem::path(words[0]).filename().string();
  for (const int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL})
    std::signal(signal, keep_input);
  const std::vector<Input> corpus = read_corpus(paths);
  if (corpus.empty()) {
    std::fprintf(stderr, "no file in the corpus\n");
    return 2;
  }
  give({});
  for (const Input& input : corpus) give(input);
  weft::Rng rng(seed);
  const auto start = std::chrono::steady_clock::now();
  const auto passed = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  std::uint64_t runs = corpus.size() + 1;
  for (; passed() < seconds; ++runs) {
    Input input = corpus[rng.below(corpus.size())];
    for (std::uint64_t i = 1 + rng.below(8); i > 0; --i)
      change(input, corpus[rng.below(corpus.size())], rng);
    input.resize(std::min(input.size(), size_max));
    give(input);
  }
  std::printf("%llu inputs, seed %llu\n", static_cast<unsigned long long>(runs),
              static_cast<unsigned long long>(seed));
  return 0;
}
