// SPDX-License-Identifier: Apache-2.0
// What this library does not have: parallel files, processes that start later, and those of other
// jobs. Programs link, and learn it from the error MPI_ERR_UNSUPPORTED_OPERATION: from the error
// handler of MPI_FILE_NULL, which returns unless the program sets another, or from that of the
// communicator.
#include <cstdio>
#include <string>

#include <weft/message/mpi/call.hpp>
#include <weft/message/mpi/handlers.hpp>

using weft::mpi::Call;
using weft::mpi::ErrorHandler;
using weft::mpi::Process;

namespace {

// Success passes through; otherwise the error handler of MPI_FILE_NULL is invoked.
int file_result(Call& call, int code, const std::string& detail = {}) {
  if (code == MPI_SUCCESS) return code;
  Process& process = call.process();
  const ErrorHandler* const made = process.handlers.find(process.file_handler);
  if (made && made->file_function) {
    MPI_File file = MPI_FILE_NULL;
    int argument = code;
    made->file_function(&file, &argument);
    return code;
  }
  return raise(process, process.file_handler, MPI_COMM_SELF, code, detail);
}

// The error is easily overlooked where it returns, so rank 0 says it once.
void warn_once(Process& process, const char* name) {
  if (process.warned_of_files || process.rank().index != 0) return;
  process.warned_of_files = true;
  if (process.file_handler != MPI_ERRORS_RETURN) return;
  const std::string line = std::string("weft: warning: ") + name +
                           ": weft has no parallel files: functions of files return "
                           "MPI_ERR_UNSUPPORTED_OPERATION\n";
  std::fputs(line.c_str(), stderr);
}

int no_files(const char* name) {
  Call call(name, Call::local);
  if (call.error()) return call.error();
  warn_once(call.process(), name);
  return file_result(call, MPI_ERR_UNSUPPORTED_OPERATION, "weft has no parallel files");
}

int no_processes(const char* name, MPI_Comm comm) {
  Call call(name, Call::local);
  const weft::mpi::Communicator* const found = call.communicator(comm);
  if (!found) return call.error();
  return call.result(found, MPI_ERR_UNSUPPORTED_OPERATION, "all processes of a job start together");
}

// No file is ever open.
int check_file(Call& call, MPI_File file) {
  if (call.error()) return call.error();
  return file == MPI_FILE_NULL ? MPI_SUCCESS : file_result(call, MPI_ERR_FILE);
}

}  // namespace

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
  if (const int error = check_file(call, file)) return error;
  Process& process = call.process();
  if (!valid_handler(process, errhandler, ErrorHandler::Kind::file)) {
    return file_result(call, MPI_ERR_ERRHANDLER);
  }
  retain_handler(process, errhandler);
  release_handler(process, process.file_handler);
  process.file_handler = errhandler;
  return MPI_SUCCESS;
}

WEFT_MPI(File_get_errhandler)(MPI_File file, MPI_Errhandler* errhandler) {
  Call call("MPI_File_get_errhandler", Call::always);
  if (const int error = check_file(call, file)) return error;
  if (!errhandler) return file_result(call, MPI_ERR_ARG);
  retain_handler(call.process(), call.process().file_handler);
  *errhandler = call.process().file_handler;
  return MPI_SUCCESS;
}

WEFT_MPI(File_call_errhandler)(MPI_File file, int errorcode) {
  Call call("MPI_File_call_errhandler", Call::always);
  if (const int error = check_file(call, file)) return error;
  file_result(call, errorcode);
  return MPI_SUCCESS;
}

