// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <filesystem>
#include <utility>

#include <weft/output/record/series_file.hpp>

#ifdef WEFT_HDF5
#include "h5.hpp"
#endif

namespace weft {

bool has_series(const std::string& folder) {
  std::error_code failed;
  return std::filesystem::exists(folder + "/series.h5", failed);
}

namespace {

Status keep_raw(const std::string& folder) {
  std::fprintf(stderr,
               "weft: warning: without the library HDF5 the series stays in %s/series.raw; weft "
               "doctor says what to install\n",
               folder.c_str());
  return {};
}

Error unreadable(const std::string& folder) {
  return Error::run("without the library HDF5 " + folder +
                    "/series.h5 cannot be read; weft doctor says what to install");
}

}  // namespace

#ifndef WEFT_HDF5

bool has_hdf5() {
  return false;
}
Status convert_series(const std::string& folder, const NetworkFacts&) {
  return keep_raw(folder);
}
Result<SeriesFile> read_series(const std::string& folder) {
  return unreadable(folder);
}
Status read_samples(const std::string& folder, const EachSample&) {
  return unreadable(folder);
}

#else

namespace {

// Lists every field once, for reading and writing: visit("name", field).
template <typename Facts, typename Visit>
bool each_list(Facts& facts, Visit&& visit) {
  return visit("radix", facts.radix) && visit("wrap", facts.wrap) &&
         visit("router_level", facts.level) && visit("link_from", facts.link_from) &&
         visit("link_to", facts.link_to) && visit("link_port", facts.link_port) &&
         visit("node_router", facts.node_router) &&
         visit("link_byte_per_s", facts.link_byte_per_s) &&
         visit("router_buffer_bytes", facts.router_buffer_bytes);
}

// The same for what older records lack.
template <typename Facts, typename Visit>
void each_newer_list(Facts& facts, Visit&& visit) {
  visit("injection_byte_per_s", facts.injection_byte_per_s);
  visit("ejection_byte_per_s", facts.ejection_byte_per_s);
  visit("router_group", facts.group);
}

bool write_network(hid_t file, const NetworkFacts& facts) {
  bool newer = true;
  each_newer_list(facts, [&](const char* name, const auto& list) {
    newer = newer && h5::write_list(file, name, list);
  });
  return newer && h5::write_text(file, "network", facts.name) &&
         h5::write_text(file, "family", to_text(facts.family)) &&
         h5::write_number(file, "routers", facts.routers) &&
         each_list(facts, [&](const char* name,
                              const auto& list) { return h5::write_list(file, name, list); }) &&
         h5::write_texts(file, "router_name", facts.names);
}

bool read_network(hid_t file, NetworkFacts& facts) {
  std::string family;
  std::int64_t routers = 0;
  if (!h5::read_text(file, "network", facts.name) || !h5::read_text(file, "family", family) ||
      !h5::read_number(file, "routers", routers) ||
      !each_list(facts,
                 [&](const char* name, auto& list) { return h5::read_list(file, name, list); })) {
    return false;
  }
  each_newer_list(facts, [&](const char* name, auto& list) {
    if (!h5::read_list(file, name, list)) list.clear();
  });
  using Family = NetworkFacts::Family;
  for (const Family known : {Family::cube, Family::tree, Family::graph}) {
    if (family == to_text(known)) facts.family = known;
  }
  facts.routers = static_cast<std::uint32_t>(routers);
  return h5::read_texts(file, "router_name", facts.names);
}

// Checks what pictures rely on: the file may come from elsewhere.
bool is_sound(const NetworkFacts& facts) {
  const auto in_range = [&](const std::vector<std::int32_t>& list, std::int32_t least) {
    for (const std::int32_t value : list) {
      if (value < least || value >= static_cast<std::int64_t>(facts.routers)) return false;
    }
    return true;
  };
  std::size_t cells = 1;
  for (const std::int32_t radix : facts.radix) {
    if (radix < 1 || cells > facts.routers) return false;
    cells *= static_cast<std::size_t>(radix);
  }
  using Family = NetworkFacts::Family;
  const std::size_t nodes = facts.node_router.size();
  for (const auto* rates : {&facts.injection_byte_per_s, &facts.ejection_byte_per_s}) {
    if (!rates->empty() && rates->size() != nodes) return false;
  }
  return facts.link_to.size() == facts.links() && facts.link_port.size() == facts.links() &&
         facts.link_byte_per_s.size() == facts.links() &&
         facts.router_buffer_bytes.size() == facts.routers && in_range(facts.link_from, 0) &&
         in_range(facts.link_to, -1) && in_range(facts.node_router, 0) &&
         facts.wrap.size() == facts.radix.size() && in_range(facts.group, 0) &&
         (facts.group.empty() || facts.group.size() == facts.routers) &&
         (facts.family != Family::cube || (!facts.radix.empty() && cells == facts.routers)) &&
         (facts.family != Family::tree || facts.level.size() == facts.routers) &&
         (facts.family == Family::cube || facts.names.size() == facts.routers);
}

// The two tables of one kind of link.
class LinkTables {
 public:
  LinkTables(hid_t file, const std::string& prefix, hsize_t columns)
      : bytes_(h5::Table::create(file, (prefix + "bytes").c_str(), columns)),
        packets_(h5::Table::create(file, (prefix + "packets").c_str(), columns)) {}

