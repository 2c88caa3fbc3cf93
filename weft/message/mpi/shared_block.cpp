// SPDX-License-Identifier: Apache-2.0
#include "shared_block.hpp"

#include <cstdlib>
#include <string>
#include <utility>

namespace weft::mpi {

namespace {

constexpr std::size_t page = 4096;

class BlockOfProcess final : public SharedBlock {
 public:
  explicit BlockOfProcess(std::shared_ptr<std::byte> memory) : memory_(std::move(memory)) {}

  SharedTicket ticket() const override { return {reinterpret_cast<std::uintptr_t>(&memory_)}; }
  Result<std::byte*> map(std::size_t, std::size_t) override {
    const auto at = reinterpret_cast<std::uintptr_t>(memory_.get());
    return reinterpret_cast<std::byte*>((at + page - 1) / page * page);
  }

 private:
  const std::shared_ptr<std::byte> memory_;
};

}  // namespace

Result<std::unique_ptr<SharedBlock>> make_block_of_process(std::size_t size) {
  const bool fits = size <= SIZE_MAX - page;
  auto* const memory = fits ? static_cast<std::byte*>(std::calloc(size + page, 1)) : nullptr;
  if (memory == nullptr) return Error::run("no memory of " + std::to_string(size) + " bytes");
  return std::unique_ptr<SharedBlock>(std::make_unique<BlockOfProcess>(
      std::shared_ptr<std::byte>(memory, [](std::byte* block) { std::free(block); })));
}

Result<std::unique_ptr<SharedBlock>> open_block_of_process(const SharedTicket& ticket) {
  const auto* const theirs =
      reinterpret_cast<const std::shared_ptr<std::byte>*>(static_cast<std::uintptr_t>(ticket[0]));
  return std::unique_ptr<SharedBlock>(std::make_unique<BlockOfProcess>(*theirs));
}

}  // namespace weft::mpi
