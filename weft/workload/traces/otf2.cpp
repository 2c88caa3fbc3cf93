// SPDX-License-Identifier: Apache-2.0
#include "weft/workload/traces/otf2.hpp"

#ifdef WEFT_OTF2

#include <cstdarg>
#include <utility>

#include <fmt/format.h>
#include <otf2/otf2.h>

#include <weft/workload/traces/ranks.hpp>

namespace weft {
namespace {

using detail::TraceGroup;
using detail::TraceLocation;
using detail::TraceRanks;

static_assert(OTF2_COLLECTIVE_OP_BCAST == 1 && OTF2_COLLECTIVE_OP_SCATTERV == 5 &&
              OTF2_COLLECTIVE_OP_ALLTOALLW == 10 && OTF2_COLLECTIVE_OP_ALLREDUCE == 11 &&
              OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK == 16);
static_assert(OTF2_COLLECTIVE_ROOT_SELF == TraceRanks::root_is_self &&
              OTF2_COLLECTIVE_ROOT_THIS_GROUP == TraceRanks::root_is_on_this_side);

constexpr std::string_view remedy = "; copy the whole archive anew, or record the run again";

// The library tells about errors on standard error unless someone listens. The first one is the
// reason of those that follow.
class ErrorListener {
 public:
  ErrorListener() : before_(OTF2_Error_RegisterCallback(&hear, this)) {}
  ~ErrorListener() { OTF2_Error_RegisterCallback(before_, nullptr); }
  ErrorListener(const ErrorListener&) = delete;
  ErrorListener& operator=(const ErrorListener&) = delete;

  Error error(std::string_view what) const {
    const char* const why = first_ == OTF2_SUCCESS ? nullptr : OTF2_Error_GetDescription(first_);
    if (why == nullptr) return Error::input(fmt::format("{}{}", what, remedy));
    return Error::input(fmt::format("{} ({}){}", what, why, remedy));
  }

 private:
  // NOLINTNEXTLINE(readability-function-size): the library says which parameters.
  static OTF2_ErrorCode hear(void* self, const char*, std::uint64_t, const char*,
                             OTF2_ErrorCode code, const char*, va_list) {
    auto& first = static_cast<ErrorListener*>(self)->first_;
    if (first == OTF2_SUCCESS && code > OTF2_SUCCESS) first = code;
    return code;
  }

  OTF2_ErrorCallback before_;
  OTF2_ErrorCode first_ = OTF2_SUCCESS;
};

class Archive {
 public:
  explicit Archive(const std::string& path) : reader_(OTF2_Reader_Open(path.c_str())) {}
  ~Archive() {
    if (reader_ != nullptr) OTF2_Reader_Close(reader_);
  }
  Archive(const Archive&) = delete;
  Archive& operator=(const Archive&) = delete;

  Status read();
  TraceRanks& ranks() { return ranks_; }

 private:
  static Archive& of(void* self) { return *static_cast<Archive*>(self); }
  OTF2_CallbackCode go_on(const Status& status) {
    if (status) return OTF2_CALLBACK_SUCCESS;
    problem_ = status.error().message();
    return OTF2_CALLBACK_INTERRUPT;
  }
  OTF2_CallbackCode group(OTF2_GroupRef id, OTF2_GroupType type, OTF2_GroupFlag flags,
                          std::span<const std::uint64_t> members);
  static OTF2_CallbackCode collective(void* self, OTF2_CollectiveOp operation, OTF2_CommRef comm,
                                      detail::CollectivePart part) {
    part.spread = detail::spread_of(operation);
    return of(self).go_on(of(self).ranks_.collect(comm, part));
  }
  Status read_definitions();
  void listen_to_definitions(OTF2_GlobalDefReader* definitions);
  Status read_local_definitions();
  Status read_events(const TraceLocation& location);
  void listen_to_events(OTF2_EvtReader* events);

