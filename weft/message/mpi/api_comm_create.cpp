// SPDX-License-Identifier: Apache-2.0
// New communicators from one: duplicates, splits, subsets.
#include <string>
#include <utility>

#include <weft/message/mpi/call.hpp>
#include <weft/message/mpi/contexts.hpp>
#include <weft/message/mpi/group.hpp>
#include <weft/message/mpi/session.hpp>

using weft::mp::Members;
using weft::mpi::Call;
using weft::mpi::Communicator;
using weft::mpi::Finder;
using weft::mpi::InfoTable;
using weft::mpi::InternalScope;
using weft::mpi::Process;
namespace mp = weft::mp;

namespace {

// The hints of a call: null if there are none; returns an error if the handle is bad.
int find_hints(Call& call, const Communicator& comm, MPI_Info info, const InfoTable*& hints) {
  hints = nullptr;
  if (info == MPI_INFO_NULL) return MPI_SUCCESS;
  hints = find_info(call.process(), info);
  return hints ? MPI_SUCCESS : call.result(&comm, MPI_ERR_INFO);
}

// Copies everything of a duplicate except its context.
Communicator* copy(Process& process, const Communicator& parent, const InfoTable* hints) {
  Communicator* made =
      make_communicator(process, parent, {0, parent.local, parent.remote, parent.inter});
  made->topology = parent.topology;
  if (hints) made->info = *hints;
  return made;
}

int copy_attributes(Call& call, Communicator& parent, Communicator* made) {
  Process& process = call.process();
  const int error = parent.attributes.copy_to(process, parent.handle, made->attributes);
  if (error == MPI_SUCCESS) return MPI_SUCCESS;
  made->attributes.clear(process, made->handle);
  release(process, made);
  return call.result(&parent, error);
}

int duplicate(Call& call, MPI_Comm comm, MPI_Info info, MPI_Comm* newcomm) {
  Communicator* parent = call.communicator(comm);
  if (!parent) return call.error();
  if (!newcomm) return call.result(parent, MPI_ERR_ARG);
  const InfoTable* hints = nullptr;
  if (const int error = find_hints(call, *parent, info, hints)) return error;
  Process& process = call.process();
  *newcomm = MPI_COMM_NULL;
  const std::optional<std::uint32_t> context = agree_context(process, *parent);
  if (!context) return call.result(parent, parent->failure());
  Communicator* made = copy(process, *parent, hints);
  made->context = *context;
  catch_up(process, *made);
  if (const int error = copy_attributes(call, *parent, made)) return error;
  *newcomm = made->handle;
  return MPI_SUCCESS;
}

class Duplication final : public weft::mpi::Operation {
 public:
  Duplication(Process& process, Communicator& parent, Communicator& made)
      : process_(process), parent_(parent), made_(made) {
    made_.retain();
  }
  ~Duplication() override { release(process_, &made_); }
  Duplication(const Duplication&) = delete;
  Duplication& operator=(const Duplication&) = delete;

  mp::Task start() override { return steps(*this); }

 private:
  static mp::Task steps(Duplication& self) {
    const InternalScope scope = scope_of(self.process_, self.parent_);
    mp::Task agreed = agree(self.process_, {scope, false}, self.made_.context);
    if (co_await agreed != 0) co_return self.parent_.failure();
    catch_up(self.process_, self.made_);
    co_return MPI_SUCCESS;
  }

