# SPDX-License-Identifier: Apache-2.0
"""Reads mpi.h: its functions and constants, as Fortran sees them."""
import re

# Not in mpif.h and module mpi: large counts are for mpi_f08 alone, and handles are integers already.
ABSENT = re.compile(r".*(_c|_toint|_fromint)$")
# Not in Fortran: the tool interface, and representations of data in files, which need files.
C_ONLY = re.compile(r"T_.*|Register_datarep.*")

# Written by hand in C, so the arguments are listed here: name:type, * for an array, 2 for one of count rows.
#   i integer, a address, l logical, s text, b buffer of any type, p procedure
# A leading "=" stands for a function's result.
BY_HAND = {
    "init": "",
    "init_thread": "required:i provided:i",
    "buffer_detach": "buffer_addr:b size:i",
    "comm_detach_buffer": "comm:i buffer_addr:b size:i",
    "session_detach_buffer": "session:i buffer_addr:b size:i",
    "session_get_nth_pset": "session:i info:i n:i pset_len:i pset_name:s",
    "wtime": "=d",
    "wtick": "=d",
    "aint_add": "=a base:a disp:a",
    "aint_diff": "=a addr1:a addr2:a",
    "info_create_env": "info:i",
    "info_get": "info:i key:s valuelen:i value:s flag:l",
    "info_get_string": "info:i key:s buflen:i value:s flag:l",
    "type_get_contents": "datatype:i max_integers:i max_addresses:i max_datatypes:i "
                         "array_of_integers:i* array_of_addresses:a* array_of_datatypes:i*",
    "comm_spawn": "command:s argv:s* maxprocs:i info:i root:i comm:i intercomm:i "
                  "array_of_errcodes:i*",
    "comm_spawn_multiple": "count:i array_of_commands:s* array_of_argv:s2 array_of_maxprocs:i* "
                           "array_of_info:i* root:i comm:i intercomm:i array_of_errcodes:i*",
    "op_create": "user_fn:p commute:l op:i",
    "grequest_start": "query_fn:p free_fn:p cancel_fn:p extra_state:a request:i",
    "comm_create_errhandler": "comm_errhandler_fn:p errhandler:i",
    "win_create_errhandler": "win_errhandler_fn:p errhandler:i",
    "session_create_errhandler": "session_errhandler_fn:p errhandler:i",
    "file_create_errhandler": "file_errhandler_fn:p errhandler:i",
    "errhandler_create": "handler_fn:p errhandler:i",
    "keyval_create": "copy_fn:p delete_fn:p keyval:i extra_state:i",
    "attr_put": "comm:i keyval:i attribute_val:i",
    "attr_get": "comm:i keyval:i attribute_val:i flag:l",
    "address": "location:b address:i",
    "type_extent": "datatype:i extent:i",
    "type_lb": "datatype:i displacement:i",
    "type_ub": "datatype:i displacement:i",
    "type_hvector": "count:i blocklength:i stride:i oldtype:i newtype:i",
    "type_hindexed": "count:i array_of_blocklengths:i* array_of_displacements:i* oldtype:i newtype:i",
    "type_struct": "count:i array_of_blocklengths:i* array_of_displacements:i* array_of_types:i* "
                   "newtype:i",
}
for kind in ("comm", "type", "win"):
    BY_HAND[f"{kind}_create_keyval"] = (
        f"{kind}_copy_attr_fn:p {kind}_delete_attr_fn:p {kind}_keyval:i extra_state:a")
    BY_HAND[f"{kind}_set_attr"] = f"{kind}:i {kind}_keyval:i attribute_val:a"
    BY_HAND[f"{kind}_get_attr"] = f"{kind}:i {kind}_keyval:i attribute_val:a flag:l"
NO_INTERFACE = {"pcontrol"}  # By hand, and without the argument for the error.

# Older names of functions with the same arguments.
RENAMED = {"Errhandler_get": "Comm_get_errhandler", "Errhandler_set": "Comm_set_errhandler"}

LOGICAL = {"flag", "reorder", "high", "commute", "periods", "remain_dims", "weighted", "is_set"}
# With MPI_IN_PLACE most of these are ignored, and programs pass numbers where arrays are expected,
# or arrays where a single type is expected. Not checked, like buffers.
IN_PLACE = re.compile(r"I?alltoall[vw](_init)?", re.I)
IGNORED = {"sendcounts", "sdispls", "sendtype", "sendtypes", "recvtype"}
WEIGHTS = {"weights", "sourceweights", "destweights"}
HANDLES = {"Comm": "comm", "Datatype": "datatype", "Errhandler": "errhandler", "File": "file",
           "Group": "group", "Info": "info", "Message": "message", "Op": "op",
           "Request": "request", "Session": "session", "Win": "win"}
