// SPDX-License-Identifier: Apache-2.0
#include "file_view.hpp"

#include <algorithm>
#include <limits>

#include <weft/message/mpi/window.hpp>

namespace weft::mpi {

namespace {

bool usable(const Datatype* type) {
  return type != nullptr && type->committed();
}

// Numbers of the same size in both representations stay where they are.
bool same_size_outside(const Datatype& type) {
  return external_size(type, 1) == type.size();
}

}  // namespace

FileView::~FileView() {
  if (etype_) Datatype::release(etype_);
  if (filetype_) Datatype::release(filetype_);
}

std::shared_ptr<const FileView> FileView::make(const Wanted& wanted, int& error,
                                               std::string& detail) {
  const Datatype* const etype = find_type(wanted.etype);
  const Datatype* const filetype = find_type(wanted.filetype);
  error = MPI_ERR_TYPE;
  detail = "etype and filetype must be committed datatypes";
  if (!usable(etype) || !usable(filetype)) return nullptr;
  error = MPI_ERR_ARG;
  detail = "the etype must have bytes, and the filetype must consist of whole etypes";
  if (etype->size() == 0 || filetype->size() % etype->size() != 0) return nullptr;
  const std::string& name = wanted.representation;
  const bool external = name == "external32";
  error = MPI_ERR_UNSUPPORTED_DATAREP;
  const bool native = name == "native" || name == "internal" || wanted.native_by_other_name;
  detail = "'" + name + "'; there are native, internal and external32";
  if (!external && !native) return nullptr;
  detail = "external32 gives numbers of the filetype another size, which weft cannot place";
  if (external && !same_size_outside(*filetype)) return nullptr;
  const std::shared_ptr<FileView> view(new FileView);
  etype->retain();
  filetype->retain();
  view->etype_ = etype;
  view->filetype_ = filetype;
  view->displacement_ = wanted.displacement;
  view->representation_ = name;
  view->external_ = external;
  error = view->set_blocks(wanted.may_overlap, detail);
  return error == MPI_SUCCESS ? view : nullptr;
}

// Accesses go forward in the file only, as the standard demands of filetypes.
int FileView::set_blocks(bool may_overlap, std::string& detail) {
  size_ = filetype_->size();
  extent_ = filetype_->extent();
  const std::vector<std::uint64_t> flat = blocks_of(*filetype_, 1);
  std::int64_t start = 0;
  for (std::size_t i = 0; i < flat.size(); i += 2) {
    const auto offset = static_cast<std::int64_t>(flat[i]);
    const auto size = static_cast<std::int64_t>(flat[i + 1]);
    const Block last = blocks_.empty() ? Block{0, 0, 0} : blocks_.back();
    const bool overlaps = offset < last.offset + last.size;
    if (offset < last.offset || (overlaps && !may_overlap)) {
      detail =
          "displacements of a filetype must not be negative or decrease, nor overlap unless "
          "the file is only read";
      return MPI_ERR_IO;
    }
    blocks_overlap_ = blocks_overlap_ || overlaps;
    blocks_.push_back({offset, size, start});
    start += size;
  }
  if (blocks_.empty()) return MPI_SUCCESS;
  // A program may well access one filetype only, as HDF5 does, so its extent does not matter then.
  const Block& last = blocks_.back();
  tiles_overlap_ = extent_ < last.offset + last.size - blocks_.front().offset;
  detail = "the filetype has data and no extent";
  return extent_ > 0 ? MPI_SUCCESS : MPI_ERR_IO;
}

std::int64_t FileView::place(std::int64_t stream) const {
  const std::int64_t tile = stream / size_;
  const std::int64_t rest = stream % size_;
  const auto after =
      std::upper_bound(blocks_.begin(), blocks_.end(), rest,
                       [](std::int64_t value, const Block& block) { return value < block.start; });
  const Block& block = *(after - 1);
  return displacement_ + tile * extent_ + block.offset + rest - block.start;
}

std::int64_t FileView::bytes_before(std::int64_t offset) const {
  if (empty()) return 0;
  const std::int64_t from = offset - displacement_ - blocks_.front().offset;
  if (from <= 0) return 0;
  const std::int64_t tile = from / extent_;
  const std::int64_t rest = from % extent_ + blocks_.front().offset;
  const auto after =
      std::lower_bound(blocks_.begin(), blocks_.end(), rest,
                       [](const Block& block, std::int64_t value) { return block.offset < value; });
  if (after == blocks_.begin()) return tile * size_;
  const Block& block = *(after - 1);
  return tile * size_ + block.start + std::min(rest - block.offset, block.size);
}

std::vector<FileSegment> FileView::segments(std::int64_t from, std::int64_t to) const {
  std::vector<FileSegment> found;
  if (from >= to) return found;
  const auto add = [&](std::int64_t offset, std::int64_t start, std::int64_t size) {
    if (!found.empty() && found.back().end() == offset) {
      found.back().size += size;
    } else {
      found.push_back({offset, start, size});
    }
  };
  if (gapless()) {
    add(place(from), from, to - from);
    return found;
  }
  std::int64_t tile = from / size_;
  auto block =
      std::upper_bound(blocks_.begin(), blocks_.end(), from % size_,
                       [](std::int64_t value, const Block& one) { return value < one.start; }) -
      1;
  for (std::int64_t at = from; at < to;) {
    const std::int64_t skip = at - tile * size_ - block->start;
    const std::int64_t size = std::min(block->size - skip, to - at);
    add(displacement_ + tile * extent_ + block->offset + skip, at, size);
    at += size;
    if (++block == blocks_.end()) {
      block = blocks_.begin();
      ++tile;
    }
  }
  return found;
}

bool FileView::fits(std::int64_t from, std::int64_t bytes) const {
  std::int64_t end = 0;
  if (__builtin_add_overflow(from, bytes, &end)) return false;
  if (empty()) return true;
  const Wide last = Wide{end / size_ + 1} * extent_ + displacement_ + blocks_.back().offset;
  return last <= std::numeric_limits<std::int64_t>::max();
}

}  // namespace weft::mpi