  Process& process_;
  Communicator& parent_;
  Communicator& made_;
};

int start_duplicate(Call& call, MPI_Comm comm, MPI_Info info, MPI_Comm* newcomm,
                    MPI_Request* request) {
  Communicator* parent = call.communicator(comm);
  if (!parent) return call.error();
  if (!newcomm || !request) return call.result(parent, MPI_ERR_ARG);
  const InfoTable* hints = nullptr;
  if (const int error = find_hints(call, *parent, info, hints)) return error;
  Process& process = call.process();
  Communicator* made = copy(process, *parent, hints);
  if (const int error = copy_attributes(call, *parent, made)) return error;
  *newcomm = made->handle;
  *request = handle_of(
      start_operation(process, *parent, std::make_unique<Duplication>(process, *parent, *made)));
  return MPI_SUCCESS;
}

void give(MPI_Comm* newcomm, const Communicator* made) {
  *newcomm = made ? made->handle : MPI_COMM_NULL;
}

int give_part(Call& call, Communicator& parent, int colour, int key, MPI_Comm* newcomm) {
  Communicator* made = nullptr;
  const int error = split(call.process(), parent, colour, key, made);
  give(newcomm, made);
  return call.result(&parent, error);
}

bool all_in(const Members& some, const Members& all) {
  const Finder finder(all);
  for (int i = 0; i < some.size(); ++i) {
    if (!finder.find(some[i])) return false;
  }
  return true;
}

bool spans_nodes(const Process& process, const Communicator& comm) {
  const auto node = process.runtime.node_of(process.rank());
  for (int i = 0; i < comm.size(); ++i) {
    if (process.runtime.node_of(comm.local[i]) != node) return true;
  }
  return false;
}

// The same for all members of the communicator that are on this node. Ranks that did not start
// together may count nodes differently, but not members.
int colour_of_node(const Process& process, const Communicator& comm) {
  const std::uint32_t node = process.runtime.node_of(process.rank());
  if (comm.worlds.empty()) return static_cast<int>(node);
  int first = 0;
  while (process.runtime.node_of(comm.local[first]) != node) ++first;
  return first;
}

// The colour of ranks that share a resource of this name.
int colour_of_resource(const Process& process, const Communicator& comm, const std::string* name) {
  const bool node = name && (*name == "mpi_shared_memory" || *name == weft::mpi::node_resource);
  return node ? colour_of_node(process, comm) : MPI_UNDEFINED;
}

int colour_of_set(const Process& process, const std::string* name) {
  const auto members = name ? weft::mpi::find_process_set(process, *name) : std::nullopt;
  if (!members) return MPI_UNDEFINED;
  const bool whole = members->size() == process.world.local.size();
  return static_cast<int>(whole ? process.fabric.first : process.rank().index);
}

// Which ranks belong together, and by which resource if the library chooses one.
int colour_of(const Process& process, const Communicator& comm, int split_type, InfoTable* hints) {
  const std::string* const type = hints ? hints->find("mpi_hw_resource_type") : nullptr;
  switch (split_type) {
    case MPI_COMM_TYPE_SHARED:
      return colour_of_node(process, comm);
    case MPI_COMM_TYPE_HW_UNGUIDED:
      // The next smaller part of the machine: ranks of one node know of none.
      if (!spans_nodes(process, comm)) return MPI_UNDEFINED;
      if (hints) hints->set("mpi_hw_resource_type", weft::mpi::node_resource);
      return colour_of_node(process, comm);
    case MPI_COMM_TYPE_HW_GUIDED:
      return colour_of_resource(process, comm, type);
    case MPI_COMM_TYPE_RESOURCE_GUIDED:
      if (type) return colour_of_resource(process, comm, type);
      return colour_of_set(process, hints ? hints->find("mpi_pset_name") : nullptr);
    default:
      return MPI_UNDEFINED;
  }
}

}  // namespace

WEFT_MPI(Comm_dup)(MPI_Comm comm, MPI_Comm* newcomm) {
  Call call("MPI_Comm_dup", Call::communicates);
  return duplicate(call, comm, MPI_INFO_NULL, newcomm);
}

WEFT_MPI(Comm_dup_with_info)(MPI_Comm comm, MPI_Info info, MPI_Comm* newcomm) {
  Call call("MPI_Comm_dup_with_info", Call::communicates);
  return duplicate(call, comm, info, newcomm);
}

WEFT_MPI(Comm_idup)(MPI_Comm comm, MPI_Comm* newcomm, MPI_Request* request) {
  Call call("MPI_Comm_idup", Call::communicates);
  return start_duplicate(call, comm, MPI_INFO_NULL, newcomm, request);
}

