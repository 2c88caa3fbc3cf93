// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>

#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

#include <weft/real/wire/ofi_endpoint.hpp>

namespace weft::wire {

namespace {
constexpr std::size_t piece_most = std::size_t{1} << 30;
}

// A write on its way, in pieces if it is larger than the provider takes at once.
struct OfiOperation {
  OfiWrite write = {};
  std::size_t posted = 0;
  std::uint32_t open_pieces = 0;
  int error = 0;
  bool flushing = false;
};

struct OfiPiece {
  fi_context2 context = {};  // First: the provider gives back its address.
  OfiOperation* operation = nullptr;
};

bool fails(int code, const char* what, OfiTrouble* trouble) {
  if (code == 0) return false;
  std::snprintf(trouble->text, sizeof trouble->text, "%s: %s", what, fi_strerror(-code));
  return true;
}

OfiPort::OfiPort() = default;

OfiPort::~OfiPort() {
  close_endpoint();
  close_one(domain);
  close_one(fabric);
}

void OfiPort::close_endpoint() {
  close_one(flushed_memory_);
  close_one(endpoint);
  close_one(peers);
  close_one(queue);
  operations_.clear();
  waiting_.clear();
  done_.clear();
  free_pieces_.clear();
  pieces_.clear();
}

bool OfiPort::open_queue(OfiTrouble* trouble) {
  fi_cq_attr wish = {};
  wish.format = FI_CQ_FORMAT_CONTEXT;
  wish.wait_obj = FI_WAIT_FD;
  wish.size = info->tx_attr->size;
  descriptor = -1;
  if (fi_cq_open(domain, &wish, &queue, nullptr) == 0) {
    if (fi_control(&queue->fid, FI_GETWAIT, &descriptor) != 0) descriptor = -1;
    return true;
  }
  wish.wait_obj = FI_WAIT_NONE;
  return !fails(fi_cq_open(domain, &wish, &queue, nullptr), "fi_cq_open", trouble);
}

bool OfiPort::open_endpoint(OfiTrouble* trouble) {
  fi_av_attr peers_wish = {};
  peers_wish.type = info->domain_attr->av_type == FI_AV_MAP ? FI_AV_MAP : FI_AV_TABLE;
  if (!open_queue(trouble) ||
      fails(fi_av_open(domain, &peers_wish, &peers, nullptr), "fi_av_open", trouble) ||
      fails(fi_endpoint(domain, info.get(), &endpoint, nullptr), "fi_endpoint", trouble) ||
      fails(fi_ep_bind(endpoint, &peers->fid, 0), "fi_ep_bind", trouble) ||
      fails(fi_ep_bind(endpoint, &queue->fid, FI_TRANSMIT | FI_RECV), "fi_ep_bind", trouble) ||
      fails(fi_enable(endpoint), "fi_enable", trouble)) {
    return false;
  }
  OfiMemory own = {};
  if (!flush) return true;
  if (!open_memory(&flushed_, sizeof flushed_, 1, &own)) {
    return !fails(-FI_ENOMEM, "fi_mr_reg", trouble);
  }
  flushed_memory_ = static_cast<fid_mr*>(own.handle);
  return true;
}

bool OfiPort::open_memory(void* data, std::size_t size, std::uint64_t wish, OfiMemory* out) {
  const int mode = info->domain_attr->mr_mode;
  const std::size_t key_size = info->domain_attr->mr_key_size;
  if (key_size < sizeof wish) wish &= (std::uint64_t{1} << (8 * key_size)) - 1;
  fid_mr* memory = nullptr;
  constexpr std::uint64_t access = FI_WRITE | FI_READ | FI_REMOTE_WRITE | FI_REMOTE_READ;
  if (fi_mr_reg(domain, data, size, access, 0, wish, 0, &memory, nullptr) != 0) return false;
  if ((mode & FI_MR_ENDPOINT) != 0 &&
      (fi_mr_bind(memory, &endpoint->fid, 0) != 0 || fi_mr_enable(memory) != 0)) {
    close_one(memory);
    return false;
  }
  const bool by_address = (mode & FI_MR_VIRT_ADDR) != 0;
  *out = {memory, fi_mr_key(memory), by_address ? reinterpret_cast<std::uint64_t>(data) : 0};
  if (out->key != FI_KEY_NOTAVAIL) return true;
  close_one(memory);
  return false;
}

OfiPiece* OfiPort::take_piece(OfiOperation& operation) {
  if (free_pieces_.empty()) free_pieces_.push_back(&pieces_.emplace_back());
  OfiPiece* const piece = free_pieces_.back();
  free_pieces_.pop_back();
  piece->operation = &operation;
  ++operation.open_pieces;
  return piece;
}

void OfiPort::write(const OfiWrite& write) {
  operations_.push_back(std::make_unique<OfiOperation>());
  OfiOperation& operation = *operations_.back();
  operation.write = write;
  if (waiting_.empty()) {
    advance(operation);
  } else {
    waiting_.push_back(&operation);
  }
}

// Where a completion does not mean that the peer's processor sees the data (verbs), a byte is read
// back: a read does not overtake what was written before it.
ssize_t OfiPort::post(OfiOperation& operation, OfiPiece* piece, std::size_t size) {
  const OfiWrite& write = operation.write;
  if (operation.flushing) {
    iovec to = {&flushed_, 1};
    const fi_rma_iov last = {write.target + write.size - 1, 1, write.key};
    void* description = fi_mr_desc(flushed_memory_);
    const fi_msg_rma message = {&to, &description, 1, write.peer, &last, 1, piece, 0};
    return fi_readmsg(endpoint, &message, FI_COMPLETION);
  }
  auto* const data = static_cast<std::byte*>(const_cast<void*>(write.data));
  iovec from = {data + operation.posted, size};
  const fi_rma_iov to = {write.target + operation.posted, size, write.key};
  auto* const memory = static_cast<fid_mr*>(write.memory);
  void* description = memory == nullptr ? nullptr : fi_mr_desc(memory);
  const fi_msg_rma message = {&from, &description, 1, write.peer, &to, 1, piece, 0};
  const std::uint64_t when = flush ? FI_TRANSMIT_COMPLETE : FI_DELIVERY_COMPLETE;
  return fi_writemsg(endpoint, &message, FI_COMPLETION | when);
}

// Gives the provider as much as it takes.
void OfiPort::advance(OfiOperation& operation) {
  const std::size_t most = std::min(piece_most, info->ep_attr->max_msg_size);
  while (operation.error == 0 && (operation.posted < operation.write.size || operation.flushing)) {
    const std::size_t size = std::min(operation.write.size - operation.posted, most);
    OfiPiece* const piece = take_piece(operation);
    const ssize_t code = post(operation, piece, size);
    if (code == 0) {
      if (operation.flushing) return;
      operation.posted += size;
      continue;
    }
    piece->operation = nullptr;
    free_pieces_.push_back(piece);
    --operation.open_pieces;
    if (code == -FI_EAGAIN) {
      waiting_.push_back(&operation);
      return;
    }
    operation.error = static_cast<int>(-code);
  }
  if (operation.open_pieces == 0) settle(operation);
}

void OfiPort::finish(OfiPiece* piece, int error) {
  if (piece == nullptr || piece->operation == nullptr) return;
  OfiOperation& operation = *piece->operation;
  piece->operation = nullptr;
  free_pieces_.push_back(piece);
  if (error != 0 && operation.error == 0) operation.error = error;
  if (--operation.open_pieces == 0) settle(operation);
}

// Nothing of it is under way.
void OfiPort::settle(OfiOperation& operation) {
  if (operation.error == 0 && operation.posted < operation.write.size) return;  // Waits its turn.
  if (operation.error == 0 && flush && !operation.flushing && operation.write.size > 0) {
    operation.flushing = true;
    advance(operation);
    return;
  }
  std::erase(waiting_, &operation);
  done_.push_back({operation.write.context, operation.error});
  std::erase_if(operations_, [&](const auto& one) { return one.get() == &operation; });
}

void OfiPort::retry() {
  while (!waiting_.empty()) {
    OfiOperation* const first = waiting_.front();
    waiting_.pop_front();
    const std::size_t before = waiting_.size();
    advance(*first);
    if (waiting_.size() <= before) continue;
    waiting_.pop_back();  // Still no room: it stays the first.
    waiting_.push_front(first);
    return;
  }
}

void OfiPort::poll() {
  constexpr std::size_t most = 16;
  fi_cq_entry entries[most];
  for (;;) {
    const ssize_t count = fi_cq_read(queue, entries, most);
    for (ssize_t i = 0; i < count; ++i) {
      finish(static_cast<OfiPiece*>(entries[i].op_context), 0);
    }
    if (count == -FI_EAVAIL) {
      fi_cq_err_entry fault = {};
      if (fi_cq_readerr(queue, &fault, 0) <= 0) break;
      finish(static_cast<OfiPiece*>(fault.op_context), fault.err != 0 ? fault.err : FI_EIO);
      continue;
    }
    if (count < static_cast<ssize_t>(most)) break;
  }
  retry();
}

bool OfiPort::next_done(OfiDone& out) {
  if (done_.empty()) return false;
  out = done_.front();
  done_.pop_front();
  return true;
}

}  // namespace weft::wire
