// SPDX-License-Identifier: Apache-2.0
// Files: reading and writing. Each operation has a blocking form, a non-blocking one or a pair of
// calls that begin and end it, all with small and large counts; they differ in a line each.
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include <weft/message/mpi/file.hpp>
#include <weft/message/mpi/file_access.hpp>
#include <weft/message/mpi/status.hpp>

using weft::mpi::AccessArguments;
using weft::mpi::Call;
using weft::mpi::Datatype;
using weft::mpi::File;
using weft::mpi::FileAccess;
using weft::mpi::FileCall;
using weft::mpi::Process;
using weft::mpi::Request;
using Pointer = AccessArguments::Pointer;

namespace {

// Of a file whose view shows nothing, nothing can be read or written.
int check_range(const File& file, const AccessArguments& wanted, const Datatype& type,
                std::string& detail) {
  const std::int64_t total = wanted.count * type.size();
  const std::int64_t each = file.view->etype().size();
  detail = "the data is no whole number of etypes of the view";
  if (total % each != 0) return MPI_ERR_IO;
  detail = "the view shows nothing of the file";
  if (file.view->empty() && total > 0) return MPI_ERR_ARG;
  detail = "external32 gives numbers of the datatype another size";
  if (file.view->external() && external_size(type, 1) != type.size()) {
    return MPI_ERR_UNSUPPORTED_DATAREP;
  }
  if (wanted.pointer != Pointer::offset) return MPI_SUCCESS;
  std::int64_t from = 0;
  detail = "the offset lies outside of what a file may have";
  if (wanted.offset < 0) return MPI_ERR_ARG;
  const bool counts = !__builtin_mul_overflow(wanted.offset, each, &from);
  return counts && file.view->fits(from, total) ? MPI_SUCCESS : MPI_ERR_ARG;
}

int check(const File& file, const AccessArguments& wanted, std::string& detail) {
  detail = "'" + file.path + "' was opened for the other direction only";
  if (wanted.writing && !file.writable()) return MPI_ERR_READ_ONLY;
  if (!wanted.writing && !file.readable()) return MPI_ERR_ACCESS;
  const bool shared = wanted.pointer == Pointer::shared || wanted.pointer == Pointer::ordered;
  detail = "the file was opened with MPI_MODE_SEQUENTIAL: it has a shared pointer only";
  if (file.sequential() && !shared) return MPI_ERR_UNSUPPORTED_OPERATION;
  detail = std::to_string(wanted.count);
  if (wanted.count < 0) return MPI_ERR_COUNT;
  const Datatype* const type = weft::mpi::find_type(wanted.type);
  detail = type ? "not committed" : "no such handle";
  if (!type || !type->committed()) return MPI_ERR_TYPE;
  if (!type->fits(wanted.count)) {
    detail = type->too_many(wanted.count);
    return MPI_ERR_COUNT;
  }
  detail = "null";
  const bool nowhere = !wanted.buffer && wanted.count > 0 && type->size() > 0;
  if (nowhere && type->predefined()) return MPI_ERR_BUFFER;
  return check_range(file, wanted, *type, detail);
}

// Null: an error has been reported.
std::unique_ptr<FileAccess> make_access(FileCall& call, const AccessArguments& wanted, int& error) {
  std::string detail;
  error = call.error();
  if (call.failed()) return nullptr;
  error = check(call.file(), wanted, detail);
  if (error != MPI_SUCCESS) {
    error = call.result(error, detail);
    return nullptr;
  }
  auto access = std::make_unique<FileAccess>(call.process(), call.file(), wanted);
  call.call().add_bytes(static_cast<std::uint64_t>(access->total()));
  return access;
}

// Meanwhile a deadlock report can say what this rank waits for.
int run_shown(Process& process, const File& file, weft::mp::Task task) {
  if (task.done()) return task.error();
  Request shown;
  shown.kind = Request::Kind::task;
  shown.active = true;
  shown.transfer.comm = file.comm;
  shown.task = std::move(task);
  const Request* const requests[] = {&shown};
  const auto outer = std::exchange(process.waiting_for, {requests, nullptr, 1, nullptr});
  const int code = process.run(shown.task);
  process.waiting_for = outer;
  return code;
}

int finish(FileCall& call, const FileAccess& access, weft::mp::Task task, MPI_Status* status) {
  const int code = run_shown(call.process(), call.file(), std::move(task));
  if (status) weft::mpi::set_status(*status, MPI_ANY_SOURCE, MPI_ANY_TAG, access.bytes());
  std::string detail = code == MPI_SUCCESS ? "" : access.trouble();
  if (code != MPI_SUCCESS && detail.empty()) detail = "'" + call->path + "'";
  return call.result(code, detail);
}

int run(const char* name, MPI_File fh, const AccessArguments& wanted, MPI_Status* status) {
  FileCall call(name, Call::communicates, fh);
  int error = MPI_SUCCESS;
  const std::unique_ptr<FileAccess> access = make_access(call, wanted, error);
  if (!access) return error;
  return finish(call, *access, access->start(), status);
}

int start(const char* name, MPI_File fh, const AccessArguments& wanted, MPI_Request* request) {
  FileCall call(name, Call::communicates, fh);
  if (!call.failed() && !request) return call.result(MPI_ERR_ARG, "no place for the request");
  int error = MPI_SUCCESS;
  std::unique_ptr<FileAccess> access = make_access(call, wanted, error);
  if (!access) return error;
  *request = handle_of(start_operation(call.process(), *call->comm, std::move(access)));
  return MPI_SUCCESS;
}

// A file has at most one split collective call under way.
int begin(const char* name, const char* kind, MPI_File fh, const AccessArguments& wanted) {
  FileCall call(name, Call::communicates, fh);
  if (!call.failed() && call->split.kind) {
    return call.result(MPI_ERR_OTHER, "another split collective call has not ended");
  }
  int error = MPI_SUCCESS;
  std::unique_ptr<FileAccess> access = make_access(call, wanted, error);
  if (!access) return error;
  call->split.kind = kind;
  call->split.access = std::move(access);
  call->split.task = call->split.access->start();
  return MPI_SUCCESS;
}

int end(const char* name, const char* kind, MPI_File fh, MPI_Status* status) {
  FileCall call(name, Call::communicates, fh);
  if (call.failed()) return call.error();
  if (!call->split.kind || std::strcmp(call->split.kind, kind) != 0) {
    return call.result(MPI_ERR_OTHER, "no such split collective call has begun");
  }
  const File::Split ended = std::exchange(call->split, {});
  return finish(call, *ended.access, std::move(const_cast<weft::mp::Task&>(ended.task)), status);
}

// How calls name what they access.
constexpr bool reads = false, writes = true, alone = false, together = true;

}  // namespace

