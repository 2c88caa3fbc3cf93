// SPDX-License-Identifier: Apache-2.0
#include "local.hpp"

#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <utility>

#include <weft/base/check.hpp>

namespace weft {
namespace {

// Messages to one process that have not been received yet, by sender and stream.
struct Inbox {
  explicit Inbox(int senders) : queues(static_cast<std::size_t>(senders) * peer_streams) {}
  std::deque<PeerBytes>& queue(int from, PeerStream stream) {
    return queues[static_cast<std::size_t>(from) * peer_streams + static_cast<std::size_t>(stream)];
  }
  std::mutex mutex;
  std::condition_variable arrived;
  std::vector<std::deque<PeerBytes>> queues;
};

using Inboxes = std::vector<std::unique_ptr<Inbox>>;

class LocalGroup final : public ProcessGroup {
 public:
  LocalGroup(int self, std::shared_ptr<Inboxes> inboxes)
      : self_(self), inboxes_(std::move(inboxes)) {}

  int self() const override { return self_; }
  int count() const override { return static_cast<int>(inboxes_->size()); }

  void send(int to, PeerStream stream, PeerBytes data) override {
    Inbox& inbox = *inboxes_->at(static_cast<std::size_t>(to));
    const std::lock_guard lock(inbox.mutex);
    inbox.queue(self_, stream).push_back(std::move(data));
    inbox.arrived.notify_one();
  }

  PeerBytes receive(int from, PeerStream stream) override {
    WEFT_CHECK(from >= 0 && from < count());
    Inbox& inbox = *(*inboxes_)[static_cast<std::size_t>(self_)];
    std::unique_lock lock(inbox.mutex);
    std::deque<PeerBytes>& queue = inbox.queue(from, stream);
    inbox.arrived.wait(lock, [&queue] { return !queue.empty(); });
    PeerBytes data = std::move(queue.front());
    queue.pop_front();
    return data;
  }

  [[noreturn]] void abort(int /*code*/, const std::string& text) override {
    std::fprintf(stderr, "weft: error: %s\n", text.c_str());
    std::abort();
  }

 private:
  int self_;
  std::shared_ptr<Inboxes> inboxes_;
};

}  // namespace

std::vector<std::unique_ptr<ProcessGroup>> make_local_group(int count) {
  WEFT_CHECK(count >= 1);
  auto inboxes = std::make_shared<Inboxes>();
  for (int i = 0; i < count; ++i) inboxes->push_back(std::make_unique<Inbox>(count));
  std::vector<std::unique_ptr<ProcessGroup>> peers;
  for (int i = 0; i < count; ++i) peers.push_back(std::make_unique<LocalGroup>(i, inboxes));
  return peers;
}

}  // namespace weft
