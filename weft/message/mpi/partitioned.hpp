// SPDX-License-Identifier: Apache-2.0
// Partitioned messages: the sender hands over parts of a buffer as they become ready, the receiver
// looks for parts that have arrived. A send and its receive find each other when they are made: the
// send offers itself, by the program's tag, and tells how it is cut. Then each part of the sender
// is a message, with a tag of its own; the receiver may cut the same bytes differently.
#pragma once

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <weft/message/mpi/request.hpp>

namespace weft::mpi {

// As the program passed them, checked. The count is that of one partition.
struct PartitionedArguments {
  Transfer transfer;
  int partitions = 0;
};

// What both sides have: the partitions of a buffer.
class Partitions : public Operation {
 public:
  Partitions(Process& of, const PartitionedArguments& arguments);
  ~Partitions() override;
  Partitions(const Partitions&) = delete;
  Partitions& operator=(const Partitions&) = delete;

  int count() const { return partitions; }

 protected:
  // What a send tells its receive.
  struct Offer {
    std::uint32_t first_tag = 0;  // Of the first partition; others follow.
    std::uint32_t partitions = 0;
    std::uint64_t size = 0;  // Of each, in bytes.
  };
  bool to_nobody() const { return transfer.peer == MPI_PROC_NULL; }
  // Whether the data of so many partitions in a row has no gaps.
  bool contiguous(int several) const;
  std::size_t size() const;  // Packed bytes of a partition.
  // Where a partition begins in the program's memory, and where its data does if it has no gaps.
  void* place(int partition) const;
  std::byte* data_of(int partition) const;
  std::string describe_peer(const char* what, std::vector<RankId>* on) const;

  Process& process;
  const Transfer transfer;
  const int partitions;
  Offer offer;
  mp::Request* offering = nullptr;  // The offer's message, until it is sent or received.
};

class PartitionedSend final : public Partitions {
 public:
  PartitionedSend(Process& of, const PartitionedArguments& arguments);
  ~PartitionedSend() override;
  mp::Task start() override;
  std::string describe(std::vector<RankId>* on) const override;

  bool is_ready(int partition) const { return parts_[static_cast<std::size_t>(partition)].ready; }
  // The partition may be sent. REQUIRES: started, and not ready yet.
  void set_ready(int partition);

 private:
  struct Part {
    bool ready = false;
    mp::Request* low = nullptr;
    std::unique_ptr<std::byte[]> staging;
  };
  struct Ready;  // Awaits that a partition is ready.
  mp::Task round();

  std::vector<Part> parts_;
  std::size_t awaited_ = 0;
  std::coroutine_handle<> waiter_;
};

class PartitionedReceive final : public Partitions {
 public:
  PartitionedReceive(Process& of, const PartitionedArguments& arguments);
  ~PartitionedReceive() override;
  mp::Task start() override;
  const Request* status_of() const override { return &shown_; }
  std::string describe(std::vector<RankId>* on) const override;

  // Whether a partition is in the program's memory. REQUIRES: started.
  bool has_arrived(int partition);

 private:
  mp::Task round();
  mp::Task take_offer(int& error);
  void post();
  void unpack(int partition);

  bool known_ = false;                    // The offer has arrived.
  bool posted_ = false;                   // In this round.
  std::vector<mp::Request*> parts_;       // By the sender's partition; null: done.
  std::unique_ptr<std::byte[]> staging_;  // All partitions packed, if the type has gaps.
  std::vector<bool> unpacked_;
  Request shown_;  // A receive with the status of the whole.
};

}  // namespace weft::mpi
