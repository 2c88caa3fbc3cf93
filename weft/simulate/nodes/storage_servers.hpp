// SPDX-License-Identifier: Apache-2.0
// The servers of files in a simulation. Requests and answers are messages of the network between
// the card of a rank's node and that of a server's; a server takes requests in the order in which
// they arrive, and only then touches the file. So what a file holds depends on virtual time alone.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include <weft/base/units.hpp>
#include <weft/message/port/rank.hpp>
#include <weft/message/port/storage.hpp>

namespace weft {

class Machinery;
class SimRank;
struct Parcel;

// A request for a part of an access that lies in one stripe, or its answer.
struct StorageTask {
  bool writing = false, answer = false;
  std::uint32_t server = 0;
  std::uint32_t part = 0;    // Of the access.
  std::uint64_t access = 0;  // Known to the rank.
  std::uint64_t device = 0, inode = 0;
  std::int64_t offset = 0;
  std::uint64_t size = 0, moved = 0;
  std::int32_t error = 0;
  std::string path;
};

class StorageServers {
 public:
  explicit StorageServers(Machinery& machinery) : machinery_(machinery) {}
  void build();
  bool any() const { return !servers_.empty(); }

  // On the worker of the server's node: a request arrives.
  void arrive(Parcel* parcel, Time at);
  // Serves what has arrived and answers what is done; when it has to be asked again.
  Time serve(std::uint32_t node, Time now);
  void drop();  // What is under way when the run ends.

  // What requests and answers are beyond the data, on the wire.
  static constexpr std::int64_t head_bytes = 64;

 private:
  struct Waiting {
    Time at;
    std::uint32_t rank = 0, sequence = 0;
    Parcel* parcel = nullptr;
    // Heaps have the greatest in front.
    friend bool operator<(const Waiting& a, const Waiting& b) {
      if (a.at != b.at) return a.at > b.at;
      if (a.rank != b.rank) return a.rank > b.rank;
      return a.sequence > b.sequence;
    }
  };
  struct Server {
    std::uint32_t node = 0;
    Time free;
    std::vector<Waiting> arrived, answers;
  };
  void work(Server& server, Parcel* parcel, Time now);
  static Parcel* take(std::vector<Waiting>& heap);

  Machinery& machinery_;
  std::vector<Server> servers_;
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> at_node_;  // Servers.
};

// What a rank has asked of servers and not yet heard of in full.
class StorageClient final : public Storage {
 public:
  explicit StorageClient(SimRank& rank) : rank_(rank) {}
  void begin(ServedAccess& access) override;
  std::size_t stripe() const override;
  void hear(std::unique_ptr<Parcel> answer);

 private:
  struct Open {
    ServedAccess* access = nullptr;
    std::uint32_t parts_open = 0;
    std::vector<std::uint64_t> sizes, moved;  // By part.
  };
  Parcel* request(const ServedAccess& access, std::int64_t from, std::size_t size);

  SimRank& rank_;
  std::uint64_t last_ = 0;
  std::uint32_t sent_ = 0;
  std::unordered_map<std::uint64_t, Open> open_;
};

}  // namespace weft
