// SPDX-License-Identifier: Apache-2.0
#include "weft/base/config.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <toml++/toml.h>

#include <weft/base/file.hpp>
#include <weft/base/quantity.hpp>
#include <weft/base/text.hpp>

namespace weft {

namespace detail {

struct ConfigState {
  std::string name;
  std::string text;  // Kept because a copied toml::table forgets its line numbers.
  toml::table root;
  // Maps the path of each overridden key to the option as the user wrote it, for error messages.
  std::map<std::string, std::string, std::less<>> overridden;
  // Keys that were read, per table. Two readers of one table share this, so neither reports the
  // other's keys as unknown.
  std::map<std::string, std::set<std::string, std::less<>>, std::less<>> asked;
  std::vector<ConfigReading> readings;
};

struct ConfigTableState {
  std::shared_ptr<ConfigState> config;
  const toml::table* table;  // Null when the file has no such table.
  std::string path;
  std::optional<Error> first_error;

  void fail(Error error) {
    if (!first_error) first_error = std::move(error);
  }
};

}  // namespace detail

namespace {

using detail::ConfigState;
using detail::ConfigTableState;

bool is_bare(std::string_view key) {
  return !key.empty() && std::all_of(key.begin(), key.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
  });
}

// As TOML writes it: a key that is more than a word stands in quotes.
std::string joined(std::string_view path, std::string_view key) {
  const std::string step = is_bare(key) ? std::string(key) : fmt::format("\"{}\"", key);
  return path.empty() ? step : fmt::format("{}.{}", path, step);
}

// The steps of such a path, without quotes.
std::vector<std::string_view> steps_of(std::string_view path) {
  std::vector<std::string_view> steps;
  while (!path.empty()) {
    const bool quoted = path.front() == '"';
    if (quoted) path.remove_prefix(1);
    const std::size_t end = std::min(path.find(quoted ? '"' : '.'), path.size());
    steps.push_back(path.substr(0, end));
    path.remove_prefix(std::min(path.size(), end + (quoted ? 2 : 1)));
  }
  return steps;
}

std::string where(std::string_view path) {
  return path.empty() ? "outside all tables" : fmt::format("in [{}]", path);
}

int line_of(const toml::node& node) {
  return static_cast<int>(node.source().begin.line);
}

// An error at a path. It names the file, or the option that overrode the file at that path.
Error error_for(const ConfigState& config, std::string_view path, int line, std::string message) {
  auto option = config.overridden.find(path);
  // A table without a line number was created by the first option that put a key into it.
  if (option == config.overridden.end() && line == 0) {
    option = config.overridden.lower_bound(fmt::format("{}.", path));
    if (option != config.overridden.end() && !option->first.starts_with(fmt::format("{}.", path)))
      option = config.overridden.end();
  }
  if (option != config.overridden.end())
    return Error::call(fmt::format("option '{}': {}",
                                   option->second.substr(option->second.rfind('\n') + 1), message));
  return Error::input(std::move(message)).at(config.name, line);
}

// The node at a dotted path; null when a step is missing or leads through something else.
const toml::node* find_node(const toml::table& root, std::string_view path) {
  const toml::node* node = &root;
  for (const std::string_view step : steps_of(path)) {
    const toml::table* table = node->as_table();
    node = table == nullptr ? nullptr : table->get(step);
    if (node == nullptr) return nullptr;
  }
  return node;
}

std::string one_line(std::string_view text) {
  std::string line(trim(text));
  std::replace(line.begin(), line.end(), '\n', ' ');
  return line;
}

// toml++ throws; this function turns its exceptions into errors.
Result<toml::table> parse_toml(std::string_view text, const std::string& name) {
  try {
    return toml::parse(text);
  } catch (const toml::parse_error& failure) {
    return Error::input(one_line(failure.description()))
        .at(name, static_cast<int>(failure.source().begin.line));
  }
}

std::string_view type_name(const toml::node& node) {
  switch (node.type()) {
    case toml::node_type::table:
      return "a table";
    case toml::node_type::array:
      return "a list";
    case toml::node_type::string:
      return "text";
    case toml::node_type::integer:
      return "a whole number";
    case toml::node_type::floating_point:
      return "a number with a fraction";
    case toml::node_type::boolean:
      return "true or false";
    default:
      return "a date or time";
  }
}

std::string toml_text(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}
std::string toml_text(bool value) {
  return value ? "true" : "false";
}
std::string toml_text(std::int64_t value) {
  return std::to_string(value);
}
std::string toml_text(int value) {
  return std::to_string(value);
}
std::string toml_text(double value) {
  return fmt::format("{}", value);
}
template <typename Quantity>
std::string toml_text(const Quantity& value) {
  return '"' + to_text(value) + '"';
}
template <typename T>
std::string toml_text(const std::vector<T>& values) {
  std::string out;
  for (const T& value : values) out += (out.empty() ? "" : ", ") + toml_text(value);
  return "[" + out + "]";
}

// Records the value that the reader now has, for Config::readings.
void note(ConfigTableState& state, std::string_view key, std::string value) {
  auto& all = state.config->readings;
  const bool given = state.table != nullptr && state.table->contains(key);
  const auto known = std::find_if(all.begin(), all.end(), [&](const ConfigReading& reading) {
    return reading.table == state.path && reading.key == key;
  });
  if (known != all.end()) {
    known->value = std::move(value);
  } else {
    all.push_back({state.path, std::string(key), std::move(value), given});
  }
}

// Records that the key was read and returns its node, or null.
const toml::node* ask(ConfigTableState& state, std::string_view key) {
  state.config->asked[state.path].emplace(key);
  return state.table == nullptr ? nullptr : state.table->get(key);
}

Error error_in(const ConfigTableState& state, std::string_view key, std::string message) {
  const toml::node* node = state.table == nullptr ? nullptr : state.table->get(key);
  int line = 0;
  if (node != nullptr) {
    line = line_of(*node);
  } else if (state.table != nullptr && !state.path.empty()) {
    line = line_of(*state.table);
  }
  const std::string path = key.empty() ? state.path : joined(state.path, key);
  return error_for(*state.config, path, line, std::move(message));
}

void fail_type(ConfigTableState& state, std::string_view key, const toml::node& node,
               std::string_view wanted) {
  state.fail(error_in(
      state, key,
      fmt::format("'{}' {} must be {}, not {}", key, where(state.path), wanted, type_name(node))));
}

// Reads a scalar of a TOML type.
template <typename T>
void get_plain(ConfigTableState& state, std::string_view key, T& out, std::string_view wanted) {
  const toml::node* node = ask(state, key);
  if (node == nullptr) return note(state, key, toml_text(out));
  if (const auto value = node->value_exact<T>()) {
    out = *value;
    note(state, key, toml_text(out));
  } else {
    fail_type(state, key, *node, wanted);
  }
}

// Reads a quantity: text with a unit.
template <typename T, typename Parse>
void get_quantity(ConfigTableState& state, std::string_view key, T& out, Parse parse,
                  std::string_view wanted) {
  const toml::node* node = ask(state, key);
  if (node == nullptr) return note(state, key, toml_text(out));
  std::string text;
  if (const auto given = node->value_exact<std::string>()) {
    text = *given;
  } else if (node->is_number()) {
    // A bare number goes to the parser too, which then says that the unit is missing.
    text = node->is_integer() ? fmt::format("{}", *node->value<std::int64_t>())
                              : fmt::format("{}", *node->value<double>());
  } else {
    return fail_type(state, key, *node, wanted);
  }
  Result<T> value = parse(text);
  if (value) {
    out = *value;
    note(state, key, toml_text(out));
  } else {
    state.fail(error_in(
        state, key, fmt::format("'{}' {}: {}", key, where(state.path), value.error().message())));
  }
}

template <typename T>
void get_list(ConfigTableState& state, std::string_view key, std::vector<T>& out,
              std::string_view wanted) {
  using Stored = std::conditional_t<std::is_same_v<T, int>, std::int64_t, T>;
  const toml::node* node = ask(state, key);
  if (node == nullptr) return note(state, key, toml_text(out));
  const toml::array* array = node->as_array();
  if (array == nullptr) return fail_type(state, key, *node, wanted);
  std::vector<T> values;
  for (const toml::node& item : *array) {
    const auto value = item.value_exact<Stored>();
    if (!value) {
      state.fail(error_in(state, key,
                          fmt::format("'{}' {} must be {}, but contains {}", key, where(state.path),
                                      wanted, type_name(item))));
      return;
    }
    if constexpr (std::is_same_v<T, int>) {
      if (!std::in_range<int>(*value)) {
        state.fail(error_in(
            state, key, fmt::format("'{}' {}: {} is too large", key, where(state.path), *value)));
        return;
      }
      values.push_back(static_cast<int>(*value));
    } else {
      values.push_back(*value);
    }
  }
  out = std::move(values);
  note(state, key, toml_text(out));
}

struct Unknown {
  int line = std::numeric_limits<int>::max();
  std::string path;
  std::string message;
};

// The tables that Config::only_tables was given.
class KnownTables {
 public:
  explicit KnownTables(std::span<const std::string_view> patterns) : patterns_(patterns) {}

