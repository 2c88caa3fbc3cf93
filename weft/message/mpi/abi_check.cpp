// SPDX-License-Identifier: Apache-2.0
// Checks mpi.h against the standard ABI of MPI 5.0 at compile time. Nothing of this runs.
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include <weft/message/mpi/include/mpi.h>

namespace {

// A handle is a number cast to a pointer, which constant expressions cannot inspect; the macro's
// text can be inspected.
constexpr std::uint32_t number_in(std::string_view text) {
  const std::size_t begin = text.find("0x") + 2;
  std::uint32_t value = 0;
  for (const char digit : text.substr(begin, text.find(')', begin) - begin)) {
    value = value * 16 + static_cast<std::uint32_t>(digit <= '9' ? digit - '0' : digit - 'a' + 10);
  }
  return value;
}

// "((MPI_Comm)0x00000101)" is a handle of type MPI_Comm with the value 257.
constexpr bool is_handle(std::string_view text, std::string_view type, std::uint32_t value) {
  return text.starts_with("((") && text.substr(2).starts_with(type) &&
         text.substr(2 + type.size()).starts_with(")0x") && number_in(text) == value;
}

#define WEFT_TEXT_OF(x) #x
#define WEFT_TEXT(x) WEFT_TEXT_OF(x)
#define WEFT_IS(type, name, value) static_assert(is_handle(WEFT_TEXT(name), #type, value))

WEFT_IS(MPI_Op, MPI_OP_NULL, 32);
WEFT_IS(MPI_Op, MPI_SUM, 33);
WEFT_IS(MPI_Op, MPI_MIN, 34);
WEFT_IS(MPI_Op, MPI_MAX, 35);
WEFT_IS(MPI_Op, MPI_PROD, 36);
WEFT_IS(MPI_Op, MPI_BAND, 40);
WEFT_IS(MPI_Op, MPI_BOR, 41);
WEFT_IS(MPI_Op, MPI_BXOR, 42);
WEFT_IS(MPI_Op, MPI_LAND, 48);
WEFT_IS(MPI_Op, MPI_LOR, 49);
WEFT_IS(MPI_Op, MPI_LXOR, 50);
WEFT_IS(MPI_Op, MPI_MINLOC, 56);
WEFT_IS(MPI_Op, MPI_MAXLOC, 57);
WEFT_IS(MPI_Op, MPI_REPLACE, 60);
WEFT_IS(MPI_Op, MPI_NO_OP, 61);
WEFT_IS(MPI_Comm, MPI_COMM_NULL, 256);
WEFT_IS(MPI_Comm, MPI_COMM_WORLD, 257);
WEFT_IS(MPI_Comm, MPI_COMM_SELF, 258);
WEFT_IS(MPI_Group, MPI_GROUP_NULL, 264);
WEFT_IS(MPI_Group, MPI_GROUP_EMPTY, 265);
WEFT_IS(MPI_Win, MPI_WIN_NULL, 272);
WEFT_IS(MPI_File, MPI_FILE_NULL, 280);
WEFT_IS(MPI_Session, MPI_SESSION_NULL, 288);
WEFT_IS(MPI_Message, MPI_MESSAGE_NULL, 296);
WEFT_IS(MPI_Message, MPI_MESSAGE_NO_PROC, 297);
WEFT_IS(MPI_Info, MPI_INFO_NULL, 304);
WEFT_IS(MPI_Info, MPI_INFO_ENV, 305);
WEFT_IS(MPI_Errhandler, MPI_ERRHANDLER_NULL, 320);
WEFT_IS(MPI_Errhandler, MPI_ERRORS_ARE_FATAL, 321);
WEFT_IS(MPI_Errhandler, MPI_ERRORS_RETURN, 322);
WEFT_IS(MPI_Errhandler, MPI_ERRORS_ABORT, 323);
WEFT_IS(MPI_Request, MPI_REQUEST_NULL, 384);
WEFT_IS(MPI_Datatype, MPI_DATATYPE_NULL, 512);
WEFT_IS(MPI_Datatype, MPI_AINT, 513);
WEFT_IS(MPI_Datatype, MPI_PACKED, 519);
WEFT_IS(MPI_Datatype, MPI_INT, 521);
WEFT_IS(MPI_Datatype, MPI_LONG_LONG_INT, 523);
WEFT_IS(MPI_Datatype, MPI_UNSIGNED_LONG_LONG, 527);
WEFT_IS(MPI_Datatype, MPI_FLOAT, 528);
WEFT_IS(MPI_Datatype, MPI_C_COMPLEX, 530);
WEFT_IS(MPI_Datatype, MPI_DOUBLE, 532);
WEFT_IS(MPI_Datatype, MPI_LOGICAL, 536);
WEFT_IS(MPI_Datatype, MPI_CHARACTER, 542);
WEFT_IS(MPI_Datatype, MPI_LONG_DOUBLE, 544);
WEFT_IS(MPI_Datatype, MPI_FLOAT_INT, 552);
WEFT_IS(MPI_Datatype, MPI_2INT, 555);
WEFT_IS(MPI_Datatype, MPI_2INTEGER, 562);
WEFT_IS(MPI_Datatype, MPI_C_BOOL, 568);
WEFT_IS(MPI_Datatype, MPI_WCHAR, 572);
WEFT_IS(MPI_Datatype, MPI_INT8_T, 576);
WEFT_IS(MPI_Datatype, MPI_CHAR, 579);
WEFT_IS(MPI_Datatype, MPI_BYTE, 583);
WEFT_IS(MPI_Datatype, MPI_UINT64_T, 601);
WEFT_IS(MPI_Datatype, MPI_LOGICAL1, 704);
WEFT_IS(MPI_Datatype, MPI_REAL16, 738);
WEFT_IS(MPI_Datatype, MPI_COMPLEX32, 747);

static_assert(MPI_VERSION == 5 && MPI_SUBVERSION == 0);
static_assert(MPI_ABI_VERSION == 1 && MPI_ABI_SUBVERSION == 0);

static_assert(sizeof(MPI_Status) == 32 && std::is_trivial_v<MPI_Status>);
static_assert(offsetof(MPI_Status, MPI_SOURCE) == 0 && offsetof(MPI_Status, MPI_TAG) == 4);
static_assert(offsetof(MPI_Status, MPI_ERROR) == 8 && offsetof(MPI_Status, MPI_internal) == 12);
static_assert(MPI_F_STATUS_SIZE * sizeof(MPI_Fint) == sizeof(MPI_Status));
static_assert(sizeof(MPI_Aint) == sizeof(void*) && std::is_signed_v<MPI_Aint>);
static_assert(sizeof(MPI_Count) == 8 && sizeof(MPI_Offset) == 8);

static_assert(MPI_ANY_SOURCE == -1 && MPI_ANY_TAG == -2 && MPI_PROC_NULL == -3);
static_assert(MPI_ROOT == -4 && MPI_UNDEFINED == -32766);
static_assert(MPI_SUCCESS == 0 && MPI_ERR_BUFFER == 1 && MPI_ERR_TRUNCATE == 15);
static_assert(MPI_ERR_IN_STATUS == 19 && MPI_ERR_KEYVAL == 36 && MPI_ERR_NO_MEM == 39);
static_assert(MPI_ERR_RMA_SYNC == 50 && MPI_ERR_WIN == 56 && MPI_ERR_RMA_FLAVOR == 57);
static_assert(MPI_ERR_ERRHANDLER == 61 && MPI_ERR_ABI == 62 && MPI_ERR_LASTCODE == 16383);
static_assert(MPI_T_ERR_CANNOT_INIT == 1001 && MPI_T_ERR_PVAR_NO_ATOMIC == 1018);
static_assert(MPI_T_VERBOSITY_USER_BASIC == 9 && MPI_T_VERBOSITY_MPIDEV_ALL == 36);
static_assert(MPI_T_BIND_NO_OBJECT == 1 && MPI_T_BIND_MPI_SESSION == 12);
static_assert(MPI_T_SCOPE_CONSTANT == 1 && MPI_T_SCOPE_ALL_EQ == 7);
static_assert(MPI_T_PVAR_CLASS_STATE == 1 && MPI_T_PVAR_CLASS_GENERIC == 10);
static_assert(MPI_T_CB_REQUIRE_MPI_RESTRICTED == 3 && MPI_T_CB_REQUIRE_THREAD_SAFE == 15);
static_assert(MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE == 63 && MPI_T_SOURCE_UNORDERED == 2);
static_assert(MPI_THREAD_SINGLE == 0 && MPI_THREAD_FUNNELED == 1024);
static_assert(MPI_THREAD_SERIALIZED == 2048 && MPI_THREAD_MULTIPLE == 4096);
static_assert(MPI_ORDER_C == 0xC && MPI_ORDER_FORTRAN == 0xF);
static_assert(MPI_DISTRIBUTE_NONE == 16 && MPI_DISTRIBUTE_DFLT_DARG == 19);
static_assert(MPI_COMBINER_NAMED == 101 && MPI_COMBINER_STRUCT == 110);
static_assert(MPI_COMBINER_RESIZED == 116 && MPI_COMBINER_VALUE_INDEX == 117);
static_assert(MPI_TYPECLASS_INTEGER == 192 && MPI_TYPECLASS_COMPLEX == 194);
static_assert(MPI_IDENT == 201 && MPI_UNEQUAL == 204 && MPI_CART == 211 && MPI_DIST_GRAPH == 213);
static_assert(MPI_COMM_TYPE_SHARED == 221 && MPI_COMM_TYPE_RESOURCE_GUIDED == 224);
static_assert(MPI_LOCK_EXCLUSIVE == 301 && MPI_LOCK_SHARED == 302);
static_assert(MPI_WIN_FLAVOR_CREATE == 311 && MPI_WIN_FLAVOR_SHARED == 314);
static_assert(MPI_WIN_UNIFIED == 321 && MPI_WIN_SEPARATE == 322);
static_assert(MPI_MODE_APPEND == 1 && MPI_MODE_WRONLY == 256 && MPI_MODE_NOCHECK == 1024);
static_assert(MPI_MODE_NOSUCCEED == 16384 && MPI_SEEK_SET == 401 && MPI_SEEK_END == 403);
static_assert(MPI_KEYVAL_INVALID == 0 && MPI_TAG_UB == 501 && MPI_LASTUSEDCODE == 507);
static_assert(MPI_WIN_BASE == 601 && MPI_WIN_MODEL == 605);
static_assert(MPI_MAX_ERROR_STRING == 512 && MPI_MAX_INFO_KEY == 256 && MPI_MAX_INFO_VAL == 1024);
static_assert(MPI_MAX_LIBRARY_VERSION_STRING == 8192 && MPI_MAX_OBJECT_NAME == 128);
static_assert(MPI_MAX_PROCESSOR_NAME == 256 && MPI_MAX_PORT_NAME == 1024);
static_assert(MPI_BSEND_OVERHEAD == 512);

}  // namespace
