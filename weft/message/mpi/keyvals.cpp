// SPDX-License-Identifier: Apache-2.0
#include "keyvals.hpp"

#include <algorithm>

#include <weft/message/mpi/process.hpp>

namespace weft::mpi {

Keyval* find_keyval(Process& process, int keyval, Keyval::Kind kind) {
  Keyval* found = process.keyvals.numbered(keyval);
  return found && found->kind == kind ? found : nullptr;
}

namespace {

// Keeps a key while a function of the program runs, which may delete its last attribute.
class KeyInUse {
 public:
  KeyInUse(Process& process, int keyval)
      : process_(process), key_(*process.keyvals.numbered(keyval)) {
    ++key_.users;
  }
  ~KeyInUse() {
    if (--key_.users == 0 && key_.freed) process_.keyvals.free(&key_);
  }
  KeyInUse(const KeyInUse&) = delete;
  KeyInUse& operator=(const KeyInUse&) = delete;
  Keyval& operator*() const { return key_; }
  Keyval* operator->() const { return &key_; }

 private:
  Process& process_;
  Keyval& key_;
};

// All kinds of copy functions that mean "do not copy" and "copy the value" have these values.
constexpr std::uintptr_t null_copy = 0, plain_copy = 1;

int call_copy(const Keyval& key, int keyval, void* object, void* in, void** out, int* flag) {
  *flag = 0;
  switch (reinterpret_cast<std::uintptr_t>(key.copy.comm)) {
    case null_copy:
      return MPI_SUCCESS;
    case plain_copy:
      *out = in;
      *flag = 1;
      return MPI_SUCCESS;
    default:
      break;
  }
  switch (key.kind) {
    case Keyval::Kind::comm:
      return key.copy.comm(static_cast<MPI_Comm>(object), keyval, key.extra_state, in, out, flag);
    case Keyval::Kind::type:
      return key.copy.type(static_cast<MPI_Datatype>(object), keyval, key.extra_state, in, out,
                           flag);
    case Keyval::Kind::win:
      return key.copy.win(static_cast<MPI_Win>(object), keyval, key.extra_state, in, out, flag);
  }
  return MPI_ERR_INTERN;
}

int call_delete(const Keyval& key, int keyval, void* object, void* value) {
  if (!key.remove.comm) return MPI_SUCCESS;
  switch (key.kind) {
    case Keyval::Kind::comm:
      return key.remove.comm(static_cast<MPI_Comm>(object), keyval, value, key.extra_state);
    case Keyval::Kind::type:
      return key.remove.type(static_cast<MPI_Datatype>(object), keyval, value, key.extra_state);
    case Keyval::Kind::win:
      return key.remove.win(static_cast<MPI_Win>(object), keyval, value, key.extra_state);
  }
  return MPI_ERR_INTERN;
}

}  // namespace

Attributes::Value* Attributes::find(int keyval) {
  const auto found = std::find_if(values_.begin(), values_.end(),
                                  [&](const Value& value) { return value.keyval == keyval; });
  return found == values_.end() ? nullptr : &*found;
}

int Attributes::set(Process& process, void* object, int keyval, void* value) {
  const KeyInUse key(process, keyval);
  if (const Value* old = find(keyval)) {
    const int error = call_delete(*key, keyval, object, old->value);
    if (error != MPI_SUCCESS) return error;
  }
  // The program's function may have changed the list, even this entry.
  if (Value* known = find(keyval)) {
    known->value = value;
  } else {
    ++key->users;
    values_.push_back({keyval, value});
  }
  return MPI_SUCCESS;
}

bool Attributes::get(int keyval, void** value) const {
  for (const Value& known : values_) {
    if (known.keyval != keyval) continue;
    *value = known.value;
    return true;
  }
  return false;
}

int Attributes::erase(Process& process, void* object, int keyval) {
  const Value* found = find(keyval);
  if (!found) return MPI_ERR_KEYVAL;
  const KeyInUse key(process, keyval);
  const int error = call_delete(*key, keyval, object, found->value);
  if (error != MPI_SUCCESS) return error;
  // The program's function may have changed the list, or deleted this entry itself.
  if (std::erase_if(values_, [&](const Value& value) { return value.keyval == keyval; }) > 0) {
    --key->users;
  }
  return MPI_SUCCESS;
}

// Copies what is there now: attributes that a copy function adds are not copied, and those that it
// deletes must not be.
int Attributes::copy_to(Process& process, void* object, Attributes& to) {
  const std::vector<Value> before = values_;
  for (const Value& listed : before) {
    const Value* value = find(listed.keyval);
    if (!value) continue;
    const KeyInUse key(process, listed.keyval);
    void* copied = nullptr;
    int flag = 0;
    const int error = call_copy(*key, listed.keyval, object, value->value, &copied, &flag);
    if (error != MPI_SUCCESS) return error;
    if (!flag) continue;
    ++key->users;
    to.values_.push_back({listed.keyval, copied});
  }
  return MPI_SUCCESS;
}

int Attributes::clear(Process& process, void* object) {
  while (!values_.empty()) {
    const int error = erase(process, object, values_.back().keyval);
    if (error != MPI_SUCCESS) return error;
  }
  return MPI_SUCCESS;
}

}  // namespace weft::mpi
