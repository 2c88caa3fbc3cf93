// SPDX-License-Identifier: Apache-2.0
#include "sim_models.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "output.hpp"
#include "own_command.hpp"
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <weft/base/file.hpp>
#include <weft/base/quantity.hpp>
#include <weft/base/text.hpp>
#include <weft/simulate/models/network_model.hpp>

namespace weft::app {
namespace {

using Json = nlohmann::json;

struct ModelRun {
  Fidelity model = Fidelity::packet;
  Duration time;  // Of the program, simulated.
  double processor_s = 0;
  double memory_mb = 0;
};

// The options but those that differ from run to run. `folder`: where records were to go.
std::vector<std::string> shared_words(const std::vector<std::string>& words, std::size_t program,
                                      std::string& folder) {
  constexpr std::array<std::string_view, 2> dropped = {"--compare-models", "--model"};
  constexpr std::array<std::string_view, 4> folders = {"-o", "--output", "--out", "--record"};
  std::vector<std::string> kept;
  for (std::size_t i = 0; i < program; ++i) {
    const std::string name = words[i].substr(0, words[i].find('='));
    const bool has_value = name.size() < words[i].size();
    const bool names_folder = std::find(folders.begin(), folders.end(), name) != folders.end();
    if (!names_folder && std::find(dropped.begin(), dropped.end(), name) == dropped.end()) {
      kept.push_back(words[i]);
      continue;
    }
    const std::string value =
        has_value ? words[i].substr(name.size() + 1) : (i + 1 < program ? words[++i] : "");
    if (names_folder) folder = name + "\n" + value;
  }
  return kept;
}

Result<ModelRun> run_model(Fidelity model, std::vector<std::string> words,
                           const std::vector<std::string>& program, const std::string& summary,
                           bool first) {
  words.insert(words.end(), {"--quiet", "--model", to_text(model)});
  words.insert(words.end(), program.begin(), program.end());
  // What the program prints is the same each time, but for times.
  const auto end = run_own_command(words, first ? OutputTo::standard_output : OutputTo::nowhere);
  if (!end) return Error(end.error());
  if (end->status != 0)
    return Error::run(fmt::format("the run with --model {} ended with exit code {}, see above",
                                  to_text(model), end->status));
  const auto text = read_file(summary);
  if (!text) return Error(text.error());
  const Json json = Json::parse(*text, nullptr, false);
  if (json.is_discarded()) return Error::input(summary + " is not JSON");
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return ModelRun{.model = model,
                  .time = Duration::ps(json.at("program_time_ps").get<std::int64_t>()),
                  .processor_s = seconds(end->use.ru_utime) + seconds(end->use.ru_stime),
                  .memory_mb = static_cast<double>(end->use.ru_maxrss) * 1024 / 1e6};
}

std::string table_of(const std::vector<ModelRun>& runs) {
  std::string out = fmt::format("{:<8} {:>18} {:>12} {:>14} {:>10}\n", "model", "program time",
                                "difference", "processor time", "memory");
  for (const ModelRun& run : runs) {
    const double off = run.time.in_seconds() / runs.front().time.in_seconds() - 1;
    out += fmt::format("{:<8} {:>18} {:>12} {:>12.2f} s {:>7.1f} MB\n", to_text(run.model),
                       to_text(run.time),
                       &run == &runs.front() ? "" : fmt::format("{:+.1f} %", 100 * off),
                       run.processor_s, run.memory_mb);
  }
  return out;
}

}  // namespace

Status compare_models(const std::string& text, const std::vector<std::string>& command,
                      std::size_t program) {
  const auto models = parse_models(text);
  if (!models) return Error(models.error());
  std::string kept_in;
  const std::vector<std::string> shared = shared_words(command, program, kept_in);
  const std::vector<std::string> rest(command.begin() + static_cast<std::ptrdiff_t>(program),
                                      command.end());
  const TemporaryFolder temporary;
  if (temporary.path().empty()) return Error::run("cannot make a temporary folder");
  const std::size_t cut = kept_in.find('\n');
  const std::string option = kept_in.empty() ? "--output" : kept_in.substr(0, cut);
  const std::string folder = kept_in.empty() ? temporary.path() : kept_in.substr(cut + 1);
  std::vector<ModelRun> runs;
  for (const Fidelity model : *models) {
    std::vector<std::string> words = shared;
    const std::string own = folder + "/" + to_text(model);
    words.insert(words.end(), {option, own});
    auto run = run_model(model, std::move(words), rest, own + "/summary.json", runs.empty());
    if (!run) return std::move(run).error();
    runs.push_back(*run);
  }
  return print(table_of(runs));
}

std::vector<std::string> own_words() {
  std::vector<std::string> words;
  const auto text = read_file("/proc/self/cmdline");
  if (!text) return words;
  for (std::size_t begin = 0; begin < text->size();) {
    const std::size_t end = std::min(text->find('\0', begin), text->size());
    words.push_back(text->substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

}  // namespace weft::app
