# SPDX-License-Identifier: Apache-2.0
"""Module mpi_f08 and the C functions behind it, which call the wrappers of mpif.h.

A handle is a type with one integer in it and a status one with eight, so both stand in memory as mpif.h has them: a function here has
nothing to convert but what Fortran passes as a descriptor (texts, and buffers, which may be sections of arrays) and an error code that
may be missing.
"""
import re

import prototypes

HANDLES = ("Comm", "Datatype", "Errhandler", "File", "Group", "Info", "Message", "Op", "Request", "Session", "Win")
# Arguments of functions written by hand that are handles, by their names.
NAMED = {"comm": "Comm", "datatype": "Datatype", "errhandler": "Errhandler", "info": "Info", "op": "Op", "request": "Request", "session": "Session", "win": "Win",
         "array_of_datatypes": "Datatype", "array_of_info": "Info", "intercomm": "Comm"}
# Functions that Fortran 2008 has no longer.
REMOVED = {"errhandler_create", "errhandler_get", "errhandler_set", "keyval_create", "keyval_free", "attr_put", "attr_get", "attr_delete", "address", "type_extent", "type_lb", "type_ub",
           "type_hvector", "type_hindexed", "type_struct"}
# Functions that are not wrapped one to one.
OWN = {"wtime", "wtick", "aint_add", "aint_diff", "buffer_detach", "comm_detach_buffer", "session_detach_buffer"}
# The program's functions, by the names of arguments.
PROCEDURES = {"user_fn": "MPI_User_function", "user_fn_c": "MPI_User_function_c", "query_fn": "MPI_Grequest_query_function", "free_fn": "MPI_Grequest_free_function",
              "cancel_fn": "MPI_Grequest_cancel_function"}
for kind in ("comm", "type", "win"):
    for function in ("copy_attr", "delete_attr"):
        PROCEDURES[f"{kind}_{function}_fn"] = f"MPI_{kind.capitalize()}_{function}_function"
for kind in ("comm", "file", "session", "win"):
    PROCEDURES[f"{kind}_errhandler_fn"] = f"MPI_{kind.capitalize()}_errhandler_function"
# With large counts and written by hand, as prototypes.BY_HAND has the others; n is a count.
LARGE_BY_HAND = {
    "op_create_c": "user_fn_c:p commute:l op:i",
    "type_get_contents_c": "datatype:i max_integers:n max_addresses:n max_large_counts:n max_datatypes:n "
                           "array_of_integers:i* array_of_addresses:a* array_of_large_counts:n* array_of_datatypes:i*",
}
# Intents that mpi.h does not tell; none where the special arguments or the address itself count.
INTENTS = {("cancel", "request"): "in", ("free_mem", "base"): "in", ("get_address", "location"): "", ("win_detach", "base"): "", ("dims_create", "dims"): "inout",
           ("group_range_incl", "ranges"): "in", ("group_range_excl", "ranges"): "in", ("dist_graph_neighbors", "sourceweights"): "",
           ("dist_graph_neighbors", "destweights"): "", ("info_get_string", "buflen"): "inout", ("info_create_env", "info"): "out", ("session_get_nth_pset", "pset_len"): "inout",
           ("comm_agree", "flag"): "inout", ("comm_iagree", "flag"): "inout", ("comm_spawn", "array_of_errcodes"): "", ("comm_spawn_multiple", "array_of_errcodes"): ""}
for kind in ("comm", "type", "win"):
    INTENTS |= {(f"{kind}_free_keyval", f"{kind}_keyval"): "inout", (f"{kind}_create_keyval", f"{kind}_keyval"): "out", (f"{kind}_get_attr", "attribute_val"): "out"}
# What functions written by hand give back.
RESULTS = {"provided", "value", "flag", "op", "request", "errhandler", "intercomm", "pset_name", "array_of_integers", "array_of_addresses", "array_of_large_counts", "array_of_datatypes"}
POINTERS = {"baseptr"}  # Memory whose address comes back as TYPE(C_PTR).
# Only the address counts, so that any section will do.
ADDRESSES = re.compile(r"get_address|free_mem|win_detach|file_\w+_end")
# For each buffer, the arguments with its count and its datatype ...
PARTS = {"buf": ("count", "datatype"), "buffer": ("count", "datatype"), "sendbuf": ("sendcount", "sendtype"), "recvbuf": ("recvcount", "recvtype"),
         "origin_addr": ("origin_count", "origin_datatype"), "result_addr": ("result_count", "result_datatype")}