  // "a.b" itself, or any table inside "a" by "a.*".
  bool listed(std::string_view path) const {
    if (has(path)) return true;
    const std::vector<std::string_view> steps = steps_of(path);
    std::string parent;
    for (std::size_t i = 0; i + 1 < steps.size(); ++i) parent = joined(parent, steps[i]);
    return steps.size() > 1 && has(fmt::format("{}.*", parent));
  }
  // [a.b] makes an [a] that nobody wrote; it is fine as long as it has no keys.
  bool leads_to_listed(std::string_view path) const {
    const std::string start = fmt::format("{}.", path);
    return std::any_of(patterns_.begin(), patterns_.end(),
                       [&](std::string_view pattern) { return pattern.starts_with(start); });
  }
  std::string suggestion(std::string_view path) const {
    std::vector<std::string_view> names;
    for (const std::string_view pattern : patterns_)
      if (!pattern.empty() && !pattern.ends_with('*')) names.push_back(pattern);
    return suggest(path, names);
  }

 private:
  bool has(std::string_view name) const {
    return std::find(patterns_.begin(), patterns_.end(), name) != patterns_.end();
  }
  std::span<const std::string_view> patterns_;
};

// Finds the first unknown table or key in the file.
void find_unknown(const toml::table& table, const std::string& path, const KnownTables& known,
                  Unknown& first) {
  for (const auto& [key, node] : table) {
    const std::string inner = joined(path, key.str());
    const toml::table* child = node.as_table();
    const bool fine =
        child == nullptr ? known.listed(path) : known.listed(inner) || known.leads_to_listed(inner);
    if (!fine && line_of(node) < first.line)
      first = {line_of(node), inner,
               child == nullptr
                   ? fmt::format("unknown key '{}' {}", key.str(), where(path))
                   : fmt::format("unknown table [{}]{}", inner, known.suggestion(inner))};
    if (fine && child != nullptr) find_unknown(*child, inner, known, first);
  }
}

// An option "table.key=value", or "table.key+=value" for one more of a list.
struct Override {
  std::vector<std::string> steps;
  std::string_view value;
  bool append = false;
};

// "link(A,B)" is "link" and "A-B", a cable by the names of its ends, which may hold any sign.
std::optional<std::vector<std::string>> override_steps(std::string_view key) {
  std::vector<std::string> steps;
  if (const std::size_t open = key.find('('); open != std::string_view::npos) {
    const std::size_t close = key.rfind(").");
    if (close == std::string_view::npos || close < open) return std::nullopt;
    const std::string_view ends = key.substr(open + 1, close - open - 1);
    int depth = 0;
    std::size_t comma = 0;
    while (comma < ends.size() && (depth > 0 || ends[comma] != ',')) {
      depth += ends[comma] == '(' ? 1 : ends[comma] == ')' ? -1 : 0;
      ++comma;
    }
    if (comma + 1 >= ends.size()) return std::nullopt;
    steps = {std::string(key.substr(0, open)),
             fmt::format("{}-{}", trim(ends.substr(0, comma)), trim(ends.substr(comma + 1)))};
    if (!is_bare(steps[0])) return std::nullopt;
    key = key.substr(close + 2);
  }
  for (const std::string_view step : split(key, '.')) {
    if (!is_bare(step)) return std::nullopt;
    steps.emplace_back(step);
  }
  return steps;
}

Result<Override> split_override(std::string_view option) {
  const std::size_t equals = option.find('=');
  const auto malformed = [&] {
    return Error::call(fmt::format("option '{}' must look like table.key=value", option));
  };
  if (equals == std::string_view::npos || option.find('\n') != std::string_view::npos)
    return malformed();
  Override made;
  made.append = equals > 0 && option[equals - 1] == '+';
  const auto steps = override_steps(trim(option.substr(0, made.append ? equals - 1 : equals)));
  made.value = trim(option.substr(equals + 1));
  if (!steps || made.value.empty()) return malformed();
  made.steps = *steps;
  return made;
}

// Puts one more text into a list, which need not be there yet.
Status append_text(toml::table& table, const std::string& key, std::string_view text,
                   const std::string& option) {
  const auto [place, made] = table.emplace<toml::array>(key);
  toml::array* const list = place->second.as_array();
  if (list == nullptr)
    return Error::call(fmt::format("option '{}': '{}' is not a list", option, key));
  list->push_back(std::string(text));
  return {};
}

Status assign(toml::table& table, const std::string& key, std::string_view value,
              const std::string& option) {
  auto parsed = parse_toml(fmt::format("value = {}", value), "option");
  if (parsed && parsed->size() == 1) {
    table.insert_or_assign(key, std::move(*parsed->get("value")));
    return {};
  }
  if (std::string_view("\"'[{").find(value.front()) != std::string_view::npos)
    return Error::call(fmt::format("option '{}': {}", option,
                                   parsed ? "one value is needed" : parsed.error().message()));
  table.insert_or_assign(key, std::string(value));  // The shell removed the quotes.
  return {};
}

// Sets the value and creates missing tables along its path.
Status override_key(ConfigState& config, const std::string& option) {
  const auto parts = split_override(option);
  if (!parts) return Error(parts.error());
  toml::table* table = &config.root;
  std::string path;
  for (std::size_t i = 0; i + 1 < parts->steps.size(); ++i) {
    path = joined(path, parts->steps[i]);
    const auto [place, made] = table->emplace<toml::table>(parts->steps[i]);
    table = place->second.as_table();
    if (table == nullptr)
      return Error::call(fmt::format("option '{}': '{}' is a key, not a table", option, path));
  }
  const std::string& key = parts->steps.back();
  if (Status s = parts->append ? append_text(*table, key, parts->value, option)
                               : assign(*table, key, parts->value, option);
      !s)
    return s;
  std::string& known = config.overridden[joined(path, key)];
  // All of them are needed to make the same again.
  known = parts->append && !known.empty() ? known + "\n" + option : option;
  return {};
}

}  // namespace

