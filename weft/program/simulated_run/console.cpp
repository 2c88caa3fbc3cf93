// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <iostream>
#include <streambuf>

#include <weft/base/check.hpp>
#include <weft/base/nonblocking_output.hpp>
#include <weft/base/pack.hpp>
#include <weft/program/simulated_run/console.hpp>
#include <weft/program/simulated_run/crash_text.hpp>

namespace weft {

Console* Console::current_ = nullptr;

namespace {

constexpr int look_ms = 100;     // How often a wait for a reader checks whether to hurry.
constexpr int stalled_ms = 400;  // A reader that takes nothing for so long has stalled.

std::atomic<bool> hurried = false;
std::atomic<std::uint64_t> bytes_dropped = 0;

struct OutStream {
  NonblockingOutput output;
  std::atomic<bool> stalled = false;
};
OutStream out_streams[] = {{NonblockingOutput(1)}, {NonblockingOutput(2)}};

// Hands over text of whatever runs on this thread; returns true if that is a rank.
bool offer(int stream, std::string_view text) {
  Console* const console = Console::current();
  const Fabric* const fabric = Current::fabric();
  if (console == nullptr || fabric == nullptr) return false;
  console->print(fabric->self, fabric->processor.now(), stream, text);
  return true;
}

ssize_t cookie_write(void* cookie, const char* text, std::size_t size) {
  const int stream = cookie == nullptr ? 1 : 2;
  if (!offer(stream, {text, size})) Console::write_out(stream, {text, size});
  return static_cast<ssize_t>(size);
}

class StreamBuffer final : public std::streambuf {
 public:
  explicit StreamBuffer(int stream) : stream_(stream) {}

 protected:
  std::streamsize xsputn(const char* text, std::streamsize size) override {
    const std::string_view view(text, static_cast<std::size_t>(size));
    if (!offer(stream_, view)) Console::write_out(stream_, view);
    return size;
  }
  int_type overflow(int_type c) override {
    if (c == traits_type::eof()) return traits_type::not_eof(c);
    const char one = traits_type::to_char_type(c);
    xsputn(&one, 1);
    return c;
  }

 private:
  int stream_;
};

}  // namespace

struct Console::Streams {
  std::FILE *out = nullptr, *error = nullptr;          // Our replacements.
  std::FILE *old_out = nullptr, *old_error = nullptr;  // The process's own.
  StreamBuffer out_buffer{1}, error_buffer{2};
  std::streambuf *old_cout = nullptr, *old_cerr = nullptr, *old_clog = nullptr;
};

Console::Console(std::uint32_t ranks, bool label)
    : label_(label), pending_(ranks), streams_(std::make_unique<Streams>()) {}

Console::~Console() {
  give_back();
}

void Console::take_over() {
  WEFT_CHECK(current_ == nullptr);
  std::fflush(stdout);
  current_ = this;
  const auto open = [](void* cookie, int descriptor) {
    std::FILE* const file = fopencookie(
        cookie, "w", {.read = nullptr, .write = cookie_write, .seek = nullptr, .close = nullptr});
    if (file == nullptr) return file;
    // Without a buffer each printf arrives in one piece, from the rank that printed it.
    std::setvbuf(file, nullptr, _IONBF, 0);
    // For callers of fileno(): C++ in the program writes to the descriptor itself.
    file->_fileno = descriptor;
    return file;
  };
  streams_->old_out = stdout;
  streams_->old_error = stderr;
  streams_->out = open(nullptr, 1);
  streams_->error = open(this, 2);
  if (streams_->out != nullptr) stdout = streams_->out;
  if (streams_->error != nullptr) stderr = streams_->error;
  streams_->old_cout = std::cout.rdbuf(&streams_->out_buffer);
  streams_->old_cerr = std::cerr.rdbuf(&streams_->error_buffer);
  streams_->old_clog = std::clog.rdbuf(&streams_->error_buffer);
}

void Console::give_back() {
  if (current_ != this) return;
  stdout = streams_->old_out;
  stderr = streams_->old_error;
  std::cout.rdbuf(streams_->old_cout);
  std::cerr.rdbuf(streams_->old_cerr);
  std::clog.rdbuf(streams_->old_clog);
  if (streams_->out != nullptr) std::fclose(streams_->out);
  if (streams_->error != nullptr) std::fclose(streams_->error);
  current_ = nullptr;
}

Status Console::record_to(const std::string& folder) {
  auto log = OutputLog::create(folder);
  if (!log) return std::move(log).error();
  record_ = *std::move(log);
  return {};
}

Status Console::finish_record() {
  return record_ == nullptr ? Status() : record_->finish();
}

void Console::print(RankId rank, Time now, int stream, std::string_view text) {
  std::unique_ptr<Pending>& slot = pending_[rank.index];
  if (slot == nullptr) slot = std::make_unique<Pending>();
  std::string& open = slot->text[stream - 1];
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    open += text.substr(0, end == std::string_view::npos ? end : end + 1);
    if (end == std::string_view::npos) return;
    text.remove_prefix(end + 1);
    add(*slot, rank, now, stream);
  }
}