# Handles that a function takes and changes; others it creates.
CHANGED = re.compile(r"\w+_free|Comm_disconnect|Session_finalize|File_close|Wait|Test|Start|Cancel|Type_commit|I?mrecv(_c)?", re.I)
CREATED = {"imrecv": "request"}  # What one of these creates.
TEXT_SIZES = {"version": "MPI_MAX_LIBRARY_VERSION_STRING", "name": "MPI_MAX_PROCESSOR_NAME",
              "string": "MPI_MAX_ERROR_STRING", "key": "MPI_MAX_INFO_KEY",
              "datarep": "MPI_MAX_DATAREP_STRING", "port_name": "MPI_MAX_PORT_NAME"}
# Names with another spelling in the standard.
SPELLINGS = {"indx": "index", "mode": "assert", "Comm_agree value": "flag", "Comm_iagree value": "flag"}
for name in ("Comm", "Type", "Win"):
    for function in ("free_keyval", "delete_attr"):
        SPELLINGS[f"{name}_{function} keyval"] = f"{name.lower()}_keyval"
SPELLINGS["File_call_errhandler file"] = "fh"


class Argument:
    def __init__(self, text, function):
        match = re.fullmatch(r"(const )?(\w+) (\**)(\w+)(\[\])?(\[3\])?", " ".join(text.split()))
        if not match:
            raise ValueError(f"{function}: cannot read '{text}'")
        const, self.type, stars, self.name, array, self.triples = match.groups()
        self.const = bool(const)
        self.array = bool(array)
        self.pointer = bool(stars) or self.array
        self.handle = HANDLES.get(self.type.removeprefix("MPI_"))
        self.logical = self.type == "int" and self.name in LOGICAL
        self.text = self.type == "char"
        self.changed = bool(self.handle and self.pointer and CHANGED.fullmatch(function)
                            and CREATED.get(function.lower().removesuffix("_c")) != self.name)
        self.spelled = SPELLINGS.get(self.name, SPELLINGS.get(f"{function} {self.name}", self.name))


class Function:
    def __init__(self, name, arguments, fortran_name=None):
        self.c_name = name
        self.name = fortran_name or name.lower()
        self.arguments = arguments


def declared(header):
    """Result, name and parameters of each function that Fortran has."""
    found = [match.groups() for match in re.finditer(r"WEFT_MPI_DECLARE\((\w+), (\w+), \(([^)]*)\)\);", header)]
    return [function for function in found if not C_ONLY.fullmatch(function[1])]


def large(header):
    """Those with large counts, but for the ones whose small form is written by hand."""
    return [Function(name, [Argument(part, name) for part in parameters.split(",")]) for _, name, parameters in declared(header)
            if name.endswith("_c") and name.removesuffix("_c").lower() not in BY_HAND]


def functions(header):
    """Those whose wrappers are generated, in the order of the header."""
    found = {}
    for result, name, parameters in declared(header):
        if ABSENT.fullmatch(name) or name.lower() in BY_HAND or name.lower() in NO_INTERFACE:
            continue
        if result != "int":
            raise ValueError(f"MPI_{name}: returns {result}, so it needs a wrapper by hand")
        parts = [] if parameters == "void" else parameters.split(",")
        found[name] = Function(name, [Argument(part, name) for part in parts])
    for old, new in RENAMED.items():
        found[old] = Function(new, found[new].arguments, old.lower())
    return list(found.values())


def handle_types(header):
    """By name of a constant that is a handle: what it is a handle of."""
    found = {}
    for name, value in re.findall(r"^#define (MPI_[A-Z0-9_]+)\s+(\S.*)$", header, re.M):
        if match := re.fullmatch(r"\(\(MPI_(\w+)\)(0x[0-9a-f]+)\)", value):
            found[name] = match.group(1)
        elif value in found:
            found[name] = found[value]
    return found


def constants(header):
    """Pairs of name and integer, in the order of the header."""
    found = {}
    for name, value in re.findall(r"^#define (MPI_[A-Z0-9_]+)\s+(\S.*)$", header, re.M):
        number = re.fullmatch(r"\(\(MPI_(\w+)\)(0x[0-9a-f]+)\)|\(?(-?\w+)\)?", value)
        if name.startswith(("MPI_F_", "MPI_T_")) or name.endswith("_FN") or not number:
            continue
        digits = number.group(2) or number.group(3)
        found[name] = found[digits] if digits.startswith("MPI_") else int(digits, 0)
        if name.startswith("MPI_MAX_"):  # Room for text; C counts a terminating zero.
            found[name] -= 1
    return list(found.items())
