// SPDX-License-Identifier: Apache-2.0
// Files: views, pointers, sizes, and the rules of consistency.
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include <weft/message/mpi/contexts.hpp>
#include <weft/message/mpi/file.hpp>
#include <weft/message/mpi/file_access.hpp>
#include <weft/message/mpi/internal_group.hpp>

using weft::mpi::agree;
using weft::mpi::Call;
using weft::mpi::Datatype;
using weft::mpi::File;
using weft::mpi::file_trouble;
using weft::mpi::FileCall;
using weft::mpi::FileView;
using weft::mpi::Process;
using weft::mpi::result_without_file;
using weft::mpi::Words;

namespace {

// Rank 0's value at all ranks.
std::int64_t value_of_first(Process& process, const File& file, std::int64_t mine) {
  const auto bits = static_cast<std::uint64_t>(mine);
  Words words = {static_cast<std::uint32_t>(bits), static_cast<std::uint32_t>(bits >> 32)};
  process.run(broadcast(scope_of(process, *file.comm).own, 0, words));
  if (words.size() != 2) return mine;
  return static_cast<std::int64_t>(words[0] | std::uint64_t{words[1]} << 32);
}

// Collective: MPI_ERR_NOT_SAME unless all ranks have given the same value; otherwise their error.
int agree_on(Process& process, const File& file, std::int64_t value, int error) {
  const std::int64_t first = value_of_first(process, file, value);
  if (error == MPI_SUCCESS && first != value) error = MPI_ERR_NOT_SAME;
  return agree(process, file, error);
}

// What rank 0 does to the file, for all; the others hear what became of it.
template <typename Change>
int by_first(Process& process, const File& file, std::string& detail, Change change) {
  int error = MPI_SUCCESS;
  if (file.comm->rank == 0) {
    const int number = change();
    error = weft::mpi::class_of_errno(number);
    detail = file_trouble(file.path, number);
  }
  return agree(process, file, error);
}

// The first etype that lies at or after the end of the file.
std::int64_t end_in_etypes(const File& file) {
  std::int64_t size = 0;
  file.descriptor->size(size);
  const std::int64_t each = file.view->etype().size();
  return (file.view->bytes_before(size) + each - 1) / each;
}

// Where a pointer that is at `now` goes; an error class if nowhere.
int seek(const File& file, int whence, MPI_Offset offset, std::int64_t now, std::int64_t& to) {
  std::int64_t from = 0;
  if (whence == MPI_SEEK_CUR) {
    from = now;
  } else if (whence == MPI_SEEK_END) {
    from = end_in_etypes(file);
  } else if (whence != MPI_SEEK_SET) {
    return MPI_ERR_ARG;
  }
  if (__builtin_add_overflow(from, offset, &to) || to < 0) return MPI_ERR_ARG;
  return MPI_SUCCESS;
}

const char* const sequential_trouble =
    "the file was opened with MPI_MODE_SEQUENTIAL: it has a shared pointer only";

struct WantedView {
  MPI_Offset displacement;
  MPI_Datatype etype, filetype;
  const char* representation;
  MPI_Info info;
};

int check_view(Process& process, const WantedView& wanted, std::string& detail) {
  detail = "it must not be negative";
  if (wanted.displacement < 0) return MPI_ERR_DISP;
  detail = "no such handle";
  if (wanted.info != MPI_INFO_NULL && !find_info(process, wanted.info)) return MPI_ERR_INFO;
  detail = "no data representation";
  return wanted.representation ? MPI_SUCCESS : MPI_ERR_ARG;
}

// The program has given it a name, and no functions that convert anything.
bool is_native(const Process& process, const std::string& representation) {
  const auto& known = process.representations;
  return std::any_of(known.begin(), known.end(),
                     [&](const auto& one) { return one.first == representation && !one.second; });
}

int set_view(FileCall& call, WantedView wanted) {
  Process& process = call.process();
  File& file = call.file();
  std::string detail;
  int error = MPI_SUCCESS;
  // The present place of the shared pointer, which is the only one of a sequential file.
  const bool current = wanted.displacement == MPI_DISPLACEMENT_CURRENT;
  if (file.sequential()) {
    const std::int64_t each = file.view->etype().size();
    const bool shows = !file.view->empty();
    const std::int64_t place =
        value_of_first(process, file, shows ? file.view->place(file.keeper.position * each) : 0);
    if (current) wanted.displacement = place;
  }
  if (current != file.sequential()) {
    detail =
        "MPI_DISPLACEMENT_CURRENT is for files opened with MPI_MODE_SEQUENTIAL, and no other "
        "displacement is for them";
    error = MPI_ERR_DISP;
  }
  if (error == MPI_SUCCESS) error = check_view(process, wanted, detail);
  std::shared_ptr<const FileView> view;
  if (error == MPI_SUCCESS) {
    const std::string name = wanted.representation;
    view = FileView::make({wanted.displacement, wanted.etype, wanted.filetype, name,
                           is_native(process, name), !file.writable()},
                          error, detail);
  }
  error = agree(process, file, error);
  if (error != MPI_SUCCESS) return call.result(error, view ? "at another rank" : detail);
  file.view = std::move(view);
  file.position = 0;
  file.keeper.position = 0;
  if (wanted.info != MPI_INFO_NULL) {
    file.info.merge(*find_info(process, wanted.info));
    file.hints = hints_of(process, file.info);
  }
  agree(process, file, MPI_SUCCESS);  // Nobody asks for the shared pointer before.
  return MPI_SUCCESS;
}

// A datatype that the program gets and frees.
MPI_Datatype hand_out(const Datatype& type) {
  type.retain();
  if (!type.predefined()) const_cast<Datatype&>(type).add_handle();
  return type.handle();
}

}  // namespace

