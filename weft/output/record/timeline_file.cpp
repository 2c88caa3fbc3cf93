// SPDX-License-Identifier: Apache-2.0
// timeline.h5: conversion from timeline.raw, and reading.
#include <cstdio>
#include <filesystem>

#include <weft/output/record/timeline.hpp>

#ifdef WEFT_HDF5
#include "h5.hpp"
#endif

namespace weft {

bool has_timeline(const std::string& folder) {
  std::error_code failed;
  return std::filesystem::exists(folder + "/timeline.raw", failed) ||
         std::filesystem::exists(folder + "/timeline.h5", failed);
}

#ifndef WEFT_HDF5

Status convert_timeline(const std::string&) {
  return {};
}
Result<Timeline> read_timeline(const std::string& folder) {
  return read_timeline_raw(folder);
}

#else

namespace {

struct Columns {
  std::vector<std::int64_t> begin, end, waited;
  std::vector<std::uint32_t> call;
};

bool write_h5(const std::string& path, const Timeline& timeline) {
  Columns c;
  for (const CallSpan& span : timeline.spans) {
    c.begin.push_back(span.begin_ps);
    c.end.push_back(span.end_ps);
    c.waited.push_back(span.waited_ps);
    c.call.push_back(static_cast<std::uint32_t>(span.call));
  }
  const h5::Handle file = h5::create_file(path);
  return file.good() && h5::write_number(file, "bin_ps", timeline.bin_ps) &&
         h5::write_texts(file, "call_name", timeline.calls) &&
         h5::write_list(file, "first", timeline.first) &&
         h5::write_list(file, "begin_ps", c.begin) && h5::write_list(file, "end_ps", c.end) &&
         h5::write_list(file, "waited_ps", c.waited) && h5::write_list(file, "call", c.call) &&
         h5::flush(file);
}

Result<Timeline> read_h5(const std::string& path) {
  const h5::Handle file = h5::open_file(path);
  Timeline timeline;
  Columns c;
  if (!file.good() || !h5::read_number(file, "bin_ps", timeline.bin_ps) ||
      !h5::read_texts(file, "call_name", timeline.calls) ||
      !h5::read_list(file, "first", timeline.first) || !h5::read_list(file, "begin_ps", c.begin) ||
      !h5::read_list(file, "end_ps", c.end) || !h5::read_list(file, "waited_ps", c.waited) ||
      !h5::read_list(file, "call", c.call) || c.end.size() != c.begin.size() ||
      c.waited.size() != c.begin.size() || c.call.size() != c.begin.size()) {
    return damaged_timeline(path);
  }
  for (std::size_t i = 0; i < c.begin.size(); ++i)
    timeline.spans.push_back({c.begin[i], c.end[i], c.waited[i], c.call[i]});
  if (!is_sound(timeline)) return damaged_timeline(path);
  return timeline;
}

}  // namespace

Status convert_timeline(const std::string& folder) {
  if (!h5::lib().there) return {};
  auto timeline = read_timeline_raw(folder);
  if (!timeline) return std::move(timeline).error();
  const std::string path = folder + "/timeline.h5", partial = path + ".part";
  if (!write_h5(partial, *timeline) || std::rename(partial.c_str(), path.c_str()) != 0) {
    std::remove(partial.c_str());
    return Error::run(path + " cannot be written (is the disk full?); the timeline stays in " +
                      folder + "/timeline.raw");
  }
  std::remove((folder + "/timeline.raw").c_str());
  return {};
}

Result<Timeline> read_timeline(const std::string& folder) {
  std::error_code failed;
  if (std::filesystem::exists(folder + "/timeline.raw", failed)) return read_timeline_raw(folder);
  if (!h5::lib().there)
    return Error::run("without the library HDF5 " + folder +
                      "/timeline.h5 cannot be read; weft doctor says what to install");
  return read_h5(folder + "/timeline.h5");
}

#endif

}  // namespace weft
