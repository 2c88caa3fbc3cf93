// SPDX-License-Identifier: Apache-2.0
// Attributes of communicators and datatypes.
#include <algorithm>
#include <climits>
#include <memory>
#include <string>
#include <utility>

#include <weft/message/mpi/attributes.hpp>
#include <weft/message/mpi/call.hpp>
#include <weft/message/mpi/datatype.hpp>
#include <weft/message/mpi/keyvals.hpp>

using weft::mpi::Attributes;
using weft::mpi::Call;
using weft::mpi::Communicator;
using weft::mpi::Keyval;
using weft::mpi::Process;

namespace weft::mpi {

int free_keyval(Call& call, int* keyval, Keyval::Kind kind) {
  Process& process = call.process();
  Keyval* key = keyval ? find_keyval(process, *keyval, kind) : nullptr;
  if (!key) return call.result(MPI_ERR_KEYVAL);
  key->freed = true;
  if (key->users == 0) process.keyvals.free(key);
  *keyval = MPI_KEYVAL_INVALID;
  return MPI_SUCCESS;
}

int make_keyval(Call& call, const Keyval& key, int* keyval) {
  if (!keyval) return call.result(MPI_ERR_ARG);
  Process& process = call.process();
  *keyval = process.keyvals.number(process.keyvals.make(key));
  return MPI_SUCCESS;
}

namespace {

// The attributes of a datatype; null if it has none yet and `make` is false.
Attributes* attributes_of(Process& process, MPI_Datatype handle, bool make) {
  if (Datatype* derived = find_derived_type(handle)) {
    void** slot = derived->attributes();
    if (!*slot && make) *slot = new Attributes;
    return static_cast<Attributes*>(*slot);
  }
  for (auto& [type, attributes] : process.type_attributes) {
    if (type == handle) return &attributes;
  }
  return make ? &process.type_attributes.emplace_back(handle, Attributes()).second : nullptr;
}

}  // namespace

int copy_attributes(MPI_Datatype from, MPI_Datatype to) {
  Process& process = self();
  Attributes* source = attributes_of(process, from, false);
  if (!source || source->empty()) return MPI_SUCCESS;
  Attributes copied;
  const int error = source->copy_to(process, from, copied);
  if (error != MPI_SUCCESS) {
    copied.clear(process, to);
    return error;
  }
  if (!copied.empty()) *attributes_of(process, to, true) = std::move(copied);
  return MPI_SUCCESS;
}

int delete_attributes(MPI_Datatype datatype) {
  Process& process = self();
  Attributes* attributes = attributes_of(process, datatype, false);
  if (!attributes) return MPI_SUCCESS;
  if (const int error = attributes->clear(process, datatype)) return error;
  if (Datatype* derived = find_derived_type(datatype)) {
    delete attributes;
    *derived->attributes() = nullptr;
  }
  return MPI_SUCCESS;
}

const std::string* given_name(MPI_Datatype predefined) {
  for (const auto& [type, name] : self().type_names) {
    if (type == predefined) return &name;
  }
  return nullptr;
}

void give_name(MPI_Datatype predefined, std::string name) {
  auto& names = self().type_names;
  std::erase_if(names, [&](const auto& known) { return known.first == predefined; });
  names.emplace_back(predefined, std::move(name));
}

}  // namespace weft::mpi

namespace {

using weft::mpi::find_keyval;

// Predefined attributes that describe the environment; null for other keys.
const int* predefined(Process& process, int keyval) {
  static constexpr int tag_bound = INT_MAX, no_process = MPI_PROC_NULL, any = MPI_ANY_SOURCE,
                       yes = 1, zero = 0;
  switch (keyval) {
    case MPI_TAG_UB:
      return &tag_bound;
    case MPI_HOST:
      return &no_process;
    case MPI_IO:
      return &any;
    case MPI_WTIME_IS_GLOBAL:
      return process.runtime.one_clock() ? &yes : &zero;
    case MPI_UNIVERSE_SIZE: {
      const std::optional<int> universe = process.runtime.universe(process.world.size());
      if (!universe) return nullptr;
      process.universe_size = *universe;
      return &process.universe_size;
    }
    case MPI_APPNUM:
      process.application = process.runtime.application();
      return &process.application;
    case MPI_LASTUSEDCODE:
      return &process.last_used_code;
    default:
      return nullptr;
  }
}

int set(Call& call, MPI_Comm comm, int keyval, void* value) {
  Communicator* c = call.communicator(comm);
  if (!c) return call.error();
  Process& process = call.process();
  if (!find_keyval(process, keyval, Keyval::Kind::comm)) return call.result(c, MPI_ERR_KEYVAL);
  return call.result(c, c->attributes.set(process, comm, keyval, value));
}

int get(Call& call, MPI_Comm comm, int keyval, void* value, int* flag) {
  Communicator* c = call.communicator(comm);
  if (!c) return call.error();
  Process& process = call.process();
  if (!value || !flag) return call.result(c, MPI_ERR_ARG);
  if (const int* known = predefined(process, keyval)) {
    *static_cast<const void**>(value) = known;
    *flag = 1;
    return MPI_SUCCESS;
  }
  *flag = 0;
  if (keyval == MPI_UNIVERSE_SIZE) return MPI_SUCCESS;  // It is not known.
  if (!find_keyval(process, keyval, Keyval::Kind::comm)) return call.result(c, MPI_ERR_KEYVAL);
  *flag = c->attributes.get(keyval, static_cast<void**>(value)) ? 1 : 0;
  return MPI_SUCCESS;
}

int remove(Call& call, MPI_Comm comm, int keyval) {
  Communicator* c = call.communicator(comm);
  if (!c) return call.error();
  Process& process = call.process();
  if (!find_keyval(process, keyval, Keyval::Kind::comm)) return call.result(c, MPI_ERR_KEYVAL);
  return call.result(c, c->attributes.erase(process, comm, keyval));
}

int create(Call& call, MPI_Comm_copy_attr_function* copy, MPI_Comm_delete_attr_function* remove,
           int* keyval, void* extra_state) {
  Keyval key;
  key.kind = Keyval::Kind::comm;
  key.copy.comm = copy;
  key.remove.comm = remove;
  key.extra_state = extra_state;
  return make_keyval(call, key, keyval);
}

}  // namespace