WEFT_MPI(File_set_view)
(MPI_File fh, MPI_Offset disp, MPI_Datatype etype, MPI_Datatype filetype, const char* datarep,
 MPI_Info info) {
  FileCall call("MPI_File_set_view", Call::communicates, fh);
  if (call.failed()) return call.error();
  return set_view(call, {disp, etype, filetype, datarep, info});
}

WEFT_MPI(File_get_view)
(MPI_File fh, MPI_Offset* disp, MPI_Datatype* etype, MPI_Datatype* filetype, char* datarep) {
  FileCall call("MPI_File_get_view", Call::local, fh);
  if (call.failed()) return call.error();
  if (!disp || !etype || !filetype || !datarep) return call.result(MPI_ERR_ARG);
  const FileView& view = *call->view;
  *disp = view.displacement();
  *etype = hand_out(view.etype());
  *filetype = hand_out(view.filetype());
  std::strncpy(datarep, view.representation().c_str(), MPI_MAX_DATAREP_STRING - 1);
  datarep[MPI_MAX_DATAREP_STRING - 1] = '\0';
  return MPI_SUCCESS;
}

WEFT_MPI(File_seek)(MPI_File fh, MPI_Offset offset, int whence) {
  FileCall call("MPI_File_seek", Call::communicates, fh);
  if (call.failed()) return call.error();
  if (call->sequential()) return call.result(MPI_ERR_UNSUPPORTED_OPERATION, sequential_trouble);
  std::int64_t to = 0;
  const int error = seek(call.file(), whence, offset, call->position, to);
  if (error != MPI_SUCCESS) return call.result(error, "no place in the file");
  call->position = to;
  return MPI_SUCCESS;
}

