// SPDX-License-Identifier: Apache-2.0
// Looks at the network at moments of its choice and writes down what it sees. Where several
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
#include <weft/simulate/setup/plan.hpp>
#include <weft/simulate/setup/scene.hpp>

namespace weft {

struct Sampled {
  const Plan& plan;
  const Scene& scene;
  World& world;
  Peers* peers;         // Null: there is but one process.
  double (*seconds)();  // Our own time.

  bool writes() const { return peers == nullptr || peers->self() == 0; }
};

class Sampler {
 public:
  virtual ~Sampler() = default;
  // When it wants to look next; never() for no more.
  virtual Time next() const = 0;
  // At next(), and at the end of the run.
  virtual Status sample(Time now) = 0;
};

// What every link carried in each interval and what every router's buffers held at its end, in
// series.raw, which `weft sim` turns into HDF5 after the run.
Result<std::unique_ptr<Sampler>> sample_series(const Sampled& what);

// Every buffer of the chosen routers, in buffers.csv: a line for each that has changed.
Result<std::unique_ptr<Sampler>> watch_buffers(const Sampled& what);

// A file that is written as the run goes on.
class SampleFile {
 public:
  // One that takes nothing, in processes that do not write.
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
  // Of all that was written; to be asked once per sample.
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