# ... except in functions where count and datatype are those of one rank, or of one partition.
SHARES = re.compile(r"i?(neighbor_)?(alltoall\w*)(_init)? (send|recv)buf|i?(neighbor_)?(all)?gatherv?(_init)? recvbuf|i?scatterv?(_init)? sendbuf|p(send|recv)_init buf")
# Only the root looks at these.
ROOTS = re.compile(r"i?(reduce|gatherv?)(_init)? recvbuf|i?scatterv?(_init)? sendbuf")
# The library uses the buffer after the call has returned.
LATER = re.compile(r"i(?!nfo)\w+|\w+_init|r?(put|get|accumulate|get_accumulate)|fetch_and_op|compare_and_swap|win_create|win_attach|\w*buffer_attach|\w+_attach_buffer"
                   r"|file_i\w+|file_\w+_begin")


class Argument:
    """What the module declares and what C receives."""

    def __init__(self, name, fortran, passed="plain"):
        self.name, self.fortran, self.passed = name, fortran, passed

    def c(self):
        return {"plain": "void *", "procedure": "void *"}.get(self.passed, "CFI_cdesc_t *") + self.name


def intent(way):
    return f", intent({way})" if way else ""


def of_header(a, function):
    """An argument as mpi.h has it. function: its name without _c."""
    name = a.spelled
    later = ", asynchronous" if LATER.fullmatch(function) or ADDRESSES.fullmatch(function) else ""
    way = INTENTS.get((function, name), "in" if a.const or not a.pointer else "inout" if a.changed or name == "position" else "out")
    shape = ", dimension(3, *)" if a.triples else ", dimension(*)" if a.array or a.name in prototypes.WEIGHTS else ""
    if a.type == "void" and a.name in POINTERS:
        return Argument(name, "type(c_ptr), intent(out)")
    if a.type == "void":
        way = INTENTS.get((function, name), "in" if a.const else "")
        return Argument(name, "type(*), dimension(..)" + later + intent(way), "buffer")
    if a.text:
        return Argument(name, "character(len=*)" + intent("in" if a.const else "out"), "text")
    if a.type == "MPI_Status":
        shape = ", dimension(*)" if a.name == "array_of_statuses" else ""
        way = "in" if a.const else "inout" if function.startswith("status_set") else ""  # None, since it may be MPI_STATUS_IGNORE.
        return Argument(name, f"type(MPI_Status){shape}" + intent(way))
    if a.array and a.const:
        shape += later
    handle = a.type.removeprefix("MPI_")
    if handle in HANDLES:
        return Argument(name, f"type(MPI_{handle}){shape}{intent('inout' if a.array and not a.const else way)}")
    kinds = {"MPI_Aint": "integer(kind=MPI_ADDRESS_KIND)", "MPI_Count": "integer(kind=MPI_COUNT_KIND)", "MPI_Offset": "integer(kind=MPI_OFFSET_KIND)"}
    kind = "logical" if a.logical else kinds.get(a.type, "integer")
    return Argument(name, f"{kind}{shape}{intent(way)}")


def by_hand(word, function):
    """An argument as prototypes.BY_HAND has it."""
    name, kind = word.split(":")
    name = "datatype" if name == "type" else name
    if kind == "p":
        return Argument(name.removesuffix("_c"), f"procedure({PROCEDURES[name]})", "procedure")
    shape = {"*": ", dimension(*)", "2": ", dimension(count, *)"}.get(kind[1:], "")
    way = intent(INTENTS.get((function, name), "out" if name in RESULTS else "in"))
    if kind[0] == "s":
        return Argument(name, f"character(len=*){shape}{way}", "text")
    if name in NAMED and kind[0] == "i":
        return Argument(name, f"type(MPI_{NAMED[name]}){shape}{way}")
    kind = {"i": "integer", "a": "integer(kind=MPI_ADDRESS_KIND)", "n": "integer(kind=MPI_COUNT_KIND)", "l": "logical"}[kind[0]]
    return Argument(name, kind + shape + way)