WEFT_MPI(File_seek_shared)(MPI_File fh, MPI_Offset offset, int whence) {
  FileCall call("MPI_File_seek_shared", Call::communicates, fh);
  if (call.failed()) return call.error();
  if (call->sequential()) return call.result(MPI_ERR_UNSUPPORTED_OPERATION, sequential_trouble);
  Process& process = call.process();
  File& file = call.file();
  int error = agree_on(process, file, offset, MPI_SUCCESS);
  if (error == MPI_SUCCESS) error = agree_on(process, file, whence, MPI_SUCCESS);
  if (error != MPI_SUCCESS) return call.result(error, "ranks seek different places");
  std::int64_t to = 0;
  if (file.comm->rank == 0) {
    error = seek(file, whence, offset, file.keeper.position, to);
    if (error == MPI_SUCCESS) file.keeper.position = to;
  }
  return call.result(agree(process, file, error), "no place in the file");
}

WEFT_MPI(File_get_position)(MPI_File fh, MPI_Offset* offset) {
  FileCall call("MPI_File_get_position", Call::local, fh);
  if (call.failed()) return call.error();
  if (call->sequential()) return call.result(MPI_ERR_UNSUPPORTED_OPERATION, sequential_trouble);
  if (!offset) return call.result(MPI_ERR_ARG);
  *offset = call->position;
  return MPI_SUCCESS;
}

WEFT_MPI(File_get_position_shared)(MPI_File fh, MPI_Offset* offset) {
  FileCall call("MPI_File_get_position_shared", Call::communicates, fh);
  if (call.failed()) return call.error();
  if (!offset) return call.result(MPI_ERR_ARG);
  std::int64_t position = 0;
  const int error = call.process().run(advance_shared(call.process(), call.file(), 0, position));
  *offset = position;
  return call.result(error);
}

WEFT_MPI(File_get_byte_offset)(MPI_File fh, MPI_Offset offset, MPI_Offset* disp) {
  FileCall call("MPI_File_get_byte_offset", Call::local, fh);
  if (call.failed()) return call.error();
  std::int64_t byte = 0;
  const FileView& view = *call->view;
  const bool counts = !__builtin_mul_overflow(offset, view.etype().size(), &byte);
  if (!disp || offset < 0 || !counts || view.empty() || !view.fits(byte, 0)) {
    return call.result(MPI_ERR_ARG, "the view has no such place");
  }
  *disp = view.place(byte);
  return MPI_SUCCESS;
}

namespace {

// Numbers have the same size in all representations that a view may have.
template <typename Int>
int get_type_extent(const char* name, MPI_File fh, MPI_Datatype datatype, Int* extent) {
  FileCall call(name, Call::local, fh);
  if (call.failed()) return call.error();
  const Datatype* const type = weft::mpi::find_type(datatype);
  if (!type) return call.result(MPI_ERR_TYPE);
  if (!extent) return call.result(MPI_ERR_ARG);
  *extent = static_cast<Int>(type->extent());
  return MPI_SUCCESS;
}

}  // namespace

WEFT_MPI(File_get_type_extent)(MPI_File fh, MPI_Datatype datatype, MPI_Aint* extent) {
  return get_type_extent("MPI_File_get_type_extent", fh, datatype, extent);
}
WEFT_MPI(File_get_type_extent_c)(MPI_File fh, MPI_Datatype datatype, MPI_Count* extent) {
  return get_type_extent("MPI_File_get_type_extent_c", fh, datatype, extent);
}

WEFT_MPI(File_get_size)(MPI_File fh, MPI_Offset* size) {
  FileCall call("MPI_File_get_size", Call::communicates, fh);
  if (call.failed()) return call.error();
  if (!size) return call.result(MPI_ERR_ARG);
  std::int64_t bytes = 0;
  const int number = call->descriptor->size(bytes);
  *size = bytes;
  return call.result(weft::mpi::class_of_errno(number), file_trouble(call->path, number));
}

