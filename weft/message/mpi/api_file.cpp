// SPDX-License-Identifier: Apache-2.0
// Files: opening and closing, what is known of them, their error handlers.
#include <cerrno>
#include <string>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include <weft/message/mpi/contexts.hpp>
#include <weft/message/mpi/file.hpp>
#include <weft/message/mpi/file_access.hpp>
#include <weft/message/mpi/group.hpp>
#include <weft/message/mpi/handlers.hpp>
#include <weft/message/mpi/internal_group.hpp>

using weft::mpi::agree;
using weft::mpi::Call;
using weft::mpi::Communicator;
using weft::mpi::ErrorHandler;
using weft::mpi::File;
using weft::mpi::file_trouble;
using weft::mpi::FileCall;
using weft::mpi::InfoTable;
using weft::mpi::Process;
using weft::mpi::result_without_file;
using weft::mpi::Words;

namespace {

constexpr int access_modes = MPI_MODE_RDONLY | MPI_MODE_RDWR | MPI_MODE_WRONLY;
constexpr int other_modes = MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_APPEND |
                            MPI_MODE_DELETE_ON_CLOSE | MPI_MODE_UNIQUE_OPEN | MPI_MODE_SEQUENTIAL;

// Empty if the mode makes sense.
std::string trouble_of_mode(int mode) {
  const int access = mode & access_modes;
  if (access != MPI_MODE_RDONLY && access != MPI_MODE_RDWR && access != MPI_MODE_WRONLY) {
    return "one of MPI_MODE_RDONLY, MPI_MODE_RDWR and MPI_MODE_WRONLY must be given";
  }
  if ((mode & ~(access_modes | other_modes)) != 0) return "unknown bits";
  if (access == MPI_MODE_RDONLY && (mode & (MPI_MODE_CREATE | MPI_MODE_EXCL)) != 0) {
    return "a file that is only read cannot be created";
  }
  if (access == MPI_MODE_RDWR && (mode & MPI_MODE_SEQUENTIAL) != 0) {
    return "MPI_MODE_SEQUENTIAL goes with reading or writing, not both";
  }
  return {};
}

int flags_of(int mode, bool creates) {
  int flags = O_RDONLY;
  if ((mode & MPI_MODE_RDWR) != 0) flags = O_RDWR;
  if ((mode & MPI_MODE_WRONLY) != 0) flags = O_WRONLY;
  if (creates && (mode & MPI_MODE_CREATE) != 0) flags |= O_CREAT;
  if (creates && (mode & MPI_MODE_EXCL) != 0) flags |= O_EXCL;
  return flags;
}

struct Wanted {
  const char* path;
  int mode;
  MPI_Info info;
};

// Opens a file step by step with the other ranks of its communicator: whatever fails at one of them
// fails at all.
class Opening {
 public:
  Opening(Process& process, File& file) : process_(process), file_(file) {}

  int run(const Wanted& wanted) {
    int error = check(wanted);
    Words mode = {static_cast<std::uint32_t>(wanted.mode)};
    const auto scope = scope_of(process_, *file_.comm);
    process_.run(broadcast(scope.own, 0, mode));
    if (error == MPI_SUCCESS && mode[0] != static_cast<std::uint32_t>(wanted.mode)) {
      error = fail(MPI_ERR_NOT_SAME, "ranks open the file with different modes");
    }
    error = agree(process_, file_, error);
    if (error != MPI_SUCCESS) return error;
    // Rank 0 creates the file, so that MPI_MODE_EXCL holds for the job as a whole.
    const bool first = file_.comm->rank == 0;
    Words number = {first ? static_cast<std::uint32_t>(open(true)) : 0};
    process_.run(broadcast(scope_of(process_, *file_.comm).own, 0, number));
    if (number[0] != 0) return fail_by(static_cast<int>(number[0]));
    error = agree(process_, file_, first ? MPI_SUCCESS : fail_by(open(false)));
    if (error == MPI_SUCCESS) finish();
    return error;
  }
  const std::string& detail() const { return detail_; }

 private:
  int fail(int code, std::string detail) {
    detail_ = std::move(detail);
    return code;
  }

  int check(const Wanted& wanted) {
    if (!wanted.path || *wanted.path == '\0') return fail(MPI_ERR_BAD_FILE, "it has no name");
    file_.path = wanted.path;
    file_.mode = wanted.mode;
    file_.comm->name = "the file '" + file_.path + "'";
    detail_ = "another rank could not open '" + file_.path + "'";
    if (std::string trouble = trouble_of_mode(wanted.mode); !trouble.empty()) {
      return fail(MPI_ERR_AMODE, std::move(trouble));
    }
    if (wanted.info == MPI_INFO_NULL) return MPI_SUCCESS;
    const InfoTable* const info = find_info(process_, wanted.info);
    if (!info) return fail(MPI_ERR_INFO, "no such handle");
    file_.info = *info;
    return MPI_SUCCESS;
  }

