// SPDX-License-Identifier: Apache-2.0
// Renders Markdown for a terminal, and shows the result in a pager.
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "help.hpp"
#include "output.hpp"
#include <unistd.h>

#include <weft/base/text.hpp>

namespace weft::app {
namespace {

constexpr const char* bold_on = "\x1b[1m";
constexpr const char* bold_off = "\x1b[0m";

// The width on screen: characters, not bytes, without escape sequences.
std::size_t visible_width(std::string_view text) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\x1b') {
      i = text.find('m', i);
      if (i == std::string_view::npos) break;
    } else if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80) {
      ++count;
    }
  }
  return count;
}

// Marks each word by itself, so that lines can be broken between words.
std::string embolden(std::string_view text, const PageStyle& style) {
  if (!style.bold) return std::string(text);
  std::string out;
  for (const std::string_view word : split(text, ' '))
    out += (out.empty() ? "" : " ") + (bold_on + std::string(word) + bold_off);
  return out;
}

// The topic of a link: "sim" for "../reference/sim.md#options"; empty if it is no topic.
std::string topic_of(std::string_view target) {
  target = target.substr(0, target.find('#'));
  if (target.find("://") != std::string_view::npos || !target.ends_with(".md")) return {};
  target.remove_suffix(3);
  return std::string(target.substr(target.rfind('/') + 1));
}

class Inline {
 public:
  Inline(std::string_view text, const PageStyle& style) : text_(text), style_(style) {}

  std::string render() {
    while (at_ < text_.size())
      if (!code() && !strong() && !link()) out_ += text_[at_++];
    return out_;
  }

 private:
  bool code() {
    const std::size_t end = text_[at_] == '`' ? text_.find('`', at_ + 1) : std::string_view::npos;
    if (end == std::string_view::npos) return false;
    const std::string_view inner = text_.substr(at_ + 1, end - at_ - 1);
    out_ += style_.bold ? embolden(inner, style_) : "`" + std::string(inner) + "`";
    at_ = end + 1;
    return true;
  }
  bool strong() {
    if (text_.substr(at_, 2) != "**") return false;
    const std::size_t end = text_.find("**", at_ + 2);
    if (end == std::string_view::npos) return false;
    out_ += embolden(text_.substr(at_ + 2, end - at_ - 2), style_);
    at_ = end + 2;
    return true;
  }
  bool link() {
    const bool picture = text_.substr(at_, 2) == "![";
    if (!picture && text_[at_] != '[') return false;
    const std::size_t begin = at_ + (picture ? 2 : 1);
    const std::size_t middle = text_.find("](", begin);
    const std::size_t end = middle == std::string_view::npos ? middle : text_.find(')', middle);
    if (end == std::string_view::npos) return false;
    const std::string_view name = text_.substr(begin, middle - begin);
    const std::string_view target = text_.substr(middle + 2, end - middle - 2);
    const std::string topic = topic_of(target);
    if (picture) out_ += "(picture: ";
    out_ += Inline(name, style_).render();
    if (picture) out_ += ")";
    if (!topic.empty()) out_ += " (weft help " + topic + ")";
    if (target.find("://") != std::string_view::npos) out_ += " <" + std::string(target) + ">";
    at_ = end + 1;
    return true;
  }

  std::string_view text_;
  const PageStyle& style_;
  std::size_t at_ = 0;
  std::string out_;
};

// The text between bars that are neither in code nor escaped.
std::vector<std::string> cells_of(std::string_view line) {
  std::vector<std::string> cells(1);
  bool in_code = false;
  line = trim(line);
  line.remove_prefix(1);
  if (line.ends_with('|')) line.remove_suffix(1);
  for (std::size_t i = 0; i < line.size(); ++i) {
    in_code ^= line[i] == '`';
    if (line[i] == '\\' && i + 1 < line.size() && line[i + 1] == '|') continue;
    const bool escaped = i > 0 && line[i - 1] == '\\';
    if (line[i] == '|' && !in_code && !escaped)
      cells.emplace_back();
    else
      cells.back() += line[i];
  }
  for (std::string& cell : cells) cell = trim(std::string(cell));
  return cells;
}

using Rows = std::vector<std::vector<std::string>>;

// Narrow columns get the width they need, wide ones share the rest.
std::vector<std::size_t> column_widths(const Rows& rows, std::size_t columns, std::size_t width) {
  std::vector<std::size_t> natural(columns, 1), order(columns);
  for (const auto& row : rows)
    for (std::size_t c = 0; c < row.size(); ++c)
      natural[c] = std::max(natural[c], visible_width(row[c]));
  for (std::size_t c = 0; c < columns; ++c) order[c] = c;
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return natural[a] < natural[b]; });
  const std::size_t gaps = 2 * (columns - 1);
  std::size_t left = width > gaps ? width - gaps : columns;
  std::vector<std::size_t> widths(columns);
  for (std::size_t i = 0; i < columns; ++i) {
    const std::size_t share = std::max<std::size_t>(left / (columns - i), 8);
    widths[order[i]] = std::min(natural[order[i]], share);
    left -= std::min(left, widths[order[i]]);
  }
  return widths;
}

std::string row_text(const std::vector<std::string>& row, const std::vector<std::size_t>& widths) {
  std::vector<std::vector<std::string>> cells;
  std::size_t height = 1;
  for (std::size_t c = 0; c < row.size(); ++c) {
    cells.push_back(wrap(row[c], widths[c]));
    height = std::max(height, cells.back().size());
  }
  std::string out;
  for (std::size_t line = 0; line < height; ++line) {
    std::string text;
    for (std::size_t c = 0, column = 0; c < cells.size(); ++c) {
      text.append(column - visible_width(text), ' ');
      if (line < cells[c].size()) text += cells[c][line];
      column = std::max(column + widths[c], visible_width(text)) + 2;
    }
    out += text.substr(0, text.find_last_not_of(' ') + 1) + "\n";
  }
  return out;
}

