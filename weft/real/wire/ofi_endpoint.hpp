// SPDX-License-Identifier: Apache-2.0
// A domain of libfabric with one reliable endpoint, and the writes that are under way there. Part
// of the plugin alone.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <vector>

#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>

#include <weft/real/wire/ofi_plugin.hpp>

namespace weft::wire {

struct OfiOperation;
struct OfiPiece;

struct OfiInfoFreed {
  void operator()(fi_info* info) const { fi_freeinfo(info); }
};
using OfiInfo = std::unique_ptr<fi_info, OfiInfoFreed>;

template <typename T>
void close_one(T*& object) {
  if (object != nullptr) fi_close(&object->fid);
  object = nullptr;
}

// true: it went wrong, and the trouble says how.
bool fails(int code, const char* what, OfiTrouble* trouble);

struct OfiPort {
  OfiInfo info;
  fid_fabric* fabric = nullptr;
  fid_domain* domain = nullptr;
  fid_cq* queue = nullptr;
  fid_av* peers = nullptr;
  fid_ep* endpoint = nullptr;
  int descriptor = -1;
  bool flush = false;  // A completion does not say that the peer's processor sees the data.

  OfiPort();
  ~OfiPort();
  OfiPort(const OfiPort&) = delete;
  OfiPort& operator=(const OfiPort&) = delete;

  bool open_endpoint(OfiTrouble* trouble);
  void close_endpoint();
  bool open_memory(void* data, std::size_t size, std::uint64_t wish, OfiMemory* out);
  void write(const OfiWrite& write);
  void poll();
  bool idle() const { return waiting_.empty() && done_.empty(); }
  bool next_done(OfiDone& out);

 private:
  bool open_queue(OfiTrouble* trouble);
  OfiPiece* take_piece(OfiOperation& operation);
  ssize_t post(OfiOperation& operation, OfiPiece* piece, std::size_t size);
  void advance(OfiOperation& operation);
  void finish(OfiPiece* piece, int error);
  void settle(OfiOperation& operation);
  void retry();

  std::byte flushed_ = {};
  fid_mr* flushed_memory_ = nullptr;
  std::deque<OfiPiece> pieces_;
  std::vector<OfiPiece*> free_pieces_;
  std::deque<std::unique_ptr<OfiOperation>> operations_;  // Under way.
  std::deque<OfiOperation*> waiting_;                     // Not wholly given to the provider.
  std::deque<OfiDone> done_;
};

}  // namespace weft::wire