  int fail_by(int number) {
    if (number == 0) return MPI_SUCCESS;
    return fail(weft::mpi::class_of_errno(number), file_trouble(file_.path, number));
  }

  // Returns an errno.
  int open(bool creates) {
    int number = 0;
    file_.descriptor =
        process_.runtime.open_file(file_.path, flags_of(file_.mode, creates), number);
    return number;
  }

  void finish() {
    int error = MPI_SUCCESS;
    std::string detail;
    file_.view = weft::mpi::FileView::make({}, error, detail);
    file_.hints = hints_of(process_, file_.info);
    file_.aggregators = choose_aggregators(process_, *file_.comm, file_.hints.collective_nodes);
    if ((file_.mode & MPI_MODE_APPEND) != 0) {
      file_.descriptor->size(file_.position);
      file_.keeper.position = file_.position;
    }
    if (file_.comm->rank == 0) file_.keeper.server = serve(process_, file_);
  }

  Process& process_;
  File& file_;
  std::string detail_;
};

void discard(Process& process, File& file) {
  release_handler(process, file.handler);
  release(process, file.comm);
  process.files.free(&file);
}

int open_file(Call& call, MPI_Comm comm, const Wanted& wanted, MPI_File* fh) {
  if (call.error()) return call.error();
  Process& process = call.process();
  Communicator* const parent = find_communicator(process, comm);
  if (!parent || parent->inter) {
    return result_without_file(call, MPI_ERR_COMM,
                               parent ? "an intercommunicator" : "no such handle");
  }
  if (!fh) return result_without_file(call, MPI_ERR_ARG, "no place for the handle");
  const std::optional<std::uint32_t> context = agree_context(process, *parent);
  if (!context) return result_without_file(call, parent->failure(), {});
  File* const file = process.files.make();
  file->handle = reinterpret_cast<MPI_File>(file);
  file->comm = make_communicator(process, *parent, {*context, parent->local, {}, false});
  file->comm->internal = true;
  // What goes wrong in a request is reported by the call that completes it.
  release_handler(process, std::exchange(file->comm->handler, MPI_ERRORS_RETURN));
  file->handler = process.file_handler;
  retain_handler(process, file->handler);
  Opening opening(process, *file);
  const int error = opening.run(wanted);
  if (error != MPI_SUCCESS) {
    discard(process, *file);
    return result_without_file(call, error, opening.detail());
  }
  *fh = file->handle;
  return MPI_SUCCESS;
}

int close_file(FileCall& call) {
  if (call->split.kind) {
    return call.result(MPI_ERR_OTHER, "a split collective call has not ended");
  }
  Process& process = call.process();
  File& file = call.file();
  process.wait_until([&] { return file.accesses == 0; });
  agree(process, file, MPI_SUCCESS);
  if (file.comm->rank == 0) stop_serving(process, file);
  int error = MPI_SUCCESS;
  std::string detail;
  if ((file.mode & MPI_MODE_DELETE_ON_CLOSE) != 0) {
    if (file.comm->rank == 0 && ::unlink(file.path.c_str()) != 0) {
      detail = file_trouble(file.path, errno);
      error = weft::mpi::class_of_errno(errno);
    }
    error = agree(process, file, error);
  }
  const int code = call.result(error, detail);
  discard(process, file);
  return code;
}

// The handler of a file, or that of MPI_FILE_NULL; null: an error has been reported.
MPI_Errhandler* handler_of(Call& call, MPI_File handle, int& error) {
  error = call.error();
  if (error != MPI_SUCCESS) return nullptr;
  if (handle == MPI_FILE_NULL) return &call.process().file_handler;
  if (File* const file = call.process().files.find(handle)) return &file->handler;
  error = result_without_file(call, MPI_ERR_FILE, "no such handle");
  return nullptr;
}

}  // namespace

WEFT_MPI(File_open)
(MPI_Comm comm, const char* filename, int amode, MPI_Info info, MPI_File* fh) {
  Call call("MPI_File_open", Call::communicates);
  return open_file(call, comm, {filename, amode, info}, fh);
}