  bool append(const std::vector<LinkSample>& samples) {
    row_.resize(samples.size());
    for (std::size_t i = 0; i < row_.size(); ++i) row_[i] = samples[i].bytes;
    if (!bytes_.append(row_)) return false;
    for (std::size_t i = 0; i < row_.size(); ++i) row_[i] = samples[i].packets;
    return packets_.append(row_);
  }

 private:
  h5::Table bytes_, packets_;
  std::vector<std::uint64_t> row_;
};

bool copy_samples(SeriesReader& raw, hid_t file) {
  LinkTables links(file, "", raw.header().links), injected(file, "injected_", raw.header().nodes),
      ejected(file, "ejected_", raw.header().nodes);
  h5::Table buffered = h5::Table::create(file, "buffered", raw.header().routers);
  std::vector<std::int64_t> ends;
  std::vector<std::uint64_t> messages, sent;
  for (SeriesSample sample; raw.next(sample);) {
    ends.push_back(sample.head.end_ps);
    messages.push_back(sample.head.messages);
    sent.push_back(sample.head.bytes);
    if (!links.append(sample.links) || !buffered.append(sample.buffers) ||
        !injected.append(sample.injected) || !ejected.append(sample.ejected)) {
      return false;
    }
  }
  return h5::write_list(file, "end_ps", ends) && h5::write_list(file, "messages", messages) &&
         h5::write_list(file, "bytes_sent", sent);
}

Error damaged(const std::string& folder) {
  return Error::input(folder +
                      "/series.h5 is not the series of a run, or was cut short; run weft "
                      "sim --series again");
}

}  // namespace

bool has_hdf5() {
  return h5::lib().there;
}

Status convert_series(const std::string& folder, const NetworkFacts& network) {
  if (!has_hdf5()) return keep_raw(folder);
  const std::string raw_path = folder + "/series.raw", path = folder + "/series.h5";
  const std::string partial = path + ".part";
  auto raw = SeriesReader::open(raw_path);
  if (!raw) return std::move(raw).error();
  if (raw->header().links != network.links() || raw->header().routers != network.routers ||
      raw->header().nodes != network.node_router.size())
    return Error::run(raw_path + " is not the series of a run on this network");
  bool good = false;
  {
    const h5::Handle file = h5::create_file(partial);
    good = file.good() && h5::write_number(file, "interval_ps", raw->header().interval_ps) &&
           write_network(file, network) && copy_samples(*raw, file) && h5::flush(file);
  }
  if (!good || std::rename(partial.c_str(), path.c_str()) != 0) {
    std::remove(partial.c_str());
    return Error::run(path + " cannot be written (is the disk full?); the raw series stays in " +
                      raw_path);
  }
  std::remove(raw_path.c_str());
  return {};
}

Result<SeriesFile> read_series(const std::string& folder) {
  if (!has_hdf5()) return unreadable(folder);
  const h5::Handle file = h5::open_file(folder + "/series.h5");
  SeriesFile series;
  if (!file.good() || !read_network(file, series.network) || !is_sound(series.network) ||
      !h5::read_number(file, "interval_ps", series.interval_ps) ||
      !h5::read_list(file, "end_ps", series.end_ps) ||
      !h5::read_list(file, "messages", series.messages) ||
      !h5::read_list(file, "bytes_sent", series.bytes_sent)) {
    return damaged(folder);
  }
  const h5::Table bytes = h5::Table::open(file, "bytes"),
                  buffered = h5::Table::open(file, "buffered");
  const std::size_t samples = series.end_ps.size();
  if (bytes.rows() != samples || bytes.columns() != series.network.links() ||
      buffered.rows() != samples || buffered.columns() != series.network.routers ||
      series.messages.size() != samples || series.bytes_sent.size() != samples) {
    return damaged(folder);
  }
  for (const auto& [name, rates] :
       {std::pair{"injected_bytes", &series.network.injection_byte_per_s},
        {"ejected_bytes", &series.network.ejection_byte_per_s}}) {
    const h5::Table table = h5::Table::open(file, name);
    if (!rates->empty() && (table.rows() != samples || table.columns() != rates->size()))
      return damaged(folder);
  }
  return series;
}

Status read_samples(const std::string& folder, const EachSample& each) {
  if (!has_hdf5()) return unreadable(folder);
  const h5::Handle file = h5::open_file(folder + "/series.h5");
  if (!file.good()) return damaged(folder);
  const h5::Table bytes = h5::Table::open(file, "bytes"),
                  buffered = h5::Table::open(file, "buffered"),
                  injected = h5::Table::open(file, "injected_bytes"),
                  ejected = h5::Table::open(file, "ejected_bytes");
  SeriesRow row;
  for (hsize_t i = 0; i < bytes.rows(); ++i) {
    if (!bytes.read(i, row.links) || !buffered.read(i, row.buffers) ||
        (injected.good() && !injected.read(i, row.injected)) ||
        (ejected.good() && !ejected.read(i, row.ejected))) {
      return damaged(folder);
    }
    each(i, row);
  }
  return {};
}

#endif

}  // namespace weft
