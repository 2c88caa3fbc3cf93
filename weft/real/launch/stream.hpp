// SPDX-License-Identifier: Apache-2.0
// Non-blocking frames over two descriptors, which may be pipes or one socket. Their flags are left
// alone, since a remote shell shares its descriptors with us.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <weft/real/launch/frame.hpp>

namespace weft::launch {

// Writes what fits now; 0: nothing fits. -1: there is no reader, or writing failed. REQUIRES for
// pipes and terminals: poll() found room.
long write_some(int descriptor, std::string_view bytes);

class Stream {
 public:
  // Owns the descriptors. `start`: see FrameReader.
  Stream(int in, int out, std::string start = {}) : in_(in), out_(out), frames_(std::move(start)) {}
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream();

  int in() const { return in_; }
  int out() const { return out_; }
  bool open() const { return open_; }
  // Why the stream is closed; empty: the other side closed it.
  const std::string& trouble() const { return trouble_; }

  void say(std::string_view text) { waiting_ += text; }
  void send(std::uint8_t kind, std::string_view body) { append_frame(waiting_, kind, body); }
  // Ends the pending output with a line end, in an empty frame: some remote shells (srun) forward
  // whole lines only.
  void end_line(std::uint8_t kind) {
    if (!waiting_.empty() && waiting_.back() != '\n') send(kind, "\n");
  }
  std::size_t waiting() const { return waiting_.size() - written_; }
  // Call when poll() reports room.
  void write_now();
  void read_now();
  bool next(Frame& out);
  void close();

 private:
  void fail(std::string why);
  int in_, out_;
  FrameReader frames_;
  std::string waiting_;
  std::size_t written_ = 0;
  bool open_ = true;
  std::string trouble_;
};

}  // namespace weft::launch
