// SPDX-License-Identifier: Apache-2.0
#include "weft/real/launch/settings.hpp"

#include <array>
#include <string_view>
#include <utility>

#include <weft/base/quantity.hpp>
#include <weft/base/text.hpp>
#include <weft/real/launch/environment.hpp>

namespace weft::launch {
namespace {

// Escapes a text so that it fits between `mark`s in one line.
std::string escape(std::string_view text, char mark) {
  std::string out;
  for (const char c : text) {
    if (c == '\n') {
      out += "\\n";
      continue;
    }
    if (c == '\\' || c == mark) out += '\\';
    out += c;
  }
  return out;
}

// Splits at marks and removes escapes.
std::vector<std::string> take_apart(std::string_view text, char mark) {
  std::vector<std::string> parts(1);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == mark) {
      parts.emplace_back();
    } else if (text[i] == '\\' && i + 1 < text.size()) {
      ++i;
      parts.back() += text[i] == 'n' ? '\n' : text[i];
    } else {
      parts.back() += text[i];
    }
  }
  return parts;
}

// How each type of value is written and read. Errors say what is wrong, but not where.
std::string write(bool value) {
  return value ? "yes" : "no";
}
std::string write(Duration value) {
  return weft::to_text(value);
}
std::string write(const std::string& value) {
  return escape(value, '\n');
}
std::string write(const std::vector<std::string>& value) {
  std::string out;
  for (std::size_t i = 0; i < value.size(); ++i) out += (i > 0 ? "," : "") + escape(value[i], ',');
  return out;
}

Status read(std::string_view text, bool& out) {
  text = trim(text);
  const bool yes = text == "yes" || text == "1" || text == "true" || text == "on";
  if (!yes && text != "no" && text != "0" && text != "false" && text != "off")
    return Error::input("'" + std::string(text) + "' is neither yes nor no");
  out = yes;
  return {};
}
Status read(std::string_view text, Duration& out) {
  auto value = parse_duration(text);
  if (!value) return std::move(value).error();
  if (*value <= Duration::zero()) return Error::input("must be greater than zero");
  out = *value;
  return {};
}
Status read(std::string_view text, std::string& out) {
  out = take_apart(text, '\n').front();
  return {};
}
Status read(std::string_view text, std::vector<std::string>& out) {
  out.clear();
  for (const std::string& part : take_apart(text, ','))
    if (const std::string_view word = trim(part); !word.empty()) out.emplace_back(word);
  return {};
}

std::string write(Protect value) {
  return std::string(launch::to_text(value));
}
Status read(std::string_view text, Protect& out) {
  auto value = parse_protect(trim(text));
  if (!value) return std::move(value).error();
  out = *value;
  return {};
}

// Lists every field once: `visit(name, field)`.
template <typename AnySettings, typename Visit>
void each_field(AnySettings& settings, Visit&& visit) {
  visit("rails", settings.rails);
  visit("shared_memory", settings.shared_memory);
  visit("single_copy", settings.single_copy);
  visit("protect", settings.protect);
  visit("record", settings.record);
  visit("events", settings.events);
  visit("lost_after", settings.lost_after);
  visit("collectives", settings.collectives);
  visit("messages", settings.messages);
  visit("connections", settings.connections);
  visit("groups", settings.groups);
  visit("ancestor", settings.ancestor);
  visit("places", settings.places);
}

std::string variable_of(std::string_view name) {
  std::string out = "WEFT_";
  for (const char c : name) out += c == '_' ? c : static_cast<char>(c - 'a' + 'A');
  return out;
}

Status read_line(std::string_view line, Settings& settings) {
  const std::size_t equals = line.find('=');
  if (equals == std::string_view::npos)
    return Error::input("setting '" + std::string(line.substr(0, 40)) + "' has no '='");
  const std::string_view name = line.substr(0, equals);
  bool known = false;
  Status done;
  std::vector<std::string_view> names;
  each_field(settings, [&](std::string_view field, auto& value) {
    names.push_back(field);
    if (field != name) return;
    known = true;
    done = read(line.substr(equals + 1), value);
  });
  const std::string shown(name.substr(0, 40));
  if (!known) return Error::input("unknown setting '" + shown + "'" + suggest(name, names));
  if (!done) return std::move(done).error().during("setting " + shown);
  return {};
}

}  // namespace

std::string_view to_text(Protect protect) {
  switch (protect) {
    case Protect::off:
      return "off";
    case Protect::all:
      return "all";
    case Protect::on:
      break;
  }
  return "on";
}

Result<Protect> parse_protect(std::string_view text) {
  for (const Protect one : {Protect::off, Protect::on, Protect::all}) {
    if (text == to_text(one)) return one;
  }
  return Error::input("'" + std::string(text) + "' is none of on, off, all");
}

std::string to_text(const Settings& settings) {
  std::string out;
  each_field(settings, [&](std::string_view name, const auto& value) {
    out += std::string(name) + "=" + write(value) + "\n";
  });
  return out;
}

Result<Settings> parse_settings(const std::string& text) {
  Settings settings;
  for (const std::string_view line : split(text, '\n')) {
    if (line.empty()) continue;
    if (Status done = read_line(line, settings); !done) return std::move(done).error();
  }
  return settings;
}

Result<Settings> settings_from_environment() {
  Settings settings;
  Status first;
  each_field(settings, [&](std::string_view name, auto& value) {
    const std::string variable_name = variable_of(name);
    auto text = variable(variable_name.c_str());
    if (!text && name == "record") text = variable("WEFT_PROFILE");  // Its former name.
    if (!text || text->empty() || !first) return;
    if (Status done = read(*text, value); !done)
      first = std::move(done).error().during("variable " + variable_name);
  });
  if (!first) return std::move(first).error();
  return settings;
}

}  // namespace weft::launch
