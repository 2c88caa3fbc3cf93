// SPDX-License-Identifier: Apache-2.0
// timeline.raw: writing and reading.
#include <algorithm>
#include <cstring>
#include <string_view>

#include <weft/base/file.hpp>
#include <weft/output/record/timeline.hpp>

namespace weft {

namespace {

constexpr std::string_view raw_mark = "WEFTTIM1";

std::string raw_path(const std::string& folder) {
  return folder + "/timeline.raw";
}

template <typename T>
void put(std::string& out, const T* values, std::size_t count) {
  out.append(reinterpret_cast<const char*>(values), sizeof(T) * count);
}

template <typename T>
bool take(std::string_view& rest, T* values, std::uint64_t count) {
  if (count > rest.size() / sizeof(T)) return false;
  if (count > 0) std::memcpy(values, rest.data(), sizeof(T) * count);
  rest.remove_prefix(sizeof(T) * count);
  return true;
}

template <typename T>
bool take_list(std::string_view& rest, std::vector<T>& list) {
  std::uint64_t count = 0;
  if (!take(rest, &count, 1) || count > rest.size() / sizeof(T)) return false;
  list.resize(count);
  return take(rest, list.data(), count);
}

bool take_text(std::string_view& rest, std::string& text) {
  std::vector<char> letters;
  if (!take_list(rest, letters)) return false;
  text.assign(letters.begin(), letters.end());
  return true;
}

}  // namespace

bool is_sound(const Timeline& timeline) {
  if (timeline.first.empty() || timeline.first.front() != 0 ||
      timeline.first.back() != timeline.spans.size() ||
      !std::is_sorted(timeline.first.begin(), timeline.first.end())) {
    return false;
  }
  constexpr std::int64_t latest = std::int64_t{1} << 62;
  for (std::uint32_t rank = 0; rank < timeline.ranks(); ++rank) {
    std::int64_t before = 0;
    for (const CallSpan& span : timeline.of(rank)) {
      if (span.call >= timeline.calls.size() || span.begin_ps < before ||
          span.end_ps <= span.begin_ps || span.end_ps > latest || span.waited_ps < 0) {
        return false;
      }
      before = span.end_ps;
    }
  }
  return true;
}

Result<Timeline> read_timeline_raw(const std::string& folder) {
  const auto text = read_file(raw_path(folder));
  if (!text) return Error(text.error());
  Timeline timeline;
  std::string_view rest = *text;
  std::uint64_t names = 0;
  if (!rest.starts_with(raw_mark)) return damaged_timeline(raw_path(folder));
  rest.remove_prefix(raw_mark.size());
  bool good = take(rest, &timeline.bin_ps, 1) && take(rest, &names, 1) && names <= rest.size();
  for (std::uint64_t i = 0; good && i < names; ++i)
    good = take_text(rest, timeline.calls.emplace_back());
  if (!good || !take_list(rest, timeline.first) || !take_list(rest, timeline.spans) ||
      !is_sound(timeline)) {
    return damaged_timeline(raw_path(folder));
  }
  return timeline;
}

Error damaged_timeline(const std::string& path) {
  return Error::input(path + " is not the timeline of a run, or was cut short");
}

std::size_t spans_per_rank(std::uint32_t ranks) {
  constexpr std::size_t in_all = std::size_t{4} << 20;
  return std::clamp<std::size_t>(in_all / std::max(ranks, 1U), 64, 65536);
}

void Timeline::add_rank(std::span<const std::string> names, std::span<const CallSpan> own,
                        std::int64_t own_bin_ps) {
  std::vector<std::uint64_t> number;
  for (const std::string& name : names) {
    const auto found = std::find(calls.begin(), calls.end(), name);
    number.push_back(static_cast<std::uint64_t>(found - calls.begin()));
    if (found == calls.end()) calls.push_back(name);
  }
  for (CallSpan span : own) {
    span.call = number[span.call];
    spans.push_back(span);
  }
  first.push_back(spans.size());
  bin_ps = std::max(bin_ps, own_bin_ps);
}

Status write_timeline_raw(const std::string& folder, const Timeline& timeline) {
  std::string out(raw_mark);
  const auto put_count = [&](std::uint64_t count) { put(out, &count, 1); };
  put(out, &timeline.bin_ps, 1);
  put_count(timeline.calls.size());
  for (const std::string& name : timeline.calls) {
    put_count(name.size());
    out += name;
  }
  put_count(timeline.first.size());
  put(out, timeline.first.data(), timeline.first.size());
  put_count(timeline.spans.size());
  put(out, timeline.spans.data(), timeline.spans.size());
  return write_file(raw_path(folder), out);
}

}  // namespace weft