// Functions of files: the name, and the types of the parameters.
#define WEFT_NO_FILES(name, ...)   \
  WEFT_MPI(name)(__VA_ARGS__) {    \
    return no_files("MPI_" #name); \
  }

WEFT_NO_FILES(File_open, MPI_Comm, const char*, int, MPI_Info, MPI_File*)
WEFT_NO_FILES(File_close, MPI_File*)
WEFT_NO_FILES(File_delete, const char*, MPI_Info)
WEFT_NO_FILES(File_set_size, MPI_File, MPI_Offset)
WEFT_NO_FILES(File_preallocate, MPI_File, MPI_Offset)
WEFT_NO_FILES(File_get_size, MPI_File, MPI_Offset*)
WEFT_NO_FILES(File_get_group, MPI_File, MPI_Group*)
WEFT_NO_FILES(File_get_amode, MPI_File, int*)
WEFT_NO_FILES(File_set_info, MPI_File, MPI_Info)
WEFT_NO_FILES(File_get_info, MPI_File, MPI_Info*)
WEFT_NO_FILES(File_set_view, MPI_File, MPI_Offset, MPI_Datatype, MPI_Datatype, const char*,
              MPI_Info)
WEFT_NO_FILES(File_get_view, MPI_File, MPI_Offset*, MPI_Datatype*, MPI_Datatype*, char*)
WEFT_NO_FILES(File_read_at, MPI_File, MPI_Offset, void*, int, MPI_Datatype, MPI_Status*)
WEFT_NO_FILES(File_read_at_c, MPI_File, MPI_Offset, void*, MPI_Count, MPI_Datatype, MPI_Status*)
WEFT_NO_FILES(File_write_at, MPI_File, MPI_Offset, const void*, int, MPI_Datatype, MPI_Status*)
WEFT_NO_FILES(File_write_at_c, MPI_File, MPI_Offset, const void*, MPI_Count, MPI_Datatype,
              MPI_Status*)
WEFT_NO_FILES(File_read_at_all, MPI_File, MPI_Offset, void*, int, MPI_Datatype, MPI_Status*)
WEFT_NO_FILES(File_read_at_all_c, MPI_File, MPI_Offset, void*, MPI_Count, MPI_Datatype, MPI_Status*)
WEFT_NO_FILES(File_write_at_all, MPI_File, MPI_Offset, const void*, int, MPI_Datatype, MPI_Status*)
WEFT_NO_FILES(File_write_at_all_c, MPI_File, MPI_Offset, const void*, MPI_Count, MPI_Datatype,
              MPI_Status*)
WEFT_NO_FILES(File_iread_at, MPI_File, MPI_Offset, void*, int, MPI_Datatype, MPI_Request*)
WEFT_NO_FILES(File_iread_at_c, MPI_File, MPI_Offset, void*, MPI_Count, MPI_Datatype, MPI_Request*)
WEFT_NO_FILES(File_iwrite_at, MPI_File, MPI_Offset, const void*, int, MPI_Datatype, MPI_Request*)
WEFT_NO_FILES(File_iwrite_at_c, MPI_File, MPI_Offset, const void*, MPI_Count, MPI_Datatype,
              MPI_Request*)
WEFT_NO_FILES(File_iread_at_all, MPI_File, MPI_Offset, void*, int, MPI_Datatype, MPI_Request*)
WEFT_NO_FILES(File_iread_at_all_c, MPI_File, MPI_Offset, void*, MPI_Count, MPI_Datatype,
              MPI_Request*)
WEFT_NO_FILES(File_iwrite_at_all, MPI_File, MPI_Offset, const void*, int, MPI_Datatype,
              MPI_Request*)
WEFT_NO_FILES(File_iwrite_at_all_c, MPI_File, MPI_Offset, const void*, MPI_Count, MPI_Datatype,
              MPI_Request*)
WEFT_NO_FILES(File_read, MPI_File, void*, int, MPI_Datatype, MPI_Status*)
WEFT_NO_FILES(File_read_c, MPI_File, void*, MPI_Count, MPI_Datatype, MPI_Status*)
WEFT_NO_FILES(File_write, MPI_File, const void*, int, MPI_Datatype, MPI_Status*)
WEFT_NO_FILES(File_write_c, MPI_File, const void*, MPI_Count, MPI_Datatype, MPI_Status*)
WEFT_NO_FILES(File_read_all, MPI_File, void*, int, MPI_Datatype, MPI_Status*)
WEFT_NO_FILES(File_read_all_c, MPI_File, void*, MPI_Count, MPI_Datatype, MPI_Status*)
WEFT_NO_FILES(File_write_all, MPI_File, const void*, int, MPI_Datatype, MPI_Status*)
WEFT_NO_FILES(File_write_all_c, MPI_File, const void*, MPI_Count, MPI_Datatype, MPI_Status*)
WEFT_NO_FILES(File_iread, MPI_File, void*, int, MPI_Datatype, MPI_Request*)
WEFT_NO_FILES(File_iread_c, MPI_File, void*, MPI_Count, MPI_Datatype, MPI_Request*)
WEFT_NO_FILES(File_iwrite, MPI_File, const void*, int, MPI_Datatype, MPI_Request*)
WEFT_NO_FILES(File_iwrite_c, MPI_File, const void*, MPI_Count, MPI_Datatype, MPI_Request*)
WEFT_NO_FILES(File_iread_all, MPI_File, void*, int, MPI_Datatype, MPI_Request*)
WEFT_NO_FILES(File_iread_all_c, MPI_File, void*, MPI_Count, MPI_Datatype, MPI_Request*)
WEFT_NO_FILES(File_iwrite_all, MPI_File, const void*, int, MPI_Datatype, MPI_Request*)
WEFT_NO_FILES(File_iwrite_all_c, MPI_File, const void*, MPI_Count, MPI_Datatype, MPI_Request*)
WEFT_NO_FILES(File_read_shared, MPI_File, void*, int, MPI_Datatype, MPI_Status*)
WEFT_NO_FILES(File_read_shared_c, MPI_File, void*, MPI_Count, MPI_Datatype, MPI_Status*)
WEFT_NO_FILES(File_iread_shared, MPI_File, void*, int, MPI_Datatype, MPI_Request*)
WEFT_NO_FILES(File_iread_shared_c, MPI_File, void*, MPI_Count, MPI_Datatype, MPI_Request*)
WEFT_NO_FILES(File_read_ordered, MPI_File, void*, int, MPI_Datatype, MPI_Status*)
WEFT_NO_FILES(File_read_ordered_c, MPI_File, void*, MPI_Count, MPI_Datatype, MPI_Status*)
WEFT_NO_FILES(File_read_at_all_begin, MPI_File, MPI_Offset, void*, int, MPI_Datatype)
WEFT_NO_FILES(File_read_at_all_begin_c, MPI_File, MPI_Offset, void*, MPI_Count, MPI_Datatype)
WEFT_NO_FILES(File_read_at_all_end, MPI_File, void*, MPI_Status*)
WEFT_NO_FILES(File_read_all_begin, MPI_File, void*, int, MPI_Datatype)
WEFT_NO_FILES(File_read_all_begin_c, MPI_File, void*, MPI_Count, MPI_Datatype)
WEFT_NO_FILES(File_read_all_end, MPI_File, void*, MPI_Status*)
WEFT_NO_FILES(File_read_ordered_begin, MPI_File, void*, int, MPI_Datatype)
WEFT_NO_FILES(File_read_ordered_begin_c, MPI_File, void*, MPI_Count, MPI_Datatype)
WEFT_NO_FILES(File_read_ordered_end, MPI_File, void*, MPI_Status*)
WEFT_NO_FILES(File_write_shared, MPI_File, const void*, int, MPI_Datatype, MPI_Status*)
WEFT_NO_FILES(File_write_shared_c, MPI_File, const void*, MPI_Count, MPI_Datatype, MPI_Status*)
WEFT_NO_FILES(File_iwrite_shared, MPI_File, const void*, int, MPI_Datatype, MPI_Request*)
WEFT_NO_FILES(File_iwrite_shared_c, MPI_File, const void*, MPI_Count, MPI_Datatype, MPI_Request*)
WEFT_NO_FILES(File_write_ordered, MPI_File, const void*, int, MPI_Datatype, MPI_Status*)
WEFT_NO_FILES(File_write_ordered_c, MPI_File, const void*, MPI_Count, MPI_Datatype, MPI_Status*)
WEFT_NO_FILES(File_write_at_all_begin, MPI_File, MPI_Offset, const void*, int, MPI_Datatype)
WEFT_NO_FILES(File_write_at_all_begin_c, MPI_File, MPI_Offset, const void*, MPI_Count, MPI_Datatype)
WEFT_NO_FILES(File_write_at_all_end, MPI_File, const void*, MPI_Status*)
WEFT_NO_FILES(File_write_all_begin, MPI_File, const void*, int, MPI_Datatype)
WEFT_NO_FILES(File_write_all_begin_c, MPI_File, const void*, MPI_Count, MPI_Datatype)
WEFT_NO_FILES(File_write_all_end, MPI_File, const void*, MPI_Status*)
WEFT_NO_FILES(File_write_ordered_begin, MPI_File, const void*, int, MPI_Datatype)
WEFT_NO_FILES(File_write_ordered_begin_c, MPI_File, const void*, MPI_Count, MPI_Datatype)
WEFT_NO_FILES(File_write_ordered_end, MPI_File, const void*, MPI_Status*)
WEFT_NO_FILES(File_seek, MPI_File, MPI_Offset, int)
WEFT_NO_FILES(File_seek_shared, MPI_File, MPI_Offset, int)
WEFT_NO_FILES(File_get_position, MPI_File, MPI_Offset*)
WEFT_NO_FILES(File_get_position_shared, MPI_File, MPI_Offset*)
WEFT_NO_FILES(File_get_byte_offset, MPI_File, MPI_Offset, MPI_Offset*)
WEFT_NO_FILES(File_get_type_extent, MPI_File, MPI_Datatype, MPI_Aint*)
WEFT_NO_FILES(File_get_type_extent_c, MPI_File, MPI_Datatype, MPI_Count*)
WEFT_NO_FILES(File_set_atomicity, MPI_File, int)
WEFT_NO_FILES(File_get_atomicity, MPI_File, int*)
WEFT_NO_FILES(File_sync, MPI_File)
WEFT_NO_FILES(Register_datarep, const char*, MPI_Datarep_conversion_function*,
              MPI_Datarep_conversion_function*, MPI_Datarep_extent_function*, void*)
WEFT_NO_FILES(Register_datarep_c, const char*, MPI_Datarep_conversion_function_c*,
              MPI_Datarep_conversion_function_c*, MPI_Datarep_extent_function*, void*)

// Functions of processes: the name, the parameters, and the communicator that gets the error.
// NOLINTBEGIN(bugprone-macro-parentheses): parameters.
#define WEFT_NO_PROCESSES(name, parameters, comm) \
  WEFT_MPI(name) parameters {                     \
    return no_processes("MPI_" #name, comm);      \
  }

WEFT_NO_PROCESSES(Comm_spawn,
                  (const char*, char**, int, MPI_Info, int, MPI_Comm comm, MPI_Comm*, int*), comm)
WEFT_NO_PROCESSES(Comm_spawn_multiple,
                  (int, char**, char***, const int*, const MPI_Info*, int, MPI_Comm comm, MPI_Comm*,
                   int*),
                  comm)
WEFT_NO_PROCESSES(Open_port, (MPI_Info, char*), MPI_COMM_SELF)
WEFT_NO_PROCESSES(Close_port, (const char*), MPI_COMM_SELF)
WEFT_NO_PROCESSES(Comm_accept, (const char*, MPI_Info, int, MPI_Comm comm, MPI_Comm*), comm)
WEFT_NO_PROCESSES(Comm_connect, (const char*, MPI_Info, int, MPI_Comm comm, MPI_Comm*), comm)
WEFT_NO_PROCESSES(Comm_join, (int, MPI_Comm*), MPI_COMM_SELF)
WEFT_NO_PROCESSES(Publish_name, (const char*, MPI_Info, const char*), MPI_COMM_SELF)
WEFT_NO_PROCESSES(Unpublish_name, (const char*, MPI_Info, const char*), MPI_COMM_SELF)
WEFT_NO_PROCESSES(Lookup_name, (const char*, MPI_Info, char*), MPI_COMM_SELF)
// NOLINTEND(bugprone-macro-parentheses)
