// SPDX-License-Identifier: Apache-2.0
#include "h5.hpp"

#include <algorithm>

#include <weft/base/loaded_library.hpp>

namespace weft::h5 {

namespace {

constexpr unsigned overwrite = 2, read_only = 0;  // H5F_ACC_TRUNC, H5F_ACC_RDONLY

Library load() {
  Library names;
  LoadedLibrary library(WEFT_HDF5);
#define WEFT_EACH_NAME(name) library.find(#name, names.name);
#include "h5_names.inc"
#undef WEFT_EACH_NAME
  // Its variables have their values from then on.
  names.there = library.is_complete() && names.H5open() >= 0;
  return names;
}

Handle text_type(std::size_t size) {
  Handle type(lib().H5Tcopy(*lib().H5T_C_S1_g), lib().H5Tclose);
  lib().H5Tset_size(type, std::max<std::size_t>(size, 1));
  return type;
}

// No time stamps: the same run gives the same bytes.
Handle without_time_stamps() {
  Handle how(lib().H5Pcreate(*lib().H5P_CLS_DATASET_CREATE_ID_g), lib().H5Pclose);
  lib().H5Pset_obj_track_times(how, false);
  return how;
}

void compress(hid_t how, int dimensions, const hsize_t* chunk) {
  lib().H5Pset_chunk(how, dimensions, chunk);
  lib().H5Pset_shuffle(how);
  lib().H5Pset_deflate(how, 1);
}

bool put_attribute(hid_t file, const char* name, hid_t type, const void* value) {
  const Handle space(lib().H5Screate(H5S_SCALAR), lib().H5Sclose);
  const Handle attribute(lib().H5Acreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT),
                         lib().H5Aclose);
  return attribute.good() && lib().H5Awrite(attribute, type, value) >= 0;
}

bool exists(hid_t file, const char* name) {
  return lib().H5Lexists(file, name, H5P_DEFAULT) > 0;
}

}  // namespace

const Library& lib() {
  static const Library library = load();
  return library;
}

Handle create_file(const std::string& path) {
  lib().H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  return {lib().H5Fcreate(path.c_str(), overwrite, H5P_DEFAULT, H5P_DEFAULT), lib().H5Fclose};
}

Handle open_file(const std::string& path) {
  lib().H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  return {lib().H5Fopen(path.c_str(), read_only, H5P_DEFAULT), lib().H5Fclose};
}

bool flush(hid_t file) {
  return lib().H5Fflush(file, H5F_SCOPE_LOCAL) >= 0;
}

bool write_list(hid_t file, const char* name, hid_t type, const void* data, hsize_t size) {
  const Handle space(lib().H5Screate_simple(1, &size, nullptr), lib().H5Sclose);
  const Handle how = without_time_stamps();
  constexpr hsize_t chunk_max = 65536, worth_packing = 4096;
  if (size > worth_packing) {
    const hsize_t chunk = std::min(size, chunk_max);
    compress(how, 1, &chunk);
  }
  const Handle set(lib().H5Dcreate2(file, name, type, space, H5P_DEFAULT, how, H5P_DEFAULT),
                   lib().H5Dclose);
  if (!set.good()) return false;
  return size == 0 || lib().H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0;
}

bool write_texts(hid_t file, const char* name, const std::vector<std::string>& texts) {
  std::size_t longest = 1;
  for (const std::string& text : texts) longest = std::max(longest, text.size());
  std::string all;
  for (const std::string& text : texts) {
    all += text;
    all.append(longest - text.size(), '\0');
  }
  const Handle type = text_type(longest);
  return write_list(file, name, type, all.data(), texts.size());
}

bool write_number(hid_t file, const char* name, std::int64_t value) {
  return put_attribute(file, name, *lib().H5T_NATIVE_INT64_g, &value);
}

bool write_text(hid_t file, const char* name, const std::string& text) {
  return put_attribute(file, name, text_type(text.size() + 1), text.c_str());
}

bool list_size(hid_t file, const char* name, hsize_t& size) {
  if (!exists(file, name)) return false;
  const Handle set(lib().H5Dopen2(file, name, H5P_DEFAULT), lib().H5Dclose);
  if (!set.good()) return false;
  const Handle space(lib().H5Dget_space(set), lib().H5Sclose);
  return lib().H5Sget_simple_extent_ndims(space) == 1 &&
         lib().H5Sget_simple_extent_dims(space, &size, nullptr) == 1;
}

bool read_list(hid_t file, const char* name, hid_t type, void* data) {
  const Handle set(lib().H5Dopen2(file, name, H5P_DEFAULT), lib().H5Dclose);
  return set.good() && lib().H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0;
}