class Function:
    def __init__(self, name, arguments, large=False):
        self.name, self.arguments, self.large = name, arguments, large  # The name is that of mpif.h and C.
        self.generic = name.removesuffix("_c") if large else name
        # Descriptors of buffers need functions of C, which may not have logical arguments or procedures.
        self.bound = any(a.passed == "buffer" for a in self.arguments) and not any(a.fortran.startswith("logical") for a in self.arguments)
        if not self.bound:
            for a in self.arguments:
                a.passed = "plain" if a.passed == "buffer" else a.passed
        self.specific = f"{self.generic}{'_c' if large else ''}_{'f08ts' if self.bound else 'f08'}"

    def buffers(self):
        return [a for a in self.arguments if a.passed == "buffer"]

    def parts(self, a):
        """The arguments that tell what is in a buffer, if they are single numbers."""
        if SHARES.fullmatch(f"{self.generic} {a.name}"):
            return None
        names = {argument.name: argument for argument in self.arguments}
        found = [names.get(name) for name in PARTS.get(a.name, ())]
        return found if found and all(part is not None and "dimension" not in part.fortran for part in found) else None

    def kind_of_use(self, a):
        if ADDRESSES.fullmatch(self.generic):
            return "address"
        if not LATER.fullmatch(self.generic):
            return "copy_first" if self.parts(a) else "copy"
        return "type" if self.parts(a) else "whole"


def functions(header, small):
    """All of the module, those with large counts beside the others. small: the functions that mpif.h has."""
    found = []
    for function in small:
        if function.name not in REMOVED:
            found.append(Function(function.name, [of_header(a, function.name) for a in function.arguments]))
    for name, words in prototypes.BY_HAND.items():
        if name not in REMOVED | OWN:
            found.append(Function(name, [by_hand(word, name) for word in words.split()]))
    for function in prototypes.large(header):
        found.append(Function(function.name, [of_header(a, function.name.removesuffix("_c")) for a in function.arguments], large=True))
    for name, words in LARGE_BY_HAND.items():
        found.append(Function(name, [by_hand(word, name) for word in words.split()], large=True))
    return found


# C


def c_text(function):
    """The definition of mpi_X_f08ts_ or mpi_X_f08_, which calls pmpi_x_."""
    before, call, after, lengths, own_lengths = [], [], [], [], []
    for a in function.arguments:
        if a.passed == "text" and not function.bound:  # As mpif.h has it.
            call.append(a.name)
            lengths.append(f"{a.name}_length")
            own_lengths.append(f"size_t {a.name}_length")
        elif a.passed == "text":
            call.append(f"{a.name}->base_addr")
            lengths.append(f"{a.name}->elem_len")
        elif a.passed == "buffer":
            use = function.kind_of_use(a)
            before.append(f"struct section s_{a.name} = {{0}};")
            call.append(f"s_{a.name}.address")
            after.insert(0, f"weft_f08_leave(&s_{a.name}, {int('intent(in)' not in a.fortran)});")
            if use in ("type", "copy_first"):
                count, datatype = (part.name for part in function.parts(a))
                number = f"*(MPI_Count *){count}" if function.large else f"*(int *){count}"
                before.append(f"weft_f08_{'describe' if use == 'type' else use}(&s_{a.name}, {a.name}, {number}, *(int *){datatype}, ierror);")
            if use == "type":
                before.append(f"if (s_{a.name}.made) {count} = {'&one_large' if function.large else '&one'}, {datatype} = &s_{a.name}.datatype;")
            elif use != "copy_first":
                call_it = f"weft_f08_{use}(&s_{a.name}, {a.name}, ierror);"
                if ROOTS.fullmatch(f"{function.generic} {a.name}"):
                    call_it = f"s_{a.name}.address = {a.name}->base_addr;\n  if (weft_f08_has_gaps({a.name}) && weft_f08_is_root(*(int *)comm, *(int *)root)) {call_it}"
                before.append(call_it)
        else:
            call.append(a.name)
    kinds = [f"void *{a.name}" if a.passed == "text" and not function.bound else a.c() for a in function.arguments]
    parameters = ", ".join(kinds + ["int *ierror"] + own_lengths)
    types = ", ".join(["void *"] * (len(function.arguments) + 1) + ["size_t"] * len(lengths))
    lines = ["/* SPDX-License-Identifier: Apache-2.0 */", '#include "section.h"', "", f"void pmpi_{function.name}_({types});", "",
             f"WRAPPER({function.specific}, ({parameters})) {{", "  int code = MPI_SUCCESS;", "  if (!ierror) ierror = &code;", "  *ierror = MPI_SUCCESS;"]
    if any("&one_large" in line for line in before):
        lines.append("  MPI_Count one_large = 1;")
    elif any("&one" in line for line in before):
        lines.append("  int one = 1;")
    lines += ["  " + line for line in before]
    lines.append(f"  {'if (*ierror == MPI_SUCCESS) ' if before else ''}pmpi_{function.name}_({', '.join(call + ['ierror'] + lengths)});")
    if before:
        handle = next((name for name in ("comm", "win", "session", "fh") if name in [a.name for a in function.arguments]), None)
        lines.append(f"  else weft_f08_refuse_{handle}(*(int *){handle}, *ierror);" if handle else "  else PMPI_Comm_call_errhandler(MPI_COMM_SELF, *ierror);")
    return "\n".join(lines + ["  " + line for line in after] + ["}"]) + "\n"


