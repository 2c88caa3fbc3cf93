// SPDX-License-Identifier: Apache-2.0
#include "weft/workload/traces/otf2_write.hpp"

#ifdef WEFT_OTF2

#include <algorithm>
#include <cstdarg>
#include <map>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <otf2/otf2.h>

namespace weft {
namespace {

// Keeps the library from printing, and the first error for us.
class Trouble {
 public:
  Trouble() : before_(OTF2_Error_RegisterCallback(&hear, this)) {}
  ~Trouble() { OTF2_Error_RegisterCallback(before_, nullptr); }
  Trouble(const Trouble&) = delete;
  Trouble& operator=(const Trouble&) = delete;

  bool any() const { return first_ != OTF2_SUCCESS; }
  Error error(const std::string& path) const {
    const char* const why = any() ? OTF2_Error_GetDescription(first_) : nullptr;
    return Error::run(fmt::format("{}: cannot be written{}", path,
                                  why == nullptr ? "" : fmt::format(" ({})", why)));
  }

 private:
  // NOLINTNEXTLINE(readability-function-size): the library says which parameters.
  static OTF2_ErrorCode hear(void* self, const char*, std::uint64_t, const char*,
                             OTF2_ErrorCode code, const char*, va_list) {
    auto& first = static_cast<Trouble*>(self)->first_;
    if (first == OTF2_SUCCESS && code > OTF2_SUCCESS) first = code;
    return code;
  }

  OTF2_ErrorCallback before_;
  OTF2_ErrorCode first_ = OTF2_SUCCESS;
};

// A number for each name or number, in the order of their coming.
template <typename Key>
class Numbers {
 public:
  std::uint32_t operator[](const Key& key) {
    const auto [found, is_new] = numbers_.emplace(key, static_cast<std::uint32_t>(list_.size()));
    if (is_new) list_.push_back(key);
    return found->second;
  }
  const std::vector<Key>& list() const { return list_; }

 private:
  std::map<Key, std::uint32_t> numbers_;
  std::vector<Key> list_;
};

class Writer final : public Otf2Writer {
 public:
  Writer(const std::string& folder, const std::string& name);
  ~Writer() override {
    if (archive_ != nullptr) OTF2_Archive_Close(archive_);
  }
  bool is_open() const { return archive_ != nullptr && !trouble_.any(); }
  Error error() const { return trouble_.error(path_); }

  Status begin_rank(std::uint32_t rank) override;
  void enter(std::uint64_t at_ns, const std::string& region) override {
    OTF2_EvtWriter_Enter(events_, nullptr, moment(at_ns), regions_[region]);
  }
  void leave(std::uint64_t at_ns, const std::string& region) override {
    OTF2_EvtWriter_Leave(events_, nullptr, moment(at_ns), regions_[region]);
  }
  void send(std::uint64_t at_ns, const TracedMessage& m) override {
    OTF2_EvtWriter_MpiSend(events_, nullptr, moment(at_ns), m.peer, comms_[m.comm], tag(m),
                           m.bytes);
  }
  void receive(std::uint64_t at_ns, const TracedMessage& m) override {
    OTF2_EvtWriter_MpiRecv(events_, nullptr, moment(at_ns), m.peer, comms_[m.comm], tag(m),
                           m.bytes);
  }
  void receive_begin(std::uint64_t at_ns, std::uint64_t number) override {
    OTF2_EvtWriter_MpiIrecvRequest(events_, nullptr, moment(at_ns), number);
  }
  void receive_end(std::uint64_t at_ns, const TracedMessage& m, std::uint64_t number) override {
    OTF2_EvtWriter_MpiIrecv(events_, nullptr, moment(at_ns), m.peer, comms_[m.comm], tag(m),
                            m.bytes, number);
  }
  std::vector<std::uint32_t> comms() const override { return comms_.list(); }
  Status finish(const Names& names) override;

