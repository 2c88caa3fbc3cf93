// SPDX-License-Identifier: Apache-2.0
// The small part of HDF5 that records need: lists, texts, and tables that grow row by row.
// The library is loaded with the first file. Its macros that begin with H5T_, H5P_ or H5F_ACC_
// would link it, so they are not used.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include <hdf5.h>

namespace weft::h5 {

// HDF5's own names: lib().H5Fcreate(...), *lib().H5T_NATIVE_INT64_g.
struct Library {
// NOLINTNEXTLINE(bugprone-macro-parentheses): a declaration cannot have them.
#define WEFT_EACH_NAME(name) decltype(&::name) name = nullptr;
#include "h5_names.inc"
#undef WEFT_EACH_NAME
  bool there = false;
};
// Loads it. Without `there` nothing else may be called.
const Library& lib();

// A handle of the HDF5 library that closes itself.
class Handle {
 public:
  Handle(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
  ~Handle() {
    if (id_ >= 0) close_(id_);
  }
  Handle(Handle&& other) noexcept : id_(other.id_), close_(other.close_) { other.id_ = -1; }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  operator hid_t() const { return id_; }  // NOLINT(google-explicit-constructor)
  bool good() const { return id_ >= 0; }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

// Errors are return values; HDF5 prints nothing to standard error.
Handle create_file(const std::string& path);
Handle open_file(const std::string& path);
bool flush(hid_t file);

template <typename T>
hid_t type_of() {
  if constexpr (std::is_same_v<T, std::uint8_t>) {
    return *lib().H5T_NATIVE_UINT8_g;
  } else if constexpr (std::is_same_v<T, std::int32_t>) {
    return *lib().H5T_NATIVE_INT32_g;
  } else if constexpr (std::is_same_v<T, std::uint32_t>) {
    return *lib().H5T_NATIVE_UINT32_g;
  } else if constexpr (std::is_same_v<T, std::int64_t>) {
    return *lib().H5T_NATIVE_INT64_g;
  } else if constexpr (std::is_same_v<T, std::uint64_t>) {
    return *lib().H5T_NATIVE_UINT64_g;
  } else {
    static_assert(std::is_same_v<T, double>);
    return *lib().H5T_NATIVE_DOUBLE_g;
  }
}

bool write_list(hid_t file, const char* name, hid_t type, const void* data, hsize_t size);
template <typename T>
bool write_list(hid_t file, const char* name, const std::vector<T>& values) {
  return write_list(file, name, type_of<T>(), values.data(), values.size());
}
bool write_texts(hid_t file, const char* name, const std::vector<std::string>& texts);
bool write_number(hid_t file, const char* name, std::int64_t value);     // Writes an attribute.
bool write_text(hid_t file, const char* name, const std::string& text);  // Writes an attribute.

// No record has longer lists, but a damaged file may claim so.
inline constexpr hsize_t list_max = hsize_t{1} << 28;
// Returns false if there is no such list or it has another type.
bool list_size(hid_t file, const char* name, hsize_t& size);
bool read_list(hid_t file, const char* name, hid_t type, void* data);
template <typename T>
bool read_list(hid_t file, const char* name, std::vector<T>& values) {
  hsize_t size = 0;
  if (!list_size(file, name, size) || size > list_max) return false;
  values.resize(size);
  return size == 0 || read_list(file, name, type_of<T>(), values.data());
}
bool read_texts(hid_t file, const char* name, std::vector<std::string>& texts);
bool read_number(hid_t file, const char* name, std::int64_t& value);
bool read_text(hid_t file, const char* name, std::string& text);

// A table of numbers.
class Table {
 public:
  static Table create(hid_t file, const char* name, hsize_t columns);
  static Table open(hid_t file, const char* name);

  bool good() const { return set_.good(); }
  hsize_t rows() const { return rows_; }
  hsize_t columns() const { return columns_; }
  bool append(const std::vector<std::uint64_t>& row);
  bool read(hsize_t index, std::vector<std::uint64_t>& row) const;

 private:
  Table(Handle set, hsize_t rows, hsize_t columns)
      : set_(std::move(set)), rows_(rows), columns_(columns) {}
  Handle set_;
  hsize_t rows_, columns_;
};

}  // namespace weft::h5