def c_files(header, small):
    return {f"f08_{function.name}.c": (lambda function=function: c_text(function)) for function in functions(header, small)}


# Fortran

CALLBACKS = """
    subroutine MPI_User_function(invec, inoutvec, len, datatype)
      import
      type(c_ptr), value :: invec, inoutvec
      integer :: len
      type(MPI_Datatype) :: datatype
    end subroutine
    subroutine MPI_User_function_c(invec, inoutvec, len, datatype)
      import
      type(c_ptr), value :: invec, inoutvec
      integer(kind=MPI_COUNT_KIND) :: len
      type(MPI_Datatype) :: datatype
    end subroutine
    subroutine MPI_Grequest_query_function(extra_state, status, ierror)
      import
      integer(kind=MPI_ADDRESS_KIND) :: extra_state
      type(MPI_Status) :: status
      integer :: ierror
    end subroutine
    subroutine MPI_Grequest_free_function(extra_state, ierror)
      import
      integer(kind=MPI_ADDRESS_KIND) :: extra_state
      integer :: ierror
    end subroutine
    subroutine MPI_Grequest_cancel_function(extra_state, complete, ierror)
      import
      integer(kind=MPI_ADDRESS_KIND) :: extra_state
      logical :: complete
      integer :: ierror
    end subroutine"""
COPY = """
    subroutine {name}(old{kind}, {kind}_keyval, extra_state, attribute_val_in, attribute_val_out, flag, ierror)
      import
      type(MPI_{Handle}) :: old{kind}
      integer :: {kind}_keyval, ierror
      integer(kind=MPI_ADDRESS_KIND) :: extra_state, attribute_val_in, attribute_val_out
      logical :: flag
    end subroutine"""
DELETE = """
    subroutine {name}({handle}, {kind}_keyval, attribute_val, extra_state, ierror)
      import
      type(MPI_{Handle}) :: {handle}
      integer :: {kind}_keyval, ierror
      integer(kind=MPI_ADDRESS_KIND) :: attribute_val, extra_state
    end subroutine"""
ERRHANDLER = """
    subroutine MPI_{Handle}_errhandler_function({handle}, error_code)
      import
      type(MPI_{Handle}) :: {handle}
      integer :: error_code
    end subroutine"""