ConfigTable::ConfigTable(std::shared_ptr<ConfigTableState> state) : state_(std::move(state)) {}

bool ConfigTable::has(std::string_view key) const {
  return state_->table != nullptr && state_->table->contains(key);
}

void ConfigTable::get(std::string_view key, int& out) {
  get(key, out, std::numeric_limits<int>::min(), std::numeric_limits<int>::max());
}

void ConfigTable::get(std::string_view key, int& out, int min, int max) {
  std::int64_t value = out;
  const bool failed_before = state_->first_error.has_value();
  get(key, value);
  if (!has(key) || (!failed_before && state_->first_error)) return;
  if (value < min || value > max) {
    state_->fail(error_at(key, fmt::format("'{}' {} must be from {} to {}, not {}", key,
                                           where(state_->path), min, max, value)));
    return;
  }
  out = static_cast<int>(value);
}

void ConfigTable::get(std::string_view key, std::optional<int>& out, int min, int max) {
  int value = out.value_or(0);
  get(key, value, min, max);
  if (has(key)) out = value;
  if (!out) note(*state_, key, "");
}

void ConfigTable::get(std::string_view key, std::int64_t& out) {
  get_plain(*state_, key, out, "a whole number");
}

void ConfigTable::get(std::string_view key, double& out) {
  const toml::node* node = ask(*state_, key);
  if (node == nullptr) return note(*state_, key, toml_text(out));
  const auto value = node->is_number() ? node->value<double>() : std::nullopt;
  if (value && std::isfinite(*value)) {
    out = *value;
    note(*state_, key, toml_text(out));
  } else if (value) {
    state_->fail(error_at(key, fmt::format("'{}' {} must be finite", key, where(state_->path))));
  } else {
    fail_type(*state_, key, *node, "a number");
  }
}

