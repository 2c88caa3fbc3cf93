// SPDX-License-Identifier: Apache-2.0
#include "shared_blocks.hpp"

#include <utility>

#include <weft/real/wire/host_block.hpp>

namespace weft {

namespace {

class BlockOfHost final : public mpi::SharedBlock {
 public:
  explicit BlockOfHost(std::unique_ptr<wire::HostBlock> block) : block_(std::move(block)) {}

  mpi::SharedTicket ticket() const override {
    const wire::HostBlock::Address address = block_->address();
    return {static_cast<std::uint64_t>(address.process), static_cast<std::uint64_t>(address.file),
            address.inode};
  }
  Result<std::byte*> map(std::size_t offset, std::size_t size) override {
    return block_->map(offset, size);
  }
  void close() override { block_->close_file(); }

 private:
  std::unique_ptr<wire::HostBlock> block_;
};

Result<std::unique_ptr<mpi::SharedBlock>> wrapped(Result<std::unique_ptr<wire::HostBlock>> block) {
  if (!block) return std::move(block).error();
  return std::unique_ptr<mpi::SharedBlock>(std::make_unique<BlockOfHost>(*std::move(block)));
}

}  // namespace

Result<std::unique_ptr<mpi::SharedBlock>> make_block_of_host(std::size_t size) {
  return wrapped(wire::HostBlock::make(size));
}

Result<std::unique_ptr<mpi::SharedBlock>> open_block_of_host(const mpi::SharedTicket& ticket,
                                                             std::size_t size) {
  return wrapped(wire::HostBlock::open(
      {static_cast<int>(ticket[0]), static_cast<int>(ticket[1]), ticket[2]}, size));
}

}  // namespace weft