namespace {

// Changes the size, or makes room for it.
template <typename Change>
int change_size(FileCall& call, MPI_Offset size, Change change) {
  Process& process = call.process();
  File& file = call.file();
  int error = MPI_SUCCESS;
  if (!file.writable()) error = MPI_ERR_READ_ONLY;
  if (size < 0) error = MPI_ERR_ARG;
  error = agree_on(process, file, size, error);
  if (error != MPI_SUCCESS) return call.result(error, file_trouble(file.path, 0));
  std::string detail;
  error = by_first(process, file, detail, [&] { return change(*file.descriptor); });
  return call.result(error, detail);
}

}  // namespace

WEFT_MPI(File_set_size)(MPI_File fh, MPI_Offset size) {
  FileCall call("MPI_File_set_size", Call::communicates, fh);
  if (call.failed()) return call.error();
  return change_size(call, size,
                     [&](const weft::mpi::FileDescriptor& file) { return file.resize(size); });
}

WEFT_MPI(File_preallocate)(MPI_File fh, MPI_Offset size) {
  FileCall call("MPI_File_preallocate", Call::communicates, fh);
  if (call.failed()) return call.error();
  return change_size(call, size,
                     [&](const weft::mpi::FileDescriptor& file) { return file.allocate(size); });
}

WEFT_MPI(File_set_atomicity)(MPI_File fh, int flag) {
  FileCall call("MPI_File_set_atomicity", Call::communicates, fh);
  if (call.failed()) return call.error();
  const int error = agree_on(call.process(), call.file(), flag != 0 ? 1 : 0, MPI_SUCCESS);
  if (error == MPI_SUCCESS) call->atomic = flag != 0;
  return call.result(error, "ranks differ");
}

WEFT_MPI(File_get_atomicity)(MPI_File fh, int* flag) {
  FileCall call("MPI_File_get_atomicity", Call::local, fh);
  if (call.failed()) return call.error();
  if (!flag) return call.result(MPI_ERR_ARG);
  *flag = call->atomic ? 1 : 0;
  return MPI_SUCCESS;
}

// Simulated ranks see each other's writes at once: all are on one host.
WEFT_MPI(File_sync)(MPI_File fh) {
  FileCall call("MPI_File_sync", Call::communicates, fh);
  if (call.failed()) return call.error();
  Process& process = call.process();
  process.wait_until([&] { return call->accesses == 0; });
  const int number = process.real_time && call->writable() ? call->descriptor->sync() : 0;
  const int error = agree(process, call.file(), weft::mpi::class_of_errno(number));
  return call.result(error, file_trouble(call->path, number));
}

namespace {

int register_datarep(Call& call, const char* name, bool converts) {
  if (call.error()) return call.error();
  if (!name || *name == '\0' || std::strlen(name) >= MPI_MAX_DATAREP_STRING) {
    return result_without_file(call, MPI_ERR_ARG, "no name of a representation");
  }
  auto& known = call.process().representations;
  const auto same = [&](const auto& one) { return one.first == name; };
  const bool predefined = std::strcmp(name, "native") == 0 || std::strcmp(name, "internal") == 0 ||
                          std::strcmp(name, "external32") == 0;
  if (predefined || std::any_of(known.begin(), known.end(), same)) {
    return result_without_file(call, MPI_ERR_DUP_DATAREP, name);
  }
  known.emplace_back(name, converts);
  return MPI_SUCCESS;
}

}  // namespace

// NOLINTBEGIN(bugprone-macro-parentheses): a type.
#define WEFT_REGISTER_DATAREP(suffix)                                                          \
  WEFT_MPI(Register_datarep##suffix)                                                           \
  (const char* datarep, MPI_Datarep_conversion_function##suffix* read_conversion_fn,           \
   MPI_Datarep_conversion_function##suffix* write_conversion_fn, MPI_Datarep_extent_function*, \
   void*) {                                                                                    \
    Call call("MPI_Register_datarep" #suffix, Call::local);                                    \
    return register_datarep(call, datarep, read_conversion_fn || write_conversion_fn);         \
  }
// NOLINTEND(bugprone-macro-parentheses)
WEFT_REGISTER_DATAREP()
WEFT_REGISTER_DATAREP(_c)