void ConfigTable::get(std::string_view key, bool& out) {
  get_plain(*state_, key, out, "true or false");
}

void ConfigTable::get(std::string_view key, std::string& out) {
  get_plain(*state_, key, out, "text in quotes");
}

void ConfigTable::get(std::string_view key, Duration& out) {
  get_quantity(*state_, key, out, parse_duration, "a duration such as '140 ns'");
}

void ConfigTable::get(std::string_view key, Bytes& out) {
  get_quantity(*state_, key, out, parse_bytes, "a size such as '256 B'");
}

void ConfigTable::get(std::string_view key, Rate& out) {
  get_quantity(*state_, key, out, parse_rate, "a rate such as '8 GB/s'");
}

void ConfigTable::get(std::string_view key, Length& out) {
  get_quantity(*state_, key, out, parse_length, "a length such as '5 m'");
}

void ConfigTable::get(std::string_view key, std::vector<int>& out) {
  get_list(*state_, key, out, "a list of whole numbers");
}

void ConfigTable::get(std::string_view key, std::vector<std::string>& out) {
  get_list(*state_, key, out, "a list of texts");
}

Error ConfigTable::error_at(std::string_view key, std::string message) const {
  return error_in(*state_, key, std::move(message));
}

Status ConfigTable::finish() {
  if (state_->first_error) return *state_->first_error;
  if (state_->table == nullptr) return {};
  const auto& asked = state_->config->asked[state_->path];
  const std::vector<std::string_view> known(asked.begin(), asked.end());
  const toml::key* unknown = nullptr;
  int line = std::numeric_limits<int>::max();
  for (const auto& [key, node] : *state_->table) {
    if (node.is_table() || asked.contains(key.str()) || line_of(node) >= line) continue;
    unknown = &key;
    line = line_of(node);
  }
  if (unknown == nullptr) return {};
  return error_at(unknown->str(), fmt::format("unknown key '{}' {}{}", unknown->str(),
                                              where(state_->path), suggest(unknown->str(), known)));
}

