// SPDX-License-Identifier: Apache-2.0
#include "weft/network/topo/spec.hpp"

#include <algorithm>

#include <fmt/core.h>

#include <weft/base/text.hpp>

namespace weft::detail {
namespace {

constexpr int max_number = 1 << 24;

std::string label(std::string_view key) {
  return key.empty() ? std::string("the value") : fmt::format("'{}'", key);
}

}  // namespace

std::uint64_t product(std::uint64_t a, std::uint64_t b) {
  constexpr std::uint64_t top = std::uint64_t{1} << 62;
  if (a == 0 || b == 0) return 0;
  return a > top / b ? top : a * b;
}

std::uint64_t product(std::span<const int> factors) {
  std::uint64_t result = 1;
  for (const int f : factors) result = product(result, static_cast<std::uint64_t>(f));
  return result;
}

Status check_limits(std::uint64_t routers, std::uint64_t nodes, std::uint64_t cables) {
  constexpr std::uint64_t shown_exactly = std::uint64_t{1} << 62;
  const auto refuse = [](std::uint64_t count, std::string_view what, std::uint64_t limit) {
    const std::string shown =
        count >= shown_exactly ? std::string("more than 10^18") : std::to_string(count);
    return Error::input(fmt::format("{} {}, but at most {} are possible", shown, what, limit));
  };
  if (routers > max_routers) return refuse(routers, "routers", max_routers);
  if (nodes > max_nodes) return refuse(nodes, "nodes", max_nodes);
  if (cables > max_cables) return refuse(cables, "cables", max_cables);
  return {};
}

std::string sizes_text(std::span<const int> sizes) {
  std::string text;
  for (const int s : sizes) {
    if (!text.empty()) text += 'x';
    text += std::to_string(s);
  }
  return text;
}

Spec::Spec(const TopologyKind& kind, std::string_view rest) : kind_(kind) {
  // A file name may hold commas and equals signs: where the unnamed part is the only one, it is
  // everything.
  if (kind.parameters.size() == 1 && kind.parameters[0].name.empty()) {
    if (!trim(rest).empty()) items_.emplace_back("", trim(rest));
    return;
  }
  if (trim(rest).empty()) return;
  bool first = true;
  for (const std::string_view item : split(rest, ',')) {
    add(trim(item), first);
    first = false;
  }
}

void Spec::add(std::string_view item, bool first) {
  const std::size_t equals = item.find('=');
  if (equals == std::string_view::npos) {
    if (!first || !known("")) {
      fail(fmt::format("'{}' is not of the form key=value; write {}", item, kind_.usage));
      return;
    }
    items_.emplace_back("", item);
    return;
  }
  const std::string_view key = trim(item.substr(0, equals));
  if (key.empty() || !known(key)) {
    std::vector<std::string_view> names;
    for (const SpecParameter& p : kind_.parameters)
      if (!p.name.empty()) names.push_back(p.name);
    fail(fmt::format("unknown parameter '{}'{}", key, suggest(key, names)));
    return;
  }
  if (find(key)) {
    fail(fmt::format("{} is given twice", label(key)));
    return;
  }
  items_.emplace_back(key, trim(item.substr(equals + 1)));
}

bool Spec::known(std::string_view key) const {
  return std::any_of(kind_.parameters.begin(), kind_.parameters.end(),
                     [&](const SpecParameter& p) { return p.name == key; });
}

std::optional<std::string_view> Spec::find(std::string_view key) const {
  for (const auto& [name, value] : items_)
    if (name == key) return value;
  return std::nullopt;
}

int Spec::number(std::string_view key, std::optional<int> fallback, int min, int max) {
  const auto text = find(key);
  if (!text) {
    if (!fallback) fail(fmt::format("{} is missing; write {}", label(key), kind_.usage));
    return fallback.value_or(min);
  }
  const auto value = parse_int(*text);
  if (!value) {
    fail(fmt::format("{}: '{}' is not a whole number", label(key), *text));
    return fallback.value_or(min);
  }
  if (*value < min || *value > max) {
    fail(fmt::format("{} is {}, but must be from {} to {}", label(key), *text, min, max));
    return fallback.value_or(min);
  }
  return static_cast<int>(*value);
}

std::vector<int> Spec::sizes(std::string_view key, int min) {
  const auto text = find(key);
  if (!text) {
    fail(fmt::format("{} is missing; write {}", label(key), kind_.usage));
    return {};
  }
  std::vector<int> made;
  for (const std::string_view part : split(*text, 'x')) {
    const auto value = parse_int(trim(part));
    if (!value) {
      fail(fmt::format("'{}' in '{}' is not a whole number", part, *text));
      return {};
    }
    if (*value < min || *value > max_number) {
      fail(fmt::format("size {} in '{}' must be from {} to {}", part, *text, min, max_number));
      return {};
    }
    made.push_back(static_cast<int>(*value));
  }
  return made;
}

std::string Spec::text(std::string_view key) {
  const auto text = find(key);
  if (!text) fail(fmt::format("{} is missing; write {}", label(key), kind_.usage));
  return std::string(text.value_or(""));
}

void Spec::set(std::string_view key, std::string value) {
  if (!known(key)) {
    fail(fmt::format("'{}' has no parameter '{}'", kind_.name, key));
    return;
  }
  if (has(key)) {
    fail(fmt::format("{} is given twice", label(key)));
    return;
  }
  items_.emplace_back(key, std::move(value));
}

void Spec::fail(std::string message) {
  if (!error_) error_ = Error::input(std::move(message));
}

Status Spec::finish() const {
  if (error_) return *error_;
  return {};
}

}  // namespace weft::detail