WEFT_MPI(File_close)(MPI_File* fh) {
  FileCall call("MPI_File_close", Call::communicates, fh ? *fh : MPI_FILE_NULL);
  if (call.failed()) return call.error();
  const bool open = call->split.kind != nullptr;
  const int code = close_file(call);
  if (!open) *fh = MPI_FILE_NULL;
  return code;
}

WEFT_MPI(File_delete)(const char* filename, MPI_Info) {
  Call call("MPI_File_delete", Call::local);
  if (call.error()) return call.error();
  if (!filename) return result_without_file(call, MPI_ERR_BAD_FILE, "it has no name");
  if (::unlink(filename) == 0) return MPI_SUCCESS;
  const int number = errno;
  return result_without_file(call, weft::mpi::class_of_errno(number),
                             file_trouble(filename, number));
}

WEFT_MPI(File_get_group)(MPI_File fh, MPI_Group* group) {
  FileCall call("MPI_File_get_group", Call::local, fh);
  if (call.failed()) return call.error();
  if (!group) return call.result(MPI_ERR_ARG);
  *group = make_group(call.process(), call->comm->local, call->comm->session);
  return MPI_SUCCESS;
}

WEFT_MPI(File_get_amode)(MPI_File fh, int* amode) {
  FileCall call("MPI_File_get_amode", Call::local, fh);
  if (call.failed()) return call.error();
  if (!amode) return call.result(MPI_ERR_ARG);
  *amode = call->mode;
  return MPI_SUCCESS;
}

WEFT_MPI(File_set_info)(MPI_File fh, MPI_Info info) {
  FileCall call("MPI_File_set_info", Call::communicates, fh);
  if (call.failed()) return call.error();
  const InfoTable* const given = find_info(call.process(), info);
  if (agree(call.process(), call.file(), given ? MPI_SUCCESS : MPI_ERR_INFO) != MPI_SUCCESS) {
    return call.result(MPI_ERR_INFO);
  }
  call->info.merge(*given);
  call->hints = hints_of(call.process(), call->info);
  call->aggregators = choose_aggregators(call.process(), *call->comm, call->hints.collective_nodes);
  return MPI_SUCCESS;
}

WEFT_MPI(File_get_info)(MPI_File fh, MPI_Info* info_used) {
  FileCall call("MPI_File_get_info", Call::local, fh);
  if (call.failed()) return call.error();
  if (!info_used) return call.result(MPI_ERR_ARG);
  InfoTable used = call->info;
  call->hints.describe(used);
  used.set("cb_nodes", std::to_string(call->aggregators.size()));
  *info_used = make_info(call.process(), used);
  return MPI_SUCCESS;
}

WEFT_MPI(File_create_errhandler)
(MPI_File_errhandler_function* function, MPI_Errhandler* errhandler) {
  Call call("MPI_File_create_errhandler", Call::always);
  if (!function || !errhandler) return call.result(MPI_ERR_ARG);
  ErrorHandler* made = call.process().handlers.make();
  made->kind = ErrorHandler::Kind::file;
  made->file_function = function;
  *errhandler = reinterpret_cast<MPI_Errhandler>(made);
  return MPI_SUCCESS;
}

WEFT_MPI(File_set_errhandler)(MPI_File file, MPI_Errhandler errhandler) {
  Call call("MPI_File_set_errhandler", Call::always);
  int error = MPI_SUCCESS;
  MPI_Errhandler* const place = handler_of(call, file, error);
  if (!place) return error;
  Process& process = call.process();
  if (!valid_handler(process, errhandler, ErrorHandler::Kind::file)) {
    return result_without_file(call, MPI_ERR_ERRHANDLER);
  }
  retain_handler(process, errhandler);
  release_handler(process, std::exchange(*place, errhandler));
  return MPI_SUCCESS;
}

WEFT_MPI(File_get_errhandler)(MPI_File file, MPI_Errhandler* errhandler) {
  Call call("MPI_File_get_errhandler", Call::always);
  int error = MPI_SUCCESS;
  const MPI_Errhandler* const place = handler_of(call, file, error);
  if (!place) return error;
  if (!errhandler) return result_without_file(call, MPI_ERR_ARG);
  retain_handler(call.process(), *place);
  *errhandler = *place;
  return MPI_SUCCESS;
}

WEFT_MPI(File_call_errhandler)(MPI_File file, int errorcode) {
  Call call("MPI_File_call_errhandler", Call::always);
  int error = MPI_SUCCESS;
  if (!handler_of(call, file, error)) return error;
  if (File* const open = call.process().files.find(file)) {
    result(call, *open, errorcode);
  } else {
    result_without_file(call, errorcode);
  }
  return MPI_SUCCESS;
}
