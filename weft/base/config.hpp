// SPDX-License-Identifier: Apache-2.0
// A TOML file that records which keys were read. The reader names each key once, with the variable
// that holds its default; a key that was never read is an error that suggests the nearest one.
//
//   auto router = config.table("router");
//   router.get("vcs", settings.vcs, 1, 32);
//   router.get("delay", settings.delay);            // "140 ns": a string with a unit
//   if (auto status = router.finish(); !status) return std::move(status).error();
//
// Errors carry file and line, or the option that overrode the file.
#pragma once  // Public, for all who build on weft: names and meanings stay within 0.1.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <weft/base/result.hpp>
#include <weft/base/units.hpp>

namespace weft {

namespace detail {
struct ConfigState;
struct ConfigTableState;
}  // namespace detail

// A key that was read, with its value: from the file, from an option, or the default.
struct ConfigReading {
  std::string table, key;
  std::string value;   // As a TOML file would say it; empty: there is none.
  bool given = false;  // By the file or an option.
};

// One [table], present or not. Copies share the set of keys that were read and the first error.
class ConfigTable {
 public:
  bool has(std::string_view key) const;  // Does not count as reading the key.

  // `out` keeps its value when the key is absent or wrong; the first error waits for finish().
  void get(std::string_view key, int& out);
  void get(std::string_view key, int& out, int min, int max);
  void get(std::string_view key, std::optional<int>& out, int min, int max);
  void get(std::string_view key, std::int64_t& out);
  void get(std::string_view key, double& out);
  void get(std::string_view key, bool& out);
  void get(std::string_view key, std::string& out);
  void get(std::string_view key, Duration& out);
  void get(std::string_view key, Bytes& out);
  void get(std::string_view key, Rate& out);
  void get(std::string_view key, Length& out);
  void get(std::string_view key, std::vector<int>& out);
  void get(std::string_view key, std::vector<std::string>& out);

  // For the caller's own checks: an error at the line of the key, or of the table if it is absent.
  Error error_at(std::string_view key, std::string message) const;

  // Returns the first error of all gets, or else names the first key that was never read. Tables
  // inside this one are checked by Config::only_tables.
  Status finish();

 private:
  friend class Config;
  explicit ConfigTable(std::shared_ptr<detail::ConfigTableState> state);
  std::shared_ptr<detail::ConfigTableState> state_;
};

class Config {
 public:
  static Result<Config> read_file(const std::string& path);
  static Result<Config> read_text(std::string_view text, std::string name);

  // A copy with keys set as if by the file: "router.vcs=4", "link.rate=8 GB/s" (quotes optional).
  Result<Config> with_overrides(const std::vector<std::string>& overrides) const;

  // "link" or "link.global"; "" names the keys before the first table. An absent table is empty.
  ConfigTable table(std::string_view name) const;
  // The name of a table inside another: [link."A.1-B.2"] is path("link", "A.1-B.2").
  static std::string path(std::string_view table, std::string_view key);
  bool has_table(std::string_view name) const;
  std::vector<std::string> subtables(std::string_view name) const;  // Last path components, sorted.
  // Every table must be listed; "link.*" allows any table directly inside [link], "" allows keys
  // outside all tables.
  Status only_tables(std::span<const std::string_view> known) const;
  const std::string& name() const;

  // All keys that were read so far, in order. A default is recorded when its key is read, so a
  // reader computes defaults that follow from other keys before.
  std::vector<ConfigReading> readings() const;

 private:
  explicit Config(std::shared_ptr<detail::ConfigState> state);
  std::shared_ptr<detail::ConfigState> state_;
};

}  // namespace weft