bool read_texts(hid_t file, const char* name, std::vector<std::string>& texts) {
  hsize_t size = 0;
  if (!list_size(file, name, size)) return false;
  std::size_t width = 0;
  {
    const Handle set(lib().H5Dopen2(file, name, H5P_DEFAULT), lib().H5Dclose);
    const Handle type(lib().H5Dget_type(set), lib().H5Tclose);
    if (lib().H5Tget_class(type) != H5T_STRING || lib().H5Tis_variable_str(type) > 0) return false;
    width = lib().H5Tget_size(type);
  }
  constexpr std::size_t width_max = 4096;
  if (size > list_max || width > width_max) return false;
  std::string all(size * width, '\0');
  if (size > 0 && !read_list(file, name, text_type(width), all.data())) return false;
  texts.clear();
  for (hsize_t i = 0; i < size; ++i) {
    const std::string text = all.substr(i * width, width);
    texts.push_back(text.substr(0, text.find('\0')));
  }
  return true;
}

bool read_number(hid_t file, const char* name, std::int64_t& value) {
  if (lib().H5Aexists(file, name) <= 0) return false;
  const Handle attribute(lib().H5Aopen(file, name, H5P_DEFAULT), lib().H5Aclose);
  return attribute.good() && lib().H5Aread(attribute, *lib().H5T_NATIVE_INT64_g, &value) >= 0;
}

bool read_text(hid_t file, const char* name, std::string& text) {
  if (lib().H5Aexists(file, name) <= 0) return false;
  const Handle attribute(lib().H5Aopen(file, name, H5P_DEFAULT), lib().H5Aclose);
  if (!attribute.good()) return false;
  const Handle type(lib().H5Aget_type(attribute), lib().H5Tclose);
  if (lib().H5Tget_class(type) != H5T_STRING || lib().H5Tis_variable_str(type) > 0) return false;
  text.assign(lib().H5Tget_size(type), '\0');
  if (lib().H5Aread(attribute, type, text.data()) < 0) return false;
  text.resize(std::min(text.find('\0'), text.size()));
  return true;
}

Table Table::create(hid_t file, const char* name, hsize_t columns) {
  const hsize_t size[2] = {0, columns}, most[2] = {H5S_UNLIMITED, columns};
  const hsize_t chunk[2] = {1, std::max<hsize_t>(std::min<hsize_t>(columns, 65536), 1)};
  const Handle space(lib().H5Screate_simple(2, size, most), lib().H5Sclose);
  const Handle how = without_time_stamps();
  compress(how, 2, chunk);
  return {
      {lib().H5Dcreate2(file, name, *lib().H5T_STD_U64LE_g, space, H5P_DEFAULT, how, H5P_DEFAULT),
       lib().H5Dclose},
      0,
      columns};
}

Table Table::open(hid_t file, const char* name) {
  Handle set(exists(file, name) ? lib().H5Dopen2(file, name, H5P_DEFAULT) : -1, lib().H5Dclose);
  hsize_t size[2] = {0, 0};
  if (set.good()) {
    const Handle space(lib().H5Dget_space(set), lib().H5Sclose);
    if (lib().H5Sget_simple_extent_ndims(space) != 2 ||
        lib().H5Sget_simple_extent_dims(space, size, nullptr) != 2) {
      return {{-1, lib().H5Dclose}, 0, 0};
    }
  }
  return {std::move(set), size[0], size[1]};
}

bool Table::append(const std::vector<std::uint64_t>& row) {
  const hsize_t size[2] = {rows_ + 1, columns_}, start[2] = {rows_, 0}, count[2] = {1, columns_};
  if (!set_.good() || lib().H5Dset_extent(set_, size) < 0) return false;
  const Handle space(lib().H5Dget_space(set_), lib().H5Sclose);
  const Handle memory(lib().H5Screate_simple(2, count, nullptr), lib().H5Sclose);
  ++rows_;
  return lib().H5Sselect_hyperslab(space, H5S_SELECT_SET, start, nullptr, count, nullptr) >= 0 &&
         lib().H5Dwrite(set_, *lib().H5T_NATIVE_UINT64_g, memory, space, H5P_DEFAULT, row.data()) >=
             0;
}

bool Table::read(hsize_t index, std::vector<std::uint64_t>& row) const {
  const hsize_t start[2] = {index, 0}, count[2] = {1, columns_};
  row.resize(columns_);
  const Handle space(lib().H5Dget_space(set_), lib().H5Sclose);
  const Handle memory(lib().H5Screate_simple(2, count, nullptr), lib().H5Sclose);
  return lib().H5Sselect_hyperslab(space, H5S_SELECT_SET, start, nullptr, count, nullptr) >= 0 &&
         lib().H5Dread(set_, *lib().H5T_NATIVE_UINT64_g, memory, space, H5P_DEFAULT, row.data()) >=
             0;
}

}  // namespace weft::h5