# Without a status of mpif.h: both have eight integers.
BY_HAND = """  interface {P}_Wtime
    function {p}_wtime() result(time)
      double precision :: time
    end function
  end interface
  interface {P}_Wtick
    function {p}_wtick() result(time)
      double precision :: time
    end function
  end interface
  interface {P}_Aint_add
    function {p}_aint_add(base, disp) result(sum)
      import
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: base, disp
      integer(kind=MPI_ADDRESS_KIND) :: sum
    end function
  end interface
  interface {P}_Aint_diff
    function {p}_aint_diff(addr1, addr2) result(difference)
      import
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: addr1, addr2
      integer(kind=MPI_ADDRESS_KIND) :: difference
    end function
  end interface
  interface {P}_Pcontrol
    subroutine {p}_pcontrol(level)
      integer, intent(in) :: level
    end subroutine
  end interface
  interface {P}_F_sync_reg
    subroutine {p}_f_sync_reg_f08ts(buf) bind(c, name='{p}_f_sync_reg_f08ts_')
      type(*), dimension(..), asynchronous :: buf
    end subroutine
  end interface
  interface {P}_Status_f2f08
    subroutine {p}_status_f2f08_f08ts(f_status, f08_status, ierror) bind(c, name='{p}_status_f2f08_f08ts_')
      import
      integer, dimension(MPI_STATUS_SIZE), intent(in) :: f_status
      type(MPI_Status), intent(out) :: f08_status
      integer, optional, intent(out) :: ierror
    end subroutine
  end interface
  interface {P}_Status_f082f
    subroutine {p}_status_f082f_f08ts(f08_status, f_status, ierror) bind(c, name='{p}_status_f082f_f08ts_')
      import
      type(MPI_Status), intent(in) :: f08_status
      integer, dimension(MPI_STATUS_SIZE), intent(out) :: f_status
      integer, optional, intent(out) :: ierror
    end subroutine
  end interface"""

DETACH = """  interface {p}_{name}
    subroutine {p}_{name}_f08ts({list}buffer_addr, size, ierror) bind(c, name='{p}_{name}_f08ts_')
      import
      {handle}type(c_ptr), intent(out) :: buffer_addr
      integer, intent(out) :: size
      integer, optional, intent(out) :: ierror
    end subroutine
    subroutine {p}_{name}_c_f08ts({list}buffer_addr, size, ierror) bind(c, name='{p}_{name}_c_f08ts_')
      import
      {handle}type(c_ptr), intent(out) :: buffer_addr
      integer(kind=MPI_COUNT_KIND), intent(out) :: size
      integer, optional, intent(out) :: ierror
    end subroutine
  end interface"""
DETACHED = [("buffer_detach", "", ""), ("comm_detach_buffer", "comm, ", "type(MPI_Comm), intent(in) :: comm\n      "),
            ("session_detach_buffer", "session, ", "type(MPI_Session), intent(in) :: session\n      ")]


def types_and_operators():
    lines, names, bodies = [], {"==": [], "/=": []}, []
    for handle in HANDLES:
        lines += [f"  type, bind(c) :: MPI_{handle}", "    integer :: MPI_VAL", f"  end type MPI_{handle}"]
        for sign, word in (("==", "same"), ("/=", "other")):
            name = f"{word}_{handle.lower()}"
            names[sign].append(name)
            bodies += [f"  elemental logical function {name}(a, b)", f"    type(MPI_{handle}), intent(in) :: a, b", f"    {name} = a%MPI_VAL {sign} b%MPI_VAL",
                       f"  end function {name}"]
    lines += ["  type, bind(c) :: MPI_Status", "    integer :: MPI_SOURCE, MPI_TAG, MPI_ERROR", "    integer, dimension(5), private :: rest", "  end type MPI_Status"]
    for sign, procedures in names.items():
        lines += [f"  interface operator({sign})", *(f"    module procedure {name}" for name in procedures), "  end interface"]
        lines += [f"  private :: {name}" for name in procedures]
    return lines, bodies


