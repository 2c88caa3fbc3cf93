// SPDX-License-Identifier: Apache-2.0
// Samples the network at moments of its choice and writes the samples to a file. If several
// processes share the network, all make these calls and process 0 writes.
#pragma once

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>

#include <weft/base/result.hpp>
#include <weft/base/units.hpp>
#include <weft/output/record/series_raw.hpp>
#include <weft/simulate/nodes/world.hpp>
#include <weft/simulate/setup/simulation_options.hpp>
#include <weft/simulate/setup/simulation_setup.hpp>

namespace weft {

struct SamplerSetup {
  const SimulationOptions& options;
  const SimulationSetup& setup;
  World& world;
  ProcessGroup* peers;  // Null: this process is alone.
  double (*seconds)();  // Wall clock.

  bool writes() const { return peers == nullptr || peers->self() == 0; }
};

class Sampler {
 public:
  virtual ~Sampler() = default;
  // Time of the next sample; never() if there is none.
  virtual Time next() const = 0;
  // Called at next(), and at the end of the run.
  virtual Status sample(Time now) = 0;
};

// The traffic of every link, also of those between nodes and routers, in each interval and the fill
// of every router's buffers at its end, in series.raw, which `weft sim` converts to HDF5 after the
// run.
Result<std::unique_ptr<Sampler>> sample_series(const SamplerSetup& what);

// Every buffer of the chosen routers, in buffers.csv: a line for each buffer that has changed.
Result<std::unique_ptr<Sampler>> watch_buffers(const SamplerSetup& what);

// A file that is written during the run.
class SampleFile {
 public:
  // In processes that do not write, the file discards everything.
  static Result<SampleFile> create(const std::string& path, bool writes) {
    if (!writes) return SampleFile(nullptr, path);
    RawFile file(std::fopen(path.c_str(), "wb"));
    if (file == nullptr) return Error::run(path + ": " + std::strerror(errno));
    return SampleFile(std::move(file), path);
  }
  template <typename T>
  void write(const T* data, std::size_t count) {
    if (file_ == nullptr) return;
    good_ = good_ && std::fwrite(data, sizeof(T), count, file_.get()) == count;
  }
  void write(const std::string& text) { write(text.data(), text.size()); }
  // Covers everything written so far; check once per sample.
  Status status() const {
    if (good_) return {};
    return Error::run(path_ + " cannot be written: " + std::strerror(errno));
  }
  Status flush() {
    good_ = (file_ == nullptr || std::fflush(file_.get()) == 0) && good_;
    return status();
  }

 private:
  SampleFile(RawFile file, std::string path) : file_(std::move(file)), path_(std::move(path)) {}
  RawFile file_;
  std::string path_;
  bool good_ = true;
};

}  // namespace weft