WEFT_MPI(Comm_create_keyval)
(MPI_Comm_copy_attr_function* copy, MPI_Comm_delete_attr_function* remove, int* keyval,
 void* extra_state) {
  Call call("MPI_Comm_create_keyval", Call::local);
  return call.error() ? call.error() : create(call, copy, remove, keyval, extra_state);
}

WEFT_MPI(Keyval_create)
(MPI_Comm_copy_attr_function* copy, MPI_Comm_delete_attr_function* remove, int* keyval,
 void* extra_state) {
  Call call("MPI_Keyval_create", Call::local);
  return call.error() ? call.error() : create(call, copy, remove, keyval, extra_state);
}

WEFT_MPI(Comm_free_keyval)(int* keyval) {
  Call call("MPI_Comm_free_keyval", Call::local);
  return call.error() ? call.error() : free_keyval(call, keyval, Keyval::Kind::comm);
}

WEFT_MPI(Keyval_free)(int* keyval) {
  Call call("MPI_Keyval_free", Call::local);
  return call.error() ? call.error() : free_keyval(call, keyval, Keyval::Kind::comm);
}

WEFT_MPI(Comm_set_attr)(MPI_Comm comm, int keyval, void* value) {
  Call call("MPI_Comm_set_attr", Call::local);
  return set(call, comm, keyval, value);
}

WEFT_MPI(Attr_put)(MPI_Comm comm, int keyval, void* value) {
  Call call("MPI_Attr_put", Call::local);
  return set(call, comm, keyval, value);
}

WEFT_MPI(Comm_get_attr)(MPI_Comm comm, int keyval, void* value, int* flag) {
  Call call("MPI_Comm_get_attr", Call::local);
  return get(call, comm, keyval, value, flag);
}

WEFT_MPI(Attr_get)(MPI_Comm comm, int keyval, void* value, int* flag) {
  Call call("MPI_Attr_get", Call::local);
  return get(call, comm, keyval, value, flag);
}

WEFT_MPI(Comm_delete_attr)(MPI_Comm comm, int keyval) {
  Call call("MPI_Comm_delete_attr", Call::local);
  return remove(call, comm, keyval);
}

WEFT_MPI(Attr_delete)(MPI_Comm comm, int keyval) {
  Call call("MPI_Attr_delete", Call::local);
  return remove(call, comm, keyval);
}

WEFT_MPI(Type_create_keyval)
(MPI_Type_copy_attr_function* copy, MPI_Type_delete_attr_function* remove, int* keyval,
 void* extra_state) {
  Call call("MPI_Type_create_keyval", Call::local);
  if (call.error()) return call.error();
  Keyval key;
  key.kind = Keyval::Kind::type;
  key.copy.type = copy;
  key.remove.type = remove;
  key.extra_state = extra_state;
  return make_keyval(call, key, keyval);
}

WEFT_MPI(Type_free_keyval)(int* keyval) {
  Call call("MPI_Type_free_keyval", Call::local);
  return call.error() ? call.error() : free_keyval(call, keyval, Keyval::Kind::type);
}

WEFT_MPI(Type_set_attr)(MPI_Datatype datatype, int keyval, void* value) {
  Call call("MPI_Type_set_attr", Call::local);
  if (call.error()) return call.error();
  Process& process = call.process();
  if (!weft::mpi::find_type(datatype)) return call.result(MPI_ERR_TYPE);
  if (!find_keyval(process, keyval, Keyval::Kind::type)) return call.result(MPI_ERR_KEYVAL);
  Attributes* attributes = weft::mpi::attributes_of(process, datatype, true);
  return call.result(attributes->set(process, datatype, keyval, value));
}

WEFT_MPI(Type_get_attr)(MPI_Datatype datatype, int keyval, void* value, int* flag) {
  Call call("MPI_Type_get_attr", Call::local);
  if (call.error()) return call.error();
  Process& process = call.process();
  if (!weft::mpi::find_type(datatype)) return call.result(MPI_ERR_TYPE);
  if (!find_keyval(process, keyval, Keyval::Kind::type)) return call.result(MPI_ERR_KEYVAL);
  const Attributes* attributes = weft::mpi::attributes_of(process, datatype, false);
  *flag = attributes && attributes->get(keyval, static_cast<void**>(value)) ? 1 : 0;
  return MPI_SUCCESS;
}

WEFT_MPI(Type_delete_attr)(MPI_Datatype datatype, int keyval) {
  Call call("MPI_Type_delete_attr", Call::local);
  if (call.error()) return call.error();
  Process& process = call.process();
  if (!weft::mpi::find_type(datatype)) return call.result(MPI_ERR_TYPE);
  if (!find_keyval(process, keyval, Keyval::Kind::type)) return call.result(MPI_ERR_KEYVAL);
  Attributes* attributes = weft::mpi::attributes_of(process, datatype, false);
  const int error = attributes ? attributes->erase(process, datatype, keyval) : MPI_ERR_KEYVAL;
  return call.result(error);
}