void Console::add(Pending& pending, RankId rank, Time now, int stream) {
  Line line{now, rank.index, pending.lines++, stream, {}};
  line.text.swap(pending.text[stream - 1]);
  const std::lock_guard lock(mutex_);
  lines_.push_back(std::move(line));
}

void Console::end(RankId rank, Time now) {
  Pending* const pending = pending_[rank.index].get();
  if (pending == nullptr) return;
  for (const int stream : {1, 2}) {
    if (!pending->text[stream - 1].empty()) add(*pending, rank, now, stream);
  }
}

bool Console::before(const Line& a, const Line& b) {
  if (a.at != b.at) return a.at < b.at;
  return a.rank != b.rank ? a.rank < b.rank : a.number < b.number;
}

void Console::show(Time until) {
  const auto later = std::partition(lines_.begin(), lines_.end(),
                                    [&](const Line& line) { return line.at <= until; });
  std::sort(lines_.begin(), later, before);
  std::string text;
  int stream = 1;
  for (auto line = lines_.begin(); line != later; ++line) {
    if (line->stream != stream) {
      Console::write_out(stream, text);
      text.clear();
      stream = line->stream;
    }
    if (record_ != nullptr) record_->add(line->at.in_ps(), line->rank, line->stream, line->text);
    if (label_) text += "[" + std::to_string(line->rank) + "] ";
    text += line->text;
    // Another rank's line follows, or our own message after a crash.
    if (label_ && !line->text.ends_with('\n')) text += '\n';
  }
  Console::write_out(stream, text);
  if (record_ != nullptr) record_->flush();
  lines_.erase(lines_.begin(), later);
}

void Console::gather(ProcessGroup& peers, Time until) {
  Packer mine;
  if (peers.self() != 0) {
    const auto later = std::partition(lines_.begin(), lines_.end(),
                                      [&](const Line& line) { return line.at <= until; });
    for (auto line = lines_.begin(); line != later; ++line) {
      mine.put(line->at);
      mine.put(line->rank);
      mine.put(line->number);
      mine.put(line->stream);
      mine.put_text(line->text);
    }
    lines_.erase(lines_.begin(), later);
  }
  for (const PeerBytes& bytes : peers.gather(mine.take())) {
    for (Unpacker in(bytes); !in.empty();) {
      Line line;
      line.at = in.take<Time>();
      line.rank = in.take<std::uint32_t>();
      line.number = in.take<std::uint32_t>();
      line.stream = in.take<int>();
      line.text = in.take_text();
      lines_.push_back(std::move(line));
    }
  }
}

void Console::show_after_crash(Time until) {
  if (!mutex_.try_lock()) return;
  std::sort(lines_.begin(), lines_.end(), before);
  for (const Line& line : lines_) {
    if (line.at > until) return;
    if (record_ != nullptr)
      record_->add_after_crash(line.at.in_ps(), line.rank, line.stream, line.text);
    if (label_) {
      CrashText label;
      label << "[" << line.rank << "] ";
      write_out(line.stream, label.text());
    }
    write_out(line.stream, line.text);
    if (label_ && !line.text.ends_with('\n')) write_out(line.stream, "\n");
  }
}

void Console::drop_after(Time until) {
  std::erase_if(lines_, [&](const Line& line) { return line.at > until; });
}

void Console::write_out(int stream, std::string_view text) {
  OutStream& out = out_streams[stream == 1 ? 0 : 1];
  for (int waited_ms = 0; !text.empty();) {
    const long wrote = out.output.write_some(text);
    if (wrote < 0) return;  // Nobody can read it any more.
    text.remove_prefix(static_cast<std::size_t>(wrote));
    if (wrote > 0 || out.output.wait(out.stalled ? 0 : look_ms)) {
      waited_ms = 0;
      continue;
    }
    if (!hurried) continue;
    waited_ms += look_ms;
    if (!out.stalled && waited_ms < stalled_ms) continue;
    out.stalled = true;
    bytes_dropped += text.size();
    return;
  }
}

void Console::hurry() {
  hurried = true;
}

std::uint64_t Console::dropped() {
  return bytes_dropped;
}

bool Console::offer_text(int stream, const char* text, std::size_t size) {
  return offer(stream, {text, size});
}

}  // namespace weft
