// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

#include <unistd.h>

#include <weft/record/series_file.hpp>
#include <weft/record/series_raw.hpp>

#ifdef WEFT_HDF5
#include <hdf5.h>
#endif

namespace weft {

#ifndef WEFT_HDF5

bool has_hdf5() {
  return false;
}
Status convert_series(const std::string& folder, const Topology&) {
  return Error::run("this weft was built without HDF5; the series stays in " + folder +
                    "/series.raw");
}

#else

namespace {

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using RawFile = std::unique_ptr<std::FILE, CloseFile>;

// An HDF5 object that closes itself.
class Handle {
 public:
  Handle(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
  ~Handle() {
    if (id_ >= 0) close_(id_);
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  operator hid_t() const { return id_; }  // NOLINT(google-explicit-constructor)
  bool good() const { return id_ >= 0; }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

// One row per sample, one column per link or router; grows.
class Table {
 public:
  Table(hid_t file, const char* name, hsize_t columns)
      : columns_(columns), set_(make(file, name, columns), H5Dclose) {}

  bool append(const std::vector<std::uint64_t>& row) {
    const hsize_t size[2] = {rows_ + 1, columns_}, start[2] = {rows_, 0}, count[2] = {1, columns_};
    if (!set_.good() || H5Dset_extent(set_, size) < 0) return false;
    const Handle space(H5Dget_space(set_), H5Sclose);
    const Handle memory(H5Screate_simple(2, count, nullptr), H5Sclose);
    ++rows_;
    return H5Sselect_hyperslab(space, H5S_SELECT_SET, start, nullptr, count, nullptr) >= 0 &&
           H5Dwrite(set_, H5T_NATIVE_UINT64, memory, space, H5P_DEFAULT, row.data()) >= 0;
  }

 private:
  static hid_t make(hid_t file, const char* name, hsize_t columns) {
    const hsize_t size[2] = {0, columns}, most[2] = {H5S_UNLIMITED, columns};
    const hsize_t chunk[2] = {1, std::max<hsize_t>(std::min<hsize_t>(columns, 65536), 1)};
    const Handle space(H5Screate_simple(2, size, most), H5Sclose);
    const Handle how(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    H5Pset_obj_track_times(how, false);  // The same run gives the same bytes.
    H5Pset_chunk(how, 2, chunk);
    H5Pset_shuffle(how);
    H5Pset_deflate(how, 1);
    return H5Dcreate2(file, name, H5T_STD_U64LE, space, H5P_DEFAULT, how, H5P_DEFAULT);
  }
  hsize_t columns_, rows_ = 0;
  Handle set_;
};

template <typename T>
bool write_column(hid_t file, const char* name, hid_t type, const std::vector<T>& values) {
  const hsize_t size = values.size();
  const Handle space(H5Screate_simple(1, &size, nullptr), H5Sclose);
  const Handle how(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  H5Pset_obj_track_times(how, false);
  const Handle set(H5Dcreate2(file, name, type, space, H5P_DEFAULT, how, H5P_DEFAULT), H5Dclose);
  return set.good() && H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) >= 0;
}

bool write_attributes(hid_t file, const Topology& topology, const SeriesHeader& header) {
  const Handle space(H5Screate(H5S_SCALAR), H5Sclose);
  const Handle interval(
      H5Acreate2(file, "interval_ps", H5T_STD_I64LE, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  const Handle text(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(text, topology.name.size() + 1);
  const Handle name(H5Acreate2(file, "network", text, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  return interval.good() && name.good() &&
         H5Awrite(interval, H5T_NATIVE_INT64, &header.interval_ps) >= 0 &&
         H5Awrite(name, text, topology.name.c_str()) >= 0;
}

// Links as they are numbered: from which router to which, at which port of the former.
bool write_links(hid_t file, const Graph& graph) {
  std::vector<std::int32_t> from, to, port;
  for (std::uint32_t r = 0; r < graph.router_count(); ++r) {
    const auto ports = graph.ports(RouterId(r));
    for (std::size_t p = 0; p < ports.size(); ++p) {
      from.push_back(static_cast<std::int32_t>(r));
      port.push_back(static_cast<std::int32_t>(p));
      to.push_back(ports[p].usable() ? static_cast<std::int32_t>(ports[p].peer.index) : -1);
    }
  }
  return write_column(file, "link_from", H5T_NATIVE_INT32, from) &&
         write_column(file, "link_to", H5T_NATIVE_INT32, to) &&
         write_column(file, "link_port", H5T_NATIVE_INT32, port);
}

bool copy_samples(std::FILE* raw, hid_t file, const SeriesHeader& header) {
  Table bytes(file, "bytes", header.links), packets(file, "packets", header.links),
      buffered(file, "buffered", header.routers);
  std::vector<std::int64_t> ends;
  std::vector<LinkSample> row(header.links);
  std::vector<std::uint64_t> column(header.links), levels(header.routers);
  std::int64_t end = 0;
  while (std::fread(&end, sizeof end, 1, raw) == 1) {
    if (std::fread(row.data(), sizeof(LinkSample), row.size(), raw) != row.size() ||
        std::fread(levels.data(), sizeof levels[0], levels.size(), raw) != levels.size()) {
      break;
    }
    ends.push_back(end);
    for (std::size_t i = 0; i < row.size(); ++i) column[i] = row[i].bytes;
    if (!bytes.append(column)) return false;
    for (std::size_t i = 0; i < row.size(); ++i) column[i] = row[i].packets;
    if (!packets.append(column) || !buffered.append(levels)) return false;
  }
  return write_column(file, "end_ps", H5T_NATIVE_INT64, ends);
}

}  // namespace

bool has_hdf5() {
  return true;
}

Status convert_series(const std::string& folder, const Topology& topology) {
  const std::string raw_path = folder + "/series.raw", path = folder + "/series.h5";
  const std::string partial = path + ".part";
  const RawFile raw(std::fopen(raw_path.c_str(), "rb"));
  if (raw == nullptr) return Error::run(raw_path + ": " + std::strerror(errno));
  SeriesHeader header;
  const SeriesHeader expected;
  if (std::fread(&header, sizeof header, 1, raw.get()) != 1 ||
      std::memcmp(header.magic, expected.magic, sizeof header.magic) != 0 ||
      header.links != topology.graph.link_count() ||
      header.routers != topology.graph.router_count()) {
    return Error::run(raw_path + " is not the series of a run on this network");
  }
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  bool good = false;
  {
    const Handle file(H5Fcreate(partial.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT),
                      H5Fclose);
    good = file.good() && write_attributes(file, topology, header) &&
           write_links(file, topology.graph) && copy_samples(raw.get(), file, header) &&
           H5Fflush(file, H5F_SCOPE_LOCAL) >= 0;
  }
  if (!good || std::rename(partial.c_str(), path.c_str()) != 0) {
    std::remove(partial.c_str());
    return Error::run(path + " cannot be written (is the disk full?); the raw series stays in " +
                      raw_path);
  }
  std::remove(raw_path.c_str());
  return {};
}

#endif

}  // namespace weft