def callbacks():
    """The kinds of the program's functions, and those that the library has for it."""
    kinds, made = CALLBACKS.splitlines(), []
    for kind, handle, prefix in (("comm", "comm", "COMM"), ("type", "datatype", "TYPE"), ("win", "win", "WIN")):
        words = {"kind": kind, "handle": handle, "Handle": handle.capitalize()}
        kinds += COPY.format(name=f"MPI_{kind.capitalize()}_copy_attr_function", **words).splitlines()
        kinds += DELETE.format(name=f"MPI_{kind.capitalize()}_delete_attr_function", **words).splitlines()
        for name in ("NULL_COPY_FN", "DUP_FN"):
            made += COPY.format(name=f"MPI_{prefix}_{name}", **words).splitlines()
        made += DELETE.format(name=f"MPI_{prefix}_NULL_DELETE_FN", **words).splitlines()
    for handle in ("comm", "file", "session", "win"):
        kinds += ERRHANDLER.format(handle=handle, Handle=handle.capitalize()).splitlines()
    return ["  abstract interface", *kinds, "  end interface", "  interface", *made, "  end interface"]


def constants(header, pairs, special):
    types = prototypes.handle_types(header)
    lines = []
    for name, value in pairs:
        handle = types.get(name)
        lines.append(f"  type(MPI_{handle}), parameter :: {name} = MPI_{handle}({value})" if handle else f"  integer, parameter :: {name} = {value}")
    # Some non-blocking calls refuse sections of arrays: see the docs.
    lines += ["  logical, parameter :: MPI_SUBARRAYS_SUPPORTED = .false., MPI_ASYNC_PROTECTS_NONBLOCKING = .false.",
              "  integer(kind=MPI_OFFSET_KIND), parameter :: MPI_DISPLACEMENT_CURRENT = -1"]
    for name, kind, shape in special:
        if "STATUS" in name:
            kind, shape = "type(MPI_Status)", "(1)" if "STATUSES" in name else ""
        lines += [f"  {kind} :: {name}{shape}", f"  common /mpi_fortran_{name[4:].lower()}/ {name}"]
    return lines


def declaration(prefix, function):
    names = [a.name for a in function.arguments] + ["ierror"]
    name = f"{prefix}_{function.specific}"
    bound = f" bind(c, name='{name}_')" if function.bound else ""
    lines = [f"    subroutine {name}({', '.join(names)}){bound}", "      import", "      implicit none"]
    for a in function.arguments:
        if a.passed == "plain" and a.fortran.startswith("type(*)"):  # Any type, passed by its address.
            lines += [f"!GCC$ ATTRIBUTES NO_ARG_CHECK :: {a.name}", f"      type(*), dimension(*) :: {a.name}"]
        else:
            lines.append(f"      {a.fortran} :: {a.name}")
    return lines + ["      integer, optional, intent(out) :: ierror", f"    end subroutine {name}"]


def shape_of(function):
    """What a call is told by: two functions of one name need it to differ."""
    return [re.sub(r"MPI_(ADDRESS|COUNT|OFFSET)_KIND|, intent\(\w+\)|procedure.*", "", a.fortran) for a in function.arguments]


def interfaces(all_functions):
    by_generic, lines = {}, []
    for function in all_functions:
        same = [other for other in by_generic.get(function.generic, []) if shape_of(other) == shape_of(function)]
        by_generic.setdefault(function.name if same else function.generic, []).append(function)
    for prefix in ("mpi", "pmpi"):
        for name, several in by_generic.items():
            lines.append(f"  interface {prefix}_{name}")
            for function in several:
                lines += declaration(prefix, function)
            lines.append("  end interface")
        lines += BY_HAND.format(p=prefix, P=prefix.upper()).splitlines()
        for name, first, handle in DETACHED:
            lines += DETACH.format(p=prefix, name=name, list=first, handle=handle).splitlines()
    return lines


def module(header, small, pairs, special, sizes, wrap):
    """small: functions of mpif.h; pairs: its constants; special: its variables; sizes: those of MPI_SIZEOF; wrap: breaks long lines."""
    types, operators = types_and_operators()
    names, bodies = sizes
    lines = ["! SPDX-License-Identifier: Apache-2.0", "! For 'use mpi_f08': handles have types, buffers may be sections of arrays, and the error code may be left out.",
             "module mpi_f08", "  use, intrinsic :: iso_c_binding, only: c_ptr", "  implicit none", "  private :: c_ptr"]
    lines += types + constants(header, pairs, special) + callbacks()
    lines += interfaces(functions(header, small)) + names + ["contains"] + operators + bodies + ["end module mpi_f08"]
    return "\n".join(part for line in lines for part in wrap(line)) + "\n"