WEFT_MPI(Comm_idup_with_info)
(MPI_Comm comm, MPI_Info info, MPI_Comm* newcomm, MPI_Request* request) {
  Call call("MPI_Comm_idup_with_info", Call::communicates);
  return start_duplicate(call, comm, info, newcomm, request);
}

WEFT_MPI(Comm_split)(MPI_Comm comm, int color, int key, MPI_Comm* newcomm) {
  Call call("MPI_Comm_split", Call::communicates);
  Communicator* parent = call.communicator(comm);
  if (!parent) return call.error();
  if (!newcomm) return call.result(parent, MPI_ERR_ARG);
  if (color < 0 && color != MPI_UNDEFINED) return call.result(parent, MPI_ERR_ARG, "color");
  return give_part(call, *parent, color, key, newcomm);
}

WEFT_MPI(Comm_split_type)
(MPI_Comm comm, int split_type, int key, MPI_Info info, MPI_Comm* newcomm) {
  Call call("MPI_Comm_split_type", Call::communicates);
  Communicator* parent = call.communicator(comm);
  if (!parent) return call.error();
  InfoTable* const hints = info == MPI_INFO_NULL ? nullptr : find_info(call.process(), info);
  if (info != MPI_INFO_NULL && !hints) return call.result(parent, MPI_ERR_INFO);
  const bool known = split_type == MPI_UNDEFINED || (split_type >= MPI_COMM_TYPE_SHARED &&
                                                     split_type <= MPI_COMM_TYPE_RESOURCE_GUIDED);
  if (!newcomm || !known) return call.result(parent, MPI_ERR_ARG);
  Process& process = call.process();
  const int colour = colour_of(process, *parent, split_type, hints);
  return give_part(call, *parent, colour, key, newcomm);
}

WEFT_MPI(Comm_create)(MPI_Comm comm, MPI_Group group, MPI_Comm* newcomm) {
  Call call("MPI_Comm_create", Call::communicates);
  Communicator* parent = call.communicator(comm);
  if (!parent) return call.error();
  Process& process = call.process();
  const Members* members = find_group(process, group);
  if (!members || !all_in(*members, parent->local)) return call.result(parent, MPI_ERR_GROUP);
  if (!newcomm) return call.result(parent, MPI_ERR_ARG);
  const std::optional<int> rank = members->find(process.rank());
  if (parent->inter) {
    // The group of the other side is not known, so it takes a split.
    return give_part(call, *parent, rank ? 0 : MPI_UNDEFINED, rank.value_or(0), newcomm);
  }
  *newcomm = MPI_COMM_NULL;
  const std::optional<std::uint32_t> context = agree_context(process, *parent);
  if (!context) return call.result(parent, parent->failure());
  give(newcomm,
       rank ? make_communicator(process, *parent, {*context, *members, {}, false}) : nullptr);
  return MPI_SUCCESS;
}

WEFT_MPI(Comm_create_group)(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm* newcomm) {
  Call call("MPI_Comm_create_group", Call::communicates);
  Communicator* parent = call.communicator(comm);
  if (!parent) return call.error();
  Process& process = call.process();
  if (parent->inter) return call.result(parent, MPI_ERR_COMM, "an intercommunicator");
  const Members* members = find_group(process, group);
  if (!members || !all_in(*members, parent->local)) return call.result(parent, MPI_ERR_GROUP);
  if (tag < 0) return call.result(parent, MPI_ERR_TAG);
  if (!newcomm) return call.result(parent, MPI_ERR_ARG);
  *newcomm = MPI_COMM_NULL;
  const std::optional<int> rank = members->find(process.rank());
  if (!rank) return MPI_SUCCESS;
  const mp::ContextId traffic = parent->context_of(Communicator::Traffic::creation);
  const InternalScope scope{{process.messenger, *members, *rank, traffic, tag}, 0, false, {}};
  std::uint32_t context = 0;
  if (process.run(agree(process, {scope, true}, context)) != 0) {
    return call.result(parent, parent->failure());
  }
  give(newcomm, make_communicator(process, *parent, {context, *members, {}, false}));
  return MPI_SUCCESS;
}
