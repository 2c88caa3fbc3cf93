// SPDX-License-Identifier: Apache-2.0
#include "weft/base/histogram.hpp"

#include <algorithm>

#include <weft/base/units.hpp>

namespace weft {

void Histogram::merge(const Histogram& other) {
  if (other.counts_.size() > counts_.size()) counts_.resize(other.counts_.size());
  for (std::size_t i = 0; i < other.counts_.size(); ++i) counts_[i] += other.counts_[i];
  count_ += other.count_;
  min_ = std::min(min_, other.min_);
  max_ = std::max(max_, other.max_);
}

void Histogram::pack(Packer& letter) const {
  letter.put_list(counts_);
  letter.put(count_);
  letter.put(min_);
  letter.put(max_);
}

Histogram Histogram::unpack(Unpacker& letter) {
  Histogram made;
  made.counts_ = letter.take_list<std::int64_t>();
  made.count_ = letter.take<std::int64_t>();
  made.min_ = letter.take<std::int64_t>();
  made.max_ = letter.take<std::int64_t>();
  return made;
}

std::int64_t Histogram::quantile(std::int64_t part, std::int64_t of) const {
  WEFT_CHECK(of > 0 && part >= 0 && part <= of);
  if (count_ == 0) return 0;
  const detail::Wide scaled = static_cast<detail::Wide>(count_) * part;
  const auto rank = std::max<std::int64_t>(1, static_cast<std::int64_t>((scaled + of - 1) / of));
  std::int64_t seen = 0;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    seen += counts_[i];
    if (seen >= rank) return std::min(last_of(i), max_);
  }
  return max_;
}

}  // namespace weft