  ErrorListener listener_;  // First: it hears the opening, too.
  OTF2_Reader* reader_;
  TraceRanks ranks_;
  std::string problem_;
};

OTF2_CallbackCode Archive::group(OTF2_GroupRef id, OTF2_GroupType type, OTF2_GroupFlag flags,
                                 std::span<const std::uint64_t> members) {
  TraceGroup group;
  group.uses_world_ranks = (flags & OTF2_GROUP_FLAG_GLOBAL_MEMBERS) != 0;
  switch (type) {
    case OTF2_GROUP_TYPE_COMM_LOCATIONS:
      group.kind = TraceGroup::Kind::world;
      break;
    case OTF2_GROUP_TYPE_COMM_GROUP:
      group.kind = TraceGroup::Kind::members;
      break;
    case OTF2_GROUP_TYPE_COMM_SELF:
      group.kind = TraceGroup::Kind::self;
      break;
    default:
      return OTF2_CALLBACK_SUCCESS;
  }
  return go_on(ranks_.define_group(id, group, members));
}

void Archive::listen_to_definitions(OTF2_GlobalDefReader* definitions) {
  auto* const calls = OTF2_GlobalDefReaderCallbacks_New();
  OTF2_GlobalDefReaderCallbacks_SetLocationCallback(
      calls,
      [](void* self, OTF2_LocationRef id, OTF2_StringRef, OTF2_LocationType, std::uint64_t events,
         OTF2_LocationGroupRef process) -> OTF2_CallbackCode {
        of(self).ranks_.define_location({id, events, process});
        return OTF2_CALLBACK_SUCCESS;
      });
  OTF2_GlobalDefReaderCallbacks_SetGroupCallback(
      calls,
      [](void* self, OTF2_GroupRef id, OTF2_StringRef, OTF2_GroupType type, OTF2_Paradigm paradigm,
         OTF2_GroupFlag flags, std::uint32_t count,
         const std::uint64_t* members) -> OTF2_CallbackCode {
        if (paradigm != OTF2_PARADIGM_MPI) return OTF2_CALLBACK_SUCCESS;
        return of(self).group(id, type, flags, {members, count});
      });
  OTF2_GlobalDefReaderCallbacks_SetCommCallback(
      calls,
      [](void* self, OTF2_CommRef id, OTF2_StringRef, OTF2_GroupRef group, OTF2_CommRef,
         OTF2_CommFlag) -> OTF2_CallbackCode {
        of(self).ranks_.define_comm(id, group);
        return OTF2_CALLBACK_SUCCESS;
      });
  OTF2_GlobalDefReaderCallbacks_SetInterCommCallback(
      calls,
      [](void* self, OTF2_CommRef id, OTF2_StringRef, OTF2_GroupRef a, OTF2_GroupRef b,
         OTF2_CommRef, OTF2_CommFlag) -> OTF2_CallbackCode {
        of(self).ranks_.define_comm_between(id, a, b);
        return OTF2_CALLBACK_SUCCESS;
      });
  OTF2_Reader_RegisterGlobalDefCallbacks(reader_, definitions, calls, this);
  OTF2_GlobalDefReaderCallbacks_Delete(calls);
}

Status Archive::read_definitions() {
  auto* const definitions = OTF2_Reader_GetGlobalDefReader(reader_);
  if (definitions == nullptr) return listener_.error("the definitions cannot be opened");
  listen_to_definitions(definitions);
  std::uint64_t count = 0;
  const auto code = OTF2_Reader_ReadAllGlobalDefinitions(reader_, definitions, &count);
  OTF2_Reader_CloseGlobalDefReader(reader_, definitions);
  if (!problem_.empty()) return Error::input(fmt::format("{}{}", problem_, remedy));
  if (code != OTF2_SUCCESS) return listener_.error("the definitions are damaged");
  if (Status s = ranks_.finish_definitions(); !s) return listener_.error(s.error().message());
  return {};
}

// They translate the communicators of each location to those of all.
Status Archive::read_local_definitions() {
  // An archive that needs no translation may be without.
  if (OTF2_Reader_OpenDefFiles(reader_) != OTF2_SUCCESS) return {};
  bool is_good = true;
  for (const TraceLocation& location : ranks_.locations()) {
    auto* const definitions = OTF2_Reader_GetDefReader(reader_, location.id);
    if (definitions == nullptr) continue;
    std::uint64_t count = 0;
    is_good = is_good &&
              OTF2_Reader_ReadAllLocalDefinitions(reader_, definitions, &count) == OTF2_SUCCESS;
    OTF2_Reader_CloseDefReader(reader_, definitions);
  }
  OTF2_Reader_CloseDefFiles(reader_);
  if (!is_good) return listener_.error("the definitions of a location are damaged");
  return {};
}

void Archive::listen_to_events(OTF2_EvtReader* events) {
  auto* const calls = OTF2_EvtReaderCallbacks_New();
  OTF2_EvtReaderCallbacks_SetMpiSendCallback(
      calls,
      [](OTF2_LocationRef, OTF2_TimeStamp, std::uint64_t, void* self, OTF2_AttributeList*,
         std::uint32_t receiver, OTF2_CommRef comm, std::uint32_t,
         std::uint64_t bytes) -> OTF2_CallbackCode {
        return of(self).go_on(of(self).ranks_.send(comm, receiver, bytes));
      });
  OTF2_EvtReaderCallbacks_SetMpiIsendCallback(
      calls,
      [](OTF2_LocationRef, OTF2_TimeStamp, std::uint64_t, void* self, OTF2_AttributeList*,
         std::uint32_t receiver, OTF2_CommRef comm, std::uint32_t, std::uint64_t bytes,
         std::uint64_t) -> OTF2_CallbackCode {
        return of(self).go_on(of(self).ranks_.send(comm, receiver, bytes));
      });
  OTF2_EvtReaderCallbacks_SetMpiCollectiveEndCallback(
      calls,
      [](OTF2_LocationRef, OTF2_TimeStamp, std::uint64_t, void* self, OTF2_AttributeList*,
         OTF2_CollectiveOp operation, OTF2_CommRef comm, std::uint32_t root, std::uint64_t sent,
         std::uint64_t received) -> OTF2_CallbackCode {
        return collective(self, operation, comm,
                          {.root = root, .sent = sent, .received = received});
      });
  OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveCompleteCallback(
      calls,
      [](OTF2_LocationRef, OTF2_TimeStamp, std::uint64_t, void* self, OTF2_AttributeList*,
         OTF2_CollectiveOp operation, OTF2_CommRef comm, std::uint32_t root, std::uint64_t sent,
         std::uint64_t received, std::uint64_t) -> OTF2_CallbackCode {
        return collective(self, operation, comm,
                          {.root = root, .sent = sent, .received = received});
      });
  OTF2_Reader_RegisterEvtCallbacks(reader_, events, calls, this);
  OTF2_EvtReaderCallbacks_Delete(calls);
}

Status Archive::read_events(const TraceLocation& location) {
  if (location.events == 0) return {};
  ranks_.enter(location);
  auto* const events = OTF2_Reader_GetEvtReader(reader_, location.id);
  if (events == nullptr)
    return listener_.error(fmt::format("the events of location {} cannot be opened", location.id));
  listen_to_events(events);
  std::uint64_t count = 0;
  const auto code = OTF2_Reader_ReadAllLocalEvents(reader_, events, &count);
  OTF2_Reader_CloseEvtReader(reader_, events);
  if (!problem_.empty()) return Error::input(fmt::format("{}{}", problem_, remedy));
  // A part of the traffic would look like all of it.
  if (code != OTF2_SUCCESS || count != location.events)
    return listener_.error(fmt::format("location {} has {} events, but {} could be read",
                                       location.id, location.events, count));
  return {};
}

Status Archive::read() {
  if (reader_ == nullptr) return listener_.error("this cannot be opened as an OTF2 archive");
  if (OTF2_Reader_SetSerialCollectiveCallbacks(reader_) != OTF2_SUCCESS)
    return listener_.error("the archive cannot be opened");
  if (Status s = read_definitions(); !s) return s;
  for (const TraceLocation& location : ranks_.locations())
    if (OTF2_Reader_SelectLocation(reader_, location.id) != OTF2_SUCCESS)
      return listener_.error(fmt::format("location {} cannot be read", location.id));
  if (Status s = read_local_definitions(); !s) return s;
  if (OTF2_Reader_OpenEvtFiles(reader_) != OTF2_SUCCESS)
    return listener_.error("the events cannot be opened");
  for (const TraceLocation& location : ranks_.locations())
    if (Status s = read_events(location); !s) return s;
  OTF2_Reader_CloseEvtFiles(reader_);
  return {};
}

}  // namespace

bool has_otf2() {
  return true;
}

Result<TrafficMatrix> read_otf2(const std::string& anchor_path) {
  Archive archive(anchor_path);
  if (Status s = archive.read(); !s) return std::move(s).error().at(anchor_path, 0);
  auto made = std::move(archive.ranks()).finish();
  if (!made) return std::move(made).error().at(anchor_path, 0);
  return made;
}

}  // namespace weft

#else

namespace weft {

bool has_otf2() {
  return false;
}

Result<TrafficMatrix> read_otf2(const std::string& anchor_path) {
  return Error::input(
             "this weft cannot read OTF2 archives; install libotf2-trace-dev and build it again")
      .at(anchor_path, 0);
}

}  // namespace weft

#endif