 private:
  static std::uint32_t tag(const TracedMessage& message) {
    return static_cast<std::uint32_t>(message.tag);
  }
  // The library refuses to go back in time.
  std::uint64_t moment(std::uint64_t at_ns) {
    last_ns_ = std::max(last_ns_, at_ns);
    end_ns_ = std::max(end_ns_, at_ns);
    return last_ns_;
  }
  void end_rank();
  void define(OTF2_GlobalDefWriter* out, const Names& names);
  void define_places(OTF2_GlobalDefWriter* out, const std::vector<std::string>& hosts);
  void define_comms(OTF2_GlobalDefWriter* out, const std::vector<std::string>& names);
  OTF2_StringRef text(OTF2_GlobalDefWriter* out, const std::string& words);

  Trouble trouble_;  // First: it hears all.
  std::string path_;
  OTF2_Archive* archive_;
  OTF2_EvtWriter* events_ = nullptr;
  std::uint32_t rank_ = 0;
  std::map<std::uint32_t, std::uint64_t> counts_;  // Events of each rank.
  Numbers<std::string> regions_, texts_;
  Numbers<std::uint32_t> comms_;
  std::uint64_t last_ns_ = 0, end_ns_ = 0;
};

Writer::Writer(const std::string& folder, const std::string& name)
    : path_(folder + "/" + name + ".otf2"),
      archive_(OTF2_Archive_Open(folder.c_str(), name.c_str(), OTF2_FILEMODE_WRITE, 1 << 20,
                                 4 << 20, OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE)) {
  if (archive_ == nullptr) return;
  static OTF2_FlushCallbacks flush = {};
  flush.otf2_pre_flush = [](void*, OTF2_FileType, OTF2_LocationRef, void*, bool) -> OTF2_FlushType {
    return OTF2_FLUSH;
  };
  // When is asked for as a record of its own, which is of no use here.
  flush.otf2_post_flush = nullptr;
  OTF2_Archive_SetFlushCallbacks(archive_, &flush, nullptr);
  OTF2_Archive_SetSerialCollectiveCallbacks(archive_);
  OTF2_Archive_SetCreator(archive_, "weft");
  OTF2_Archive_OpenEvtFiles(archive_);
}

Status Writer::begin_rank(std::uint32_t rank) {
  end_rank();
  events_ = OTF2_Archive_GetEvtWriter(archive_, rank);
  if (events_ == nullptr || trouble_.any()) return error();
  rank_ = rank;
  last_ns_ = 0;
  return {};
}

void Writer::end_rank() {
  if (events_ == nullptr) return;
  OTF2_EvtWriter_GetNumberOfEvents(events_, &counts_[rank_]);
  OTF2_Archive_CloseEvtWriter(archive_, events_);
  events_ = nullptr;
}

OTF2_StringRef Writer::text(OTF2_GlobalDefWriter* out, const std::string& words) {
  const std::size_t known = texts_.list().size();
  const OTF2_StringRef number = texts_[words];
  if (number == known) OTF2_GlobalDefWriter_WriteString(out, number, words.c_str());
  return number;
}

void Writer::define_places(OTF2_GlobalDefWriter* out, const std::vector<std::string>& hosts) {
  const OTF2_StringRef machine = text(out, "machine"), node = text(out, "node");
  OTF2_GlobalDefWriter_WriteSystemTreeNode(out, 0, machine, machine,
                                           OTF2_UNDEFINED_SYSTEM_TREE_NODE);
  Numbers<std::string> nodes;
  for (std::uint32_t rank = 0; rank < hosts.size(); ++rank) {
    const std::size_t known = nodes.list().size();
    const std::uint32_t number = nodes[hosts[rank]];
    if (number == known) {
      OTF2_GlobalDefWriter_WriteSystemTreeNode(out, number + 1, text(out, hosts[rank]), node, 0);
    }
    const OTF2_StringRef name = text(out, fmt::format("rank {}", rank));
    OTF2_GlobalDefWriter_WriteLocationGroup(out, rank, name, OTF2_LOCATION_GROUP_TYPE_PROCESS,
                                            number + 1, OTF2_UNDEFINED_LOCATION_GROUP);
    OTF2_GlobalDefWriter_WriteLocation(out, rank, name, OTF2_LOCATION_TYPE_CPU_THREAD,
                                       counts_[rank], rank);
  }
}

void Writer::define_comms(OTF2_GlobalDefWriter* out, const std::vector<std::string>& names) {
  std::vector<std::uint64_t> all(counts_.size());
  for (std::size_t rank = 0; rank < all.size(); ++rank) all[rank] = rank;
  const auto count = static_cast<std::uint32_t>(all.size());
  const OTF2_StringRef none = text(out, "");
  OTF2_GlobalDefWriter_WriteGroup(out, 0, none, OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_PARADIGM_MPI,
                                  OTF2_GROUP_FLAG_NONE, count, all.data());
  OTF2_GlobalDefWriter_WriteGroup(out, 1, none, OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI,
                                  OTF2_GROUP_FLAG_NONE, count, all.data());
  for (std::uint32_t i = 0; i < names.size(); ++i) {
    OTF2_GlobalDefWriter_WriteComm(out, i, text(out, names[i]), 1, OTF2_UNDEFINED_COMM,
                                   OTF2_COMM_FLAG_NONE);
  }
}

void Writer::define(OTF2_GlobalDefWriter* out, const Names& names) {
  OTF2_GlobalDefWriter_WriteClockProperties(out, 1'000'000'000, 0, end_ns_ + 1,
                                            OTF2_UNDEFINED_TIMESTAMP);
  const OTF2_StringRef none = text(out, "");
  define_places(out, names.hosts);
  for (std::uint32_t i = 0; i < regions_.list().size(); ++i) {
    const OTF2_StringRef name = text(out, regions_.list()[i]);
    OTF2_GlobalDefWriter_WriteRegion(out, i, name, name, none, OTF2_REGION_ROLE_FUNCTION,
                                     OTF2_PARADIGM_MPI, OTF2_REGION_FLAG_NONE, none, 0, 0);
  }
  define_comms(out, names.comms);
}

Status Writer::finish(const Names& names) {
  end_rank();
  OTF2_Archive_CloseEvtFiles(archive_);
  // Every rank has a file of events and one of definitions, though there be nothing in them.
  OTF2_Archive_OpenDefFiles(archive_);
  for (std::uint32_t rank = 0; rank < names.hosts.size(); ++rank) {
    counts_.try_emplace(rank, 0);
    OTF2_DefWriter* const own = OTF2_Archive_GetDefWriter(archive_, rank);
    if (own != nullptr) OTF2_Archive_CloseDefWriter(archive_, own);
  }
  OTF2_Archive_CloseDefFiles(archive_);
  OTF2_GlobalDefWriter* const out = OTF2_Archive_GetGlobalDefWriter(archive_);
  if (out == nullptr) return error();
  define(out, names);
  OTF2_Archive_CloseGlobalDefWriter(archive_, out);
  const bool closed = OTF2_Archive_Close(archive_) == OTF2_SUCCESS;
  archive_ = nullptr;
  if (!closed || trouble_.any()) return error();
  return {};
}

}  // namespace

Result<std::unique_ptr<Otf2Writer>> Otf2Writer::create(const std::string& folder,
                                                       const std::string& name) {
  auto writer = std::make_unique<Writer>(folder, name);
  if (!writer->is_open()) return writer->error();
  return std::unique_ptr<Otf2Writer>(std::move(writer));
}

}  // namespace weft

#else

namespace weft {

Result<std::unique_ptr<Otf2Writer>> Otf2Writer::create(const std::string& folder,
                                                       const std::string& name) {
  return Error::input(
             "this weft cannot write OTF2 archives; install libotf2-trace-dev and build it again")
      .at(folder + "/" + name + ".otf2", 0);
}

}  // namespace weft

#endif