// NOLINTBEGIN(bugprone-macro-parentheses): types.
// With an explicit offset: WEFT_FILE_AT(read, , void, reads).
#define WEFT_FILE_AT_AS(verb, i_verb, Buffer, direction, suffix, Count)                          \
  WEFT_MPI(File_##verb##_at##suffix)                                                             \
  (MPI_File fh, MPI_Offset offset, Buffer * buf, Count count, MPI_Datatype datatype,             \
   MPI_Status * status) {                                                                        \
    return run("MPI_File_" #verb "_at" #suffix, fh,                                              \
               {direction, alone, Pointer::offset, offset, buf, count, datatype}, status);       \
  }                                                                                              \
  WEFT_MPI(File_##verb##_at_all##suffix)                                                         \
  (MPI_File fh, MPI_Offset offset, Buffer * buf, Count count, MPI_Datatype datatype,             \
   MPI_Status * status) {                                                                        \
    return run("MPI_File_" #verb "_at_all" #suffix, fh,                                          \
               {direction, together, Pointer::offset, offset, buf, count, datatype}, status);    \
  }                                                                                              \
  WEFT_MPI(File_##i_verb##_at##suffix)                                                           \
  (MPI_File fh, MPI_Offset offset, Buffer * buf, Count count, MPI_Datatype datatype,             \
   MPI_Request * request) {                                                                      \
    return start("MPI_File_" #i_verb "_at" #suffix, fh,                                          \
                 {direction, alone, Pointer::offset, offset, buf, count, datatype}, request);    \
  }                                                                                              \
  WEFT_MPI(File_##i_verb##_at_all##suffix)                                                       \
  (MPI_File fh, MPI_Offset offset, Buffer * buf, Count count, MPI_Datatype datatype,             \
   MPI_Request * request) {                                                                      \
    return start("MPI_File_" #i_verb "_at_all" #suffix, fh,                                      \
                 {direction, together, Pointer::offset, offset, buf, count, datatype}, request); \
  }                                                                                              \
  WEFT_MPI(File_##verb##_at_all_begin##suffix)                                                   \
  (MPI_File fh, MPI_Offset offset, Buffer * buf, Count count, MPI_Datatype datatype) {           \
    return begin("MPI_File_" #verb "_at_all_begin" #suffix, #verb "_at_all", fh,                 \
                 {direction, together, Pointer::offset, offset, buf, count, datatype});          \
  }

// At a pointer.
#define WEFT_FILE_RUN(name, Buffer, direction, how, pointer, suffix, Count)              \
  WEFT_MPI(File_##name##suffix)                                                          \
  (MPI_File fh, Buffer * buf, Count count, MPI_Datatype datatype, MPI_Status * status) { \
    return run("MPI_File_" #name #suffix, fh,                                            \
               {direction, how, Pointer::pointer, 0, buf, count, datatype}, status);     \
  }
#define WEFT_FILE_START(name, Buffer, direction, how, pointer, suffix, Count)              \
  WEFT_MPI(File_##name##suffix)                                                            \
  (MPI_File fh, Buffer * buf, Count count, MPI_Datatype datatype, MPI_Request * request) { \
    return start("MPI_File_" #name #suffix, fh,                                            \
                 {direction, how, Pointer::pointer, 0, buf, count, datatype}, request);    \
  }
#define WEFT_FILE_BEGIN(name, Buffer, direction, pointer, suffix, Count)            \
  WEFT_MPI(File_##name##_begin##suffix)                                             \
  (MPI_File fh, Buffer * buf, Count count, MPI_Datatype datatype) {                 \
    return begin("MPI_File_" #name "_begin" #suffix, #name, fh,                     \
                 {direction, together, Pointer::pointer, 0, buf, count, datatype}); \
  }
#define WEFT_FILE_END(name, Buffer)                                        \
  WEFT_MPI(File_##name##_end)(MPI_File fh, Buffer*, MPI_Status * status) { \
    return end("MPI_File_" #name "_end", #name, fh, status);               \
  }

#define WEFT_FILE_AS(verb, i_verb, Buffer, direction, suffix, Count)                    \
  WEFT_FILE_AT_AS(verb, i_verb, Buffer, direction, suffix, Count)                       \
  WEFT_FILE_RUN(verb, Buffer, direction, alone, individual, suffix, Count)              \
  WEFT_FILE_RUN(verb##_all, Buffer, direction, together, individual, suffix, Count)     \
  WEFT_FILE_RUN(verb##_shared, Buffer, direction, alone, shared, suffix, Count)         \
  WEFT_FILE_RUN(verb##_ordered, Buffer, direction, together, ordered, suffix, Count)    \
  WEFT_FILE_START(i_verb, Buffer, direction, alone, individual, suffix, Count)          \
  WEFT_FILE_START(i_verb##_all, Buffer, direction, together, individual, suffix, Count) \
  WEFT_FILE_START(i_verb##_shared, Buffer, direction, alone, shared, suffix, Count)     \
  WEFT_FILE_BEGIN(verb##_all, Buffer, direction, individual, suffix, Count)             \
  WEFT_FILE_BEGIN(verb##_ordered, Buffer, direction, ordered, suffix, Count)
#define WEFT_FILE(verb, i_verb, Buffer, direction)             \
  WEFT_FILE_AS(verb, i_verb, Buffer, direction, , int)         \
  WEFT_FILE_AS(verb, i_verb, Buffer, direction, _c, MPI_Count) \
  WEFT_FILE_END(verb##_at_all, Buffer)                         \
  WEFT_FILE_END(verb##_all, Buffer)                            \
  WEFT_FILE_END(verb##_ordered, Buffer)
// NOLINTEND(bugprone-macro-parentheses)

WEFT_FILE(read, iread, void, reads)
WEFT_FILE(write, iwrite, const void, writes)
