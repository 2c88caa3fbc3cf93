// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <cstring>
#include <utility>

#include <unistd.h>

#include <weft/base/check.hpp>
#include <weft/output/record/series_raw.hpp>

namespace weft {

namespace {

long sample_size(const SeriesHeader& header) {
  return static_cast<long>(sizeof(SeriesSample::Head) +
                           (header.links + 2 * header.nodes) * sizeof(LinkSample) +
                           header.routers * sizeof(std::uint64_t));
}

long place_of(const SeriesHeader& header, std::uint64_t index) {
  return static_cast<long>(sizeof header) + static_cast<long>(index) * sample_size(header);
}

template <typename T>
bool write_list(std::FILE* file, const std::vector<T>& list) {
  return std::fwrite(list.data(), sizeof(T), list.size(), file) == list.size();
}

template <typename T>
bool read_list(std::FILE* file, std::uint64_t size, std::vector<T>& list) {
  list.resize(size);
  return std::fread(list.data(), sizeof(T), list.size(), file) == list.size();
}

bool write_at(std::FILE* file, long place, const SeriesSample& sample) {
  return std::fseek(file, place, SEEK_SET) == 0 &&
         std::fwrite(&sample.head, sizeof sample.head, 1, file) == 1 &&
         write_list(file, sample.links) && write_list(file, sample.buffers) &&
         write_list(file, sample.injected) && write_list(file, sample.ejected);
}

bool read_at(std::FILE* file, const SeriesHeader& header, long place, SeriesSample& sample) {
  return std::fseek(file, place, SEEK_SET) == 0 &&
         std::fread(&sample.head, sizeof sample.head, 1, file) == 1 &&
         read_list(file, header.links, sample.links) &&
         read_list(file, header.routers, sample.buffers) &&
         read_list(file, header.nodes, sample.injected) &&
         read_list(file, header.nodes, sample.ejected);
}

void join(std::vector<LinkSample>& sum, const std::vector<LinkSample>& next) {
  for (std::size_t i = 0; i < sum.size(); ++i) {
    sum[i].bytes += next[i].bytes;
    sum[i].packets += next[i].packets;
  }
}

}  // namespace

void SeriesSample::join(const SeriesSample& next) {
  head = next.head;  // The ranks' counters are cumulative, so the later ones hold.
  weft::join(links, next.links);
  weft::join(injected, next.injected);
  weft::join(ejected, next.ejected);
  buffers = next.buffers;
}

Result<SeriesWriter> SeriesWriter::create(const std::string& path, const SeriesHeader& header) {
  RawFile file(std::fopen(path.c_str(), "wb+"));
  if (file == nullptr) return Error::run(path + ": " + std::strerror(errno));
  SeriesWriter writer(std::move(file), path, header);
  if (!writer.put_header()) return writer.failed().error();
  return writer;
}

Status SeriesWriter::failed() const {
  return Error::run(path_ + " cannot be written: " + std::strerror(errno));
}

bool SeriesWriter::put_header() {
  return std::fseek(file_.get(), 0, SEEK_SET) == 0 &&
         std::fwrite(&header_, sizeof header_, 1, file_.get()) == 1 &&
         std::fflush(file_.get()) == 0;
}

Status SeriesWriter::append(const SeriesSample& sample) {
  if (!write_at(file_.get(), place_of(header_, samples_), sample) ||
      std::fflush(file_.get()) != 0) {
    return failed();
  }
  ++samples_;
  return {};
}

Status SeriesWriter::halve() {
  WEFT_CHECK(samples_ % 2 == 0);
  ++header_.changes;
  if (!put_header()) return failed();
  SeriesSample one, other;
  for (std::uint64_t i = 0; i < samples_ / 2; ++i) {
    if (!read_at(file_.get(), header_, place_of(header_, 2 * i), one) ||
        !read_at(file_.get(), header_, place_of(header_, 2 * i + 1), other)) {
      return failed();
    }
    one.join(other);
    if (!write_at(file_.get(), place_of(header_, i), one)) return failed();
  }
  samples_ /= 2;
  header_.interval_ps *= 2;
  ++header_.changes;
  if (std::fflush(file_.get()) != 0 ||
      ::ftruncate(::fileno(file_.get()), place_of(header_, samples_)) != 0 || !put_header()) {
    return failed();
  }
  return {};
}

Result<SeriesReader> SeriesReader::open(const std::string& path) {
  RawFile file(std::fopen(path.c_str(), "rb"));
  if (file == nullptr) return Error::run(path + ": " + std::strerror(errno));
  SeriesReader reader(std::move(file), {});
  if (!reader.read_header()) return Error::run(path + " is not the series of a run");
  return reader;
}

bool SeriesReader::read_header() {
  const SeriesHeader expected;
  std::fflush(file_.get());  // Discards what was buffered earlier.
  return std::fseek(file_.get(), 0, SEEK_SET) == 0 &&
         std::fread(&header_, sizeof header_, 1, file_.get()) == 1 &&
         std::memcmp(header_.magic, expected.magic, sizeof header_.magic) == 0;
}

bool SeriesReader::read(std::uint64_t index, SeriesSample& sample) const {
  return read_at(file_.get(), header_, place_of(header_, index), sample);
}

bool SeriesReader::next(SeriesSample& sample) {
  if (!read(at_, sample)) return false;
  begin_ps_ = at_ == 0 ? 0 : end_ps_;
  end_ps_ = sample.head.end_ps;
  ++at_;
  return true;
}

bool SeriesReader::next_after(std::int64_t end_ps, SeriesSample& sample) {
  const std::uint64_t before = header_.changes;
  if (!read_header() || header_.changes % 2 == 1) return false;
  if (header_.changes != before) at_ = 0;
  const std::uint64_t seen = header_.changes;
  do {
    if (!next(sample)) return false;
  } while (sample.head.end_ps <= end_ps);
  // The writer may have merged samples while we read; the result is then invalid.
  if (read_header() && header_.changes == seen) return true;
  at_ = 0;
  return false;
}

}  // namespace weft
