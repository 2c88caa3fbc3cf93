// SPDX-License-Identifier: Apache-2.0
// The file that a run writes as it goes, without any library: a header, then the samples. A reader
// of the growing file (the live page) sees whole samples only.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <weft/base/result.hpp>

namespace weft {

struct SeriesHeader {
  char magic[8] = {'w', 'e', 'f', 't', 's', 'e', 'r', '4'};
  std::uint64_t links = 0, routers = 0, nodes = 0;
  std::int64_t interval_ps = 0;
  std::uint64_t changes = 0;  // Odd while samples are being merged.
};
struct LinkSample {
  std::uint64_t bytes = 0, packets = 0;
};
struct SeriesSample {
  struct Head {
    std::int64_t end_ps = 0;
    std::uint64_t messages = 0, bytes = 0;  // Sent by ranks since the start.
  };
  Head head;
  std::vector<LinkSample> links;       // Traffic in the interval that ends at this time.
  std::vector<std::uint64_t> buffers;  // By router: bytes in its buffers at this time.
  // By node: traffic from its card to the router and back, in the interval.
  std::vector<LinkSample> injected, ejected;

  // Merges this sample with the `next` one.
  void join(const SeriesSample& next);
};

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using RawFile = std::unique_ptr<std::FILE, CloseFile>;

class SeriesWriter {
 public:
  static Result<SeriesWriter> create(const std::string& path, const SeriesHeader& header);
  Status append(const SeriesSample& sample);
  // Merges samples in pairs. REQUIRES: their number is even.
  Status halve();
  std::uint64_t samples() const { return samples_; }

 private:
  SeriesWriter(RawFile file, std::string path, const SeriesHeader& header)
      : file_(std::move(file)), path_(std::move(path)), header_(header) {}
  Status failed() const;
  bool put_header();

  RawFile file_;
  std::string path_;
  SeriesHeader header_;
  std::uint64_t samples_ = 0;
};

class SeriesReader {
 public:
  static Result<SeriesReader> open(const std::string& path);
  const SeriesHeader& header() const { return header_; }
  // Returns false if there is no further whole sample yet.
  bool next(SeriesSample& sample);
  // For a growing file: returns samples after this time only, whatever happened to the file since.
  // If samples were merged, the interval of the first may have begun before that time.
  bool next_after(std::int64_t end_ps, SeriesSample& sample);
  std::int64_t begin_ps() const { return begin_ps_; }  // Start of the last sample's interval.

 private:
  SeriesReader(RawFile file, const SeriesHeader& header)
      : file_(std::move(file)), header_(header) {}
  bool read(std::uint64_t index, SeriesSample& sample) const;
  bool read_header();

  RawFile file_;
  SeriesHeader header_;
  std::uint64_t at_ = 0;
  std::int64_t begin_ps_ = 0, end_ps_ = 0;
};

}  // namespace weft