class Page {
 public:
  explicit Page(const PageStyle& style) : style_(style) {}

  std::string render(std::string_view markdown) {
    for (const std::string_view line : split(markdown, '\n')) add(line);
    end_block();
    while (out_.ends_with("\n\n")) out_.pop_back();
    return out_;
  }

 private:
  void add(std::string_view line) {
    if (line.starts_with("```")) {
      end_block();
      fenced_ = !fenced_;
      if (!fenced_) out_ += "\n";
    } else if (fenced_) {
      out_ += line.empty() ? "\n" : "    " + std::string(line) + "\n";
    } else if (trim(line).empty()) {
      end_block();
      if (std::exchange(code_, false)) out_ += "\n";
    } else if (block_.empty() && table_.empty() && line.starts_with("    ")) {
      code_ = true;  // Indented lines are code, too.
      out_ += std::string(line) + "\n";
    } else if (line.front() == '#') {
      heading(line);
    } else if (line.front() == '|') {
      if (table_.empty()) end_block();
      table_.emplace_back(line);
    } else {
      running(line);
    }
  }

  void heading(std::string_view line) {
    end_block();
    const std::size_t level = line.find_first_not_of('#');
    const std::string text =
        Inline(trim(line.substr(std::min(level, line.size()))), {style_.width, false}).render();
    out_ += embolden(text, style_) + "\n";
    if (!style_.bold && level <= 2)
      out_ += std::string(visible_width(text), level == 1 ? '=' : '-') + "\n";
    out_ += "\n";
  }

  // A line of a paragraph or of a list item.
  void running(std::string_view line) {
    const std::size_t blanks = line.find_first_not_of(' ');
    const std::string_view text = line.substr(blanks);
    std::size_t mark = text.find_first_not_of("0123456789");
    const bool numbered = mark > 0 && text.substr(mark).starts_with(". ");
    mark = numbered ? mark + 2 : 2;
    if (numbered || text.starts_with("- ") || text.starts_with("* ")) {
      const bool was_item = !mark_.empty();
      end_block();
      if (was_item && out_.ends_with("\n\n")) out_.pop_back();  // No blank line between items.
      mark_ = std::string(blanks, ' ') + std::string(text.substr(0, mark));
      block_ = text.substr(mark);
      return;
    }
    block_ += (block_.empty() ? "" : " ") + std::string(text);
  }

  void end_block() {
    if (!table_.empty()) end_table();
    if (block_.empty()) return;
    const std::string text = Inline(block_, style_).render();
    std::string begin = mark_;
    for (const std::string& line :
         wrap(text, style_.width - std::min(mark_.size(), style_.width))) {
      out_ += begin + line + "\n";
      begin.assign(mark_.size(), ' ');
    }
    out_ += "\n";
    block_.clear();
    mark_.clear();
  }

  void end_table() {
    Rows rows;
    std::size_t columns = 1;
    for (const std::string& line : table_) {
      if (line.find_first_not_of("|-: ") == std::string::npos) continue;
      rows.push_back(cells_of(line));
      for (std::string& cell : rows.back()) cell = Inline(cell, style_).render();
      columns = std::max(columns, rows.back().size());
    }
    const bool ruled = table_.size() > rows.size();
    const auto widths = column_widths(rows, columns, style_.width);
    std::size_t total = 2 * (columns - 1);
    for (const std::size_t width : widths) total += width;
    for (std::size_t r = 0; r < rows.size(); ++r) {
      out_ += row_text(rows[r], widths);
      if (r == 0 && ruled) out_ += std::string(std::min(total, style_.width), '-') + "\n";
    }
    out_ += "\n";
    table_.clear();
  }

  PageStyle style_;
  std::string out_, block_, mark_;
  std::vector<std::string> table_;
  bool fenced_ = false, code_ = false;
};

}  // namespace

std::vector<std::string> wrap(const std::string& text, std::size_t width) {
  std::vector<std::string> lines(1);
  for (const std::string_view word : split(text, ' ')) {
    if (word.empty()) continue;
    if (!lines.back().empty() && visible_width(lines.back()) + 1 + visible_width(word) > width)
      lines.emplace_back();
    lines.back() += (lines.back().empty() ? "" : " ") + std::string(word);
  }
  return lines;
}

std::string render_page(std::string_view markdown, const PageStyle& style) {
  return Page(style).render(markdown);
}

Status show_page(const std::string& text) {
  if (::isatty(STDOUT_FILENO) == 0) return print(text);
  const char* const variable = std::getenv("PAGER");
  const bool given = variable != nullptr && *variable != '\0';
  const std::string pager =
      given ? variable : "if command -v less >/dev/null 2>&1; then exec less; else exec cat; fi";
  // less shall leave short texts on the screen and show bold as bold.
  ::setenv("LESS", "FRX", 0);
  FILE* const pipe = ::popen(pager.c_str(), "we");
  if (pipe == nullptr) return print(text);
  const auto before = std::signal(SIGINT, SIG_IGN);
  std::fwrite(text.data(), 1, text.size(), pipe);
  const int status = ::pclose(pipe);
  std::signal(SIGINT, before);
  constexpr int not_found = 127 << 8;
  return status == not_found ? print(text) : Status{};
}

}  // namespace weft::app
