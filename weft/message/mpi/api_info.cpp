// SPDX-License-Identifier: Apache-2.0
// Info objects: hints.
#include <algorithm>
#include <cstring>
#include <string>

#include <weft/message/mpi/call.hpp>

using weft::mpi::Call;
using weft::mpi::InfoTable;

namespace {

InfoTable* table_of(Call& call, MPI_Info info) {
  return find_info(call.process(), info);
}

bool key_fits(const char* key) {
  return key && *key != '\0' && std::strlen(key) < MPI_MAX_INFO_KEY;
}

// Copies as much as there is room for, with the terminating zero.
void copy_text(const std::string& text, char* to, std::size_t room) {
  const std::size_t size = std::min(text.size(), room - 1);
  std::memcpy(to, text.data(), size);
  to[size] = '\0';
}

}  // namespace

WEFT_MPI(Info_create)(MPI_Info* info) {
  Call call("MPI_Info_create", Call::always);
  if (!info) return call.result(MPI_ERR_ARG);
  *info = make_info(call.process(), {});
  return MPI_SUCCESS;
}

WEFT_MPI(Info_create_env)(int, char*[], MPI_Info* info) {
  Call call("MPI_Info_create_env", Call::always);
  if (!info) return call.result(MPI_ERR_ARG);
  *info = make_info(call.process(), *table_of(call, MPI_INFO_ENV));
  return MPI_SUCCESS;
}

WEFT_MPI(Info_dup)(MPI_Info info, MPI_Info* newinfo) {
  Call call("MPI_Info_dup", Call::always);
  const InfoTable* table = table_of(call, info);
  if (!table) return call.result(MPI_ERR_INFO);
  *newinfo = make_info(call.process(), *table);
  return MPI_SUCCESS;
}

WEFT_MPI(Info_free)(MPI_Info* info) {
  Call call("MPI_Info_free", Call::always);
  weft::mpi::InfoObject* object = info ? call.process().infos.find(*info) : nullptr;
  if (!object) return call.result(MPI_ERR_INFO);
  call.process().infos.free(object);
  *info = MPI_INFO_NULL;
  return MPI_SUCCESS;
}

WEFT_MPI(Info_set)(MPI_Info info, const char* key, const char* value) {
  Call call("MPI_Info_set", Call::always);
  InfoTable* table = table_of(call, info);
  if (!table || info == MPI_INFO_ENV) return call.result(MPI_ERR_INFO);
  if (!key_fits(key)) return call.result(MPI_ERR_INFO_KEY);
  if (!value || std::strlen(value) >= MPI_MAX_INFO_VAL) return call.result(MPI_ERR_INFO_VALUE);
  table->set(key, value);
  return MPI_SUCCESS;
}

WEFT_MPI(Info_delete)(MPI_Info info, const char* key) {
  Call call("MPI_Info_delete", Call::always);
  InfoTable* table = table_of(call, info);
  if (!table || info == MPI_INFO_ENV) return call.result(MPI_ERR_INFO);
  if (!key_fits(key)) return call.result(MPI_ERR_INFO_KEY);
  return call.result(table->erase(key) ? MPI_SUCCESS : MPI_ERR_INFO_NOKEY);
}

WEFT_MPI(Info_get)(MPI_Info info, const char* key, int valuelen, char* value, int* flag) {
  Call call("MPI_Info_get", Call::always);
  const InfoTable* table = table_of(call, info);
  if (!table) return call.result(MPI_ERR_INFO);
  if (!key_fits(key)) return call.result(MPI_ERR_INFO_KEY);
  if (valuelen < 0) return call.result(MPI_ERR_ARG);
  const std::string* found = table->find(key);
  *flag = found ? 1 : 0;
  // This older call counts characters without the terminating zero.
  if (found) copy_text(*found, value, static_cast<std::size_t>(valuelen) + 1);
  return MPI_SUCCESS;
}

WEFT_MPI(Info_get_string)(MPI_Info info, const char* key, int* buflen, char* value, int* flag) {
  Call call("MPI_Info_get_string", Call::always);
  const InfoTable* table = table_of(call, info);
  if (!table) return call.result(MPI_ERR_INFO);
  if (!key_fits(key)) return call.result(MPI_ERR_INFO_KEY);
  if (!buflen || *buflen < 0) return call.result(MPI_ERR_ARG);
  const std::string* found = table->find(key);
  *flag = found ? 1 : 0;
  if (!found) return MPI_SUCCESS;
  if (*buflen > 0) copy_text(*found, value, static_cast<std::size_t>(*buflen));
  *buflen = static_cast<int>(found->size()) + 1;
  return MPI_SUCCESS;
}

WEFT_MPI(Info_get_valuelen)(MPI_Info info, const char* key, int* valuelen, int* flag) {
  Call call("MPI_Info_get_valuelen", Call::always);
  const InfoTable* table = table_of(call, info);
  if (!table) return call.result(MPI_ERR_INFO);
  if (!key_fits(key)) return call.result(MPI_ERR_INFO_KEY);
  const std::string* found = table->find(key);
  *flag = found ? 1 : 0;
  if (found) *valuelen = static_cast<int>(found->size());
  return MPI_SUCCESS;
}

WEFT_MPI(Info_get_nkeys)(MPI_Info info, int* nkeys) {
  Call call("MPI_Info_get_nkeys", Call::always);
  const InfoTable* table = table_of(call, info);
  if (!table) return call.result(MPI_ERR_INFO);
  *nkeys = table->size();
  return MPI_SUCCESS;
}

WEFT_MPI(Info_get_nthkey)(MPI_Info info, int n, char* key) {
  Call call("MPI_Info_get_nthkey", Call::always);
  const InfoTable* table = table_of(call, info);
  if (!table) return call.result(MPI_ERR_INFO);
  if (n < 0 || n >= table->size()) return call.result(MPI_ERR_ARG);
  copy_text(table->key(n), key, MPI_MAX_INFO_KEY);
  return MPI_SUCCESS;
}