Config::Config(std::shared_ptr<ConfigState> state) : state_(std::move(state)) {}

Result<Config> Config::read_file(const std::string& path) {
  auto text = weft::read_file(path);
  if (!text) return std::move(text).error();
  return read_text(*text, path);
}

Result<Config> Config::read_text(std::string_view text, std::string name) {
  auto root = parse_toml(text, name);
  if (!root) return std::move(root).error();
  auto state = std::make_shared<ConfigState>();
  state->name = std::move(name);
  state->text = text;
  state->root = *std::move(root);
  return Config(std::move(state));
}

Result<Config> Config::with_overrides(const std::vector<std::string>& overrides) const {
  auto fresh = read_text(state_->text, state_->name);
  if (!fresh) return fresh;
  for (const auto& [path, options] : state_->overridden)
    for (const std::string_view option : split(options, '\n'))
      if (auto status = override_key(*fresh->state_, std::string(option)); !status)
        return std::move(status).error();
  for (const std::string& option : overrides)
    if (auto status = override_key(*fresh->state_, option); !status)
      return std::move(status).error();
  return fresh;
}

ConfigTable Config::table(std::string_view name) const {
  auto made = std::make_shared<ConfigTableState>();
  made->config = state_;
  made->path = name;
  const toml::node* node = find_node(state_->root, name);
  made->table = node == nullptr ? nullptr : node->as_table();
  if (node != nullptr && made->table == nullptr)
    made->fail(error_for(*state_, name, line_of(*node),
                         fmt::format("'{}' must be a table, not {}", name, type_name(*node))));
  return ConfigTable(std::move(made));
}

std::string Config::path(std::string_view table, std::string_view key) {
  return joined(table, key);
}

bool Config::has_table(std::string_view name) const {
  const toml::node* node = find_node(state_->root, name);
  return node != nullptr && node->is_table();
}

std::vector<std::string> Config::subtables(std::string_view name) const {
  std::vector<std::string> names;
  const toml::node* node = find_node(state_->root, name);
  if (node == nullptr || !node->is_table()) return names;
  for (const auto& [key, child] : *node->as_table())
    if (child.is_table()) names.emplace_back(key.str());
  return names;
}

Status Config::only_tables(std::span<const std::string_view> known) const {
  Unknown first;
  find_unknown(state_->root, "", KnownTables(known), first);
  if (first.message.empty()) return {};
  return error_for(*state_, first.path, first.line, std::move(first.message));
}

const std::string& Config::name() const {
  return state_->name;
}

std::vector<ConfigReading> Config::readings() const {
  return state_->readings;
}

}  // namespace weft
