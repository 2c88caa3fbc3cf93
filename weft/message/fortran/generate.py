#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the Fortran side of the MPI library from mpi.h.

generate.py --list MPI_H        prints the names of the C files, for the build system
generate.py MPI_H HERE FOLDER   writes mpif.h, mpi.F90, mpi_f08.F90 and the C files into FOLDER
"""
import pathlib
import string
import sys

import f08
import prototypes

MARK = "SPDX-License-Identifier: Apache-2.0"
ATTRIBUTES = [
    {"what": "communicators", "Handle": "Comm", "handle": "comm", "integer": "MPI_Aint",
     "create": "comm_create_keyval", "put": "comm_set_attr", "get": "comm_get_attr",
     "prefix": "comm_"},
    {"what": "datatypes", "Handle": "Datatype", "handle": "datatype", "integer": "MPI_Aint",
     "create": "type_create_keyval", "put": "type_set_attr", "get": "type_get_attr",
     "prefix": "type_"},
    {"what": "windows", "Handle": "Win", "handle": "win", "integer": "MPI_Aint",
     "create": "win_create_keyval", "put": "win_set_attr", "get": "win_get_attr",
     "prefix": "win_"},
    {"what": "communicators by their older names", "Handle": "Comm", "handle": "comm",
     "integer": "int", "create": "keyval_create", "put": "attr_put", "get": "attr_get",
     "prefix": ""},
]
# The older name, for which MPI_Comm_create_errhandler must be spelled out in C.
OLD_ERRHANDLER = """
void mpi_errhandler_create_(Handler *handler, int *errhandler, int *ierror)
    __attribute__((weak, alias("pmpi_comm_create_errhandler_")));
void pmpi_errhandler_create_(Handler *handler, int *errhandler, int *ierror)
    __attribute__((alias("pmpi_comm_create_errhandler_")));"""
# The same memory as TYPE(C_PTR): under another name, because a generic procedure needs two.
WITH_POINTER = {"alloc_mem", "win_allocate", "win_allocate_shared", "win_shared_query"}
HANDLERS = [{"what": "communicators", "Handle": "Comm", "handle": "comm", "more": OLD_ERRHANDLER},
            {"what": "windows", "Handle": "Win", "handle": "win", "more": ""},
            {"what": "sessions", "Handle": "Session", "handle": "session", "more": ""},
            {"what": "files", "Handle": "File", "handle": "file", "more": ""}]


def slots(count):
    return {"slots": count,
            "definitions": "\n".join(f"SLOT({i})" for i in range(count)),
            "table": "\n".join(f"    call_{i}," for i in range(count))}


class Wrapper:
    """The C code of one function."""

    def __init__(self, function):
        self.function = function
        self.parameters, self.lengths = [], []
        self.before, self.call, self.after = [], [], []
        for argument in function.arguments:
            self.add(argument)

    def add(self, a):
        parameter = {"char": "char *", "void": "void *", "MPI_Aint": "MPI_Aint *",
                     "MPI_Count": "MPI_Count *", "MPI_Offset": "MPI_Offset *"}.get(a.type, "int *") + a.name
        self.parameters.append("const " + parameter if a.const and a.type != "void" else parameter)
        if a.type == "void":
            self.call.append(f"buffer_of({a.name})")
        elif a.type == "MPI_Status":
            self.call.append(f"(const MPI_Status *){a.name}" if a.const else f"status_of({a.name})")
        elif a.text:
            self.add_text(a)
        elif a.handle and a.array:
            self.add_handles(a)
        elif a.handle and a.pointer:
            self.add_handle(a)
        elif a.handle:
            self.call.append(f"{a.handle}_of(*{a.name})")
        elif a.name in prototypes.WEIGHTS:
            self.parameters[-1] = parameter
            self.call.append(f"weights_of({a.name})")
        else:
            self.add_number(a)

    def add_number(self, a):
        value = a.name if a.pointer else f"*{a.name}"
        if a.triples:
            value = f"(int(*)[3]){a.name}"
        if a.logical and not a.pointer:
            value += " != 0"
        self.call.append(value)
        if a.logical and a.pointer and not a.array:
            self.after.append(f"if (*ierror == MPI_SUCCESS) *{a.name} = *{a.name} != 0;")
        if a.name == "indx" and not a.array:  # Told also when the request it names has failed.
            self.before.append("*indx = MPI_UNDEFINED;")
            self.after.append("*indx = index_of(*indx);")
        if a.name == "array_of_indices":
            self.before.append("*outcount = MPI_UNDEFINED;")
            self.after.append("for (int i = 0; i < *outcount; ++i) ++array_of_indices[i];")

    def add_handle(self, a):
        start = f"{a.handle}_of(*{a.name})" if a.changed else f"MPI_{a.handle.upper()}_NULL"
        self.before.append(f"{a.type} c_{a.name} = {start};")
        self.call.append(f"&c_{a.name}")
        condition = "" if a.changed else "if (*ierror == MPI_SUCCESS) "
        self.after.append(f"{condition}*{a.name} = {a.handle}_number(c_{a.name});")

    def count_of(self, a):
        names = {argument.name for argument in self.function.arguments}
        if "count" in names:
            return "(int)*count"
        if "incount" in names:
            return "*incount"
        neighbours = "neighbor" in self.function.name
        if a.name == "recvtypes":
            return f"weft_fortran_{'sources' if neighbours else 'peers'}(comm_of(*comm))"
        number = f"weft_fortran_{'destinations' if neighbours else 'peers'}(comm_of(*comm))"
        return f"buffer_of(sendbuf) == MPI_IN_PLACE ? 0 : {number}"

    def add_handles(self, a):
        count = f"{a.name}_count"
        self.before += [
            f"const int {count} = {self.count_of(a)};",
            f"{a.type} few_{a.name}[few_handles] = {{0}};",
            f"{a.type} *c_{a.name} = room_for({count}, few_{a.name});",
            f"for (int i = 0; i < {count}; ++i) c_{a.name}[i] = {a.handle}_of({a.name}[i]);"]
        self.call.append(f"c_{a.name}")
        if not a.const:
            self.after.append(f"for (int i = 0; i < {count}; ++i) "
                              f"{a.name}[i] = {a.handle}_number(c_{a.name}[i]);")
        self.after.append(f"leave_room(c_{a.name}, few_{a.name});")

    def add_text(self, a):
        length = f"{a.name}_length"
        self.lengths.append(f"size_t {length}")
        self.call.append(f"c_{a.name}")
        if a.const:
            strip = int(self.function.name.startswith("info_"))
            self.before.append(f"char *c_{a.name} = text_of({a.name}, {length}, {strip});")
            self.after.append(f"free(c_{a.name});")
            return
        size = prototypes.TEXT_SIZES.get(a.name, "MPI_MAX_OBJECT_NAME")
        self.before.append(f"char c_{a.name}[{size}];")
        self.after.append("if (*ierror == MPI_SUCCESS) "
                          f"give_text({a.name}, {length}, c_{a.name});")
        if any(argument.name == "resultlen" for argument in self.function.arguments):
            self.after.append(f"if (*ierror == MPI_SUCCESS && *resultlen > (int){length}) "
                              f"*resultlen = (int){length};")

    def text(self):
        name = self.function.name
        parameters = ", ".join(self.parameters + ["int *ierror"] + self.lengths)
        call = f"*ierror = PMPI_{self.function.c_name}({', '.join(self.call)});"
        lines = [f"/* {MARK} */", '#include "fortran.h"', "", f"WRAPPER({name}, ({parameters})) {{"]
        lines += ["  " + line for line in self.before + [call] + self.after] + ["}"]
        for prefix in ("mpi", "pmpi") if name in WITH_POINTER else ():
            lines += [f"void {prefix}_{name}_cptr_({parameters})",
                      f'    __attribute__((weak, alias("pmpi_{name}_")));']
        return "\n".join(lines) + "\n"


def c_files(header, here):
    small = prototypes.functions(header)
    files = {f"f_{function.name}.c": Wrapper(function).text for function in small + prototypes.large(header)}
    files |= f08.c_files(header, small)

    def from_template(name, values):
        return lambda: string.Template((here / name).read_text()).substitute(values)

    for row in ATTRIBUTES:
        values = dict(row)
        for word in ("create", "put", "get"):
            values[word.capitalize()] = row[word].capitalize()
        files[f"attributes_{row['prefix'] or 'old_'}.c".replace("_.c", ".c")] = from_template(
            "attributes.c.in", values)
    for row in HANDLERS:
        files[f"errhandler_{row['handle']}.c"] = from_template("errhandler.c.in",
                                                               {**row, **slots(32)})
    for large, length in (("", "int"), ("_c", "MPI_Count")):
        files[f"op{large}.c"] = from_template("op.c.in", {"large": large, "length": length, **slots(64)})
    return files


# Fortran

SPECIAL = [  # Variables whose addresses have a meaning, each a COMMON block of its own.
    ("MPI_BOTTOM", "integer", ""), ("MPI_IN_PLACE", "integer", ""),
    ("MPI_BUFFER_AUTOMATIC", "integer", ""),
    ("MPI_STATUS_IGNORE", "integer", "(MPI_STATUS_SIZE)"),
    ("MPI_STATUSES_IGNORE", "integer", "(MPI_STATUS_SIZE,1)"),
    ("MPI_UNWEIGHTED", "integer", "(1)"), ("MPI_WEIGHTS_EMPTY", "integer", "(1)"),
    ("MPI_ERRCODES_IGNORE", "integer", "(1)"),
    ("MPI_ARGV_NULL", "character*1", "(1)"), ("MPI_ARGVS_NULL", "character*1", "(1,1)"),
]
OWN = [("MPI_STATUS_SIZE", 8), ("MPI_SOURCE", 1), ("MPI_TAG", 2), ("MPI_ERROR", 3),
       ("MPI_ADDRESS_KIND", 8), ("MPI_OFFSET_KIND", 8), ("MPI_COUNT_KIND", 8),
       ("MPI_INTEGER_KIND", 4)]
COPY_FUNCTIONS = [f"MPI_{prefix}{function}" for prefix in ("COMM_", "TYPE_", "WIN_", "")
                  for function in ("NULL_COPY_FN", "DUP_FN", "NULL_DELETE_FN")]


def declarations(header):
    """Lines that are valid in fixed and in free form."""
    lines = []
    for name, value in OWN + prototypes.constants(header):
        lines += [f"integer {name}", f"parameter ({name}={value})"]
    for name in ("MPI_SUBARRAYS_SUPPORTED", "MPI_ASYNC_PROTECTS_NONBLOCKING"):
        lines += [f"logical {name}", f"parameter ({name}=.false.)"]
    lines += ["integer(kind=MPI_OFFSET_KIND) MPI_DISPLACEMENT_CURRENT",
              "parameter (MPI_DISPLACEMENT_CURRENT=-1)"]
    for name, kind, shape in SPECIAL:
        lines += [f"{kind} {name}{shape}",
                  f"common /mpi_fortran_{name[4:].lower()}/ {name}"]
    return lines + [f"external {name}" for name in COPY_FUNCTIONS]


def mpif(header):
    comment = ["! " + MARK, "! Constants of MPI for programs in fixed and in free form."]
    lines = declarations(header)
    for function, kind in (("WTIME", "real(kind=8)"), ("WTICK", "real(kind=8)"),
                           ("AINT_ADD", "integer(kind=MPI_ADDRESS_KIND)"),
                           ("AINT_DIFF", "integer(kind=MPI_ADDRESS_KIND)")):
        for prefix in ("MPI", "PMPI"):
            name = f"{prefix}_{function}"
            lines += [f"{kind} {name}", f"external {name}"]
    too_long = [line for line in lines if len(line) > 66]
    if too_long:
        raise ValueError(f"too long for fixed form: {too_long[0]}")
    return "\n".join(comment + ["      " + line for line in lines]) + "\n"


TYPES = {"i": "integer", "a": "integer(kind=MPI_ADDRESS_KIND)",
         "n": "integer(kind=MPI_COUNT_KIND)", "o": "integer(kind=MPI_OFFSET_KIND)", "l": "logical", "s": "character(len=*)",
         "d": "double precision", "c": "type(c_ptr)"}


def signature(function):
    """Pairs of name and type as in BY_HAND, with ' in' for what is only read."""
    pairs = []
    for a in function.arguments:
        kind = {"void": "b", "char": "s", "MPI_Aint": "a", "MPI_Count": "n", "MPI_Offset": "o",
                "MPI_Status": "t"}.get(a.type, "l" if a.logical else "i")
        if a.name == "baseptr":
            kind = "a"
        if a.name == "array_of_statuses":
            kind = "ts"
        if a.triples:
            kind += "3"
        elif a.array or a.name in prototypes.WEIGHTS:
            kind += "*"
        if prototypes.IN_PLACE.fullmatch(function.c_name) and a.name in prototypes.IGNORED:
            kind = "b"
        reads = a.const if a.pointer else True
        pairs.append((a.spelled, kind + (" in" if reads and kind != "b" else "")))
    return pairs


def declare(name, kind):
    kind, _, reads = kind.partition(" ")
    if kind == "p":
        return [f"external :: {name}"]
    if kind == "b":  # Anything, passed by its address.
        return [f"!GCC$ ATTRIBUTES NO_ARG_CHECK :: {name}", f"type(*), dimension(*) :: {name}"]
    intent = ", intent(in)" if reads else ""
    if kind.startswith("t"):
        shape = "MPI_STATUS_SIZE, *" if kind == "ts" else "MPI_STATUS_SIZE"
        return [f"integer, dimension({shape}){intent} :: {name}"]
    shape = {"*": ", dimension(*)", "2": ", dimension(count, *)", "3": ", dimension(3, *)"}.get(kind[1:], "")
    return [f"{TYPES[kind[0]]}{shape}{intent} :: {name}"]


def wrap(line):
    """Free form, at most 100 columns."""
    if len(line) <= 100 or line.lstrip().startswith("!"):
        return [line]
    at = line.rindex(",", 0, 98) + 1
    return [line[:at] + " &"] + wrap("          " + line[at:].lstrip())


def interface(name, pairs, result=None):
    if not result:
        pairs = pairs + [("ierror", "i")]
    word = "function" if result else "subroutine"
    lines = [f"    {word} {name}({', '.join(pair[0] for pair in pairs)})",
             "      import", "      implicit none"]
    if result:
        lines.append(f"      {TYPES[result]} :: {name}")
    for pair in pairs:
        lines += ["      " + line for line in declare(*pair)]
    return lines + [f"    end {word} {name}"]


def interfaces(functions):
    lines = []
    for function in functions:
        pairs = signature(function)
        name = f"mpi_{function.name}"
        if function.name in WITH_POINTER:
            other = [(n, "c" if n == "baseptr" else kind) for n, kind in pairs]
            lines += [f"  interface {name}", *interface(name, pairs),
                      *interface(name + "_cptr", other), "  end interface"]
        else:
            lines += ["  interface", *interface(name, pairs), "  end interface"]
    for name, arguments in prototypes.BY_HAND.items():
        words = arguments.split()
        result = words.pop(0)[1:] if words and words[0].startswith("=") else None
        pairs = [tuple(word.split(":")) for word in words]
        for prefix in ("mpi", "pmpi") if result else ("mpi",):
            lines += ["  interface", *interface(f"{prefix}_{name}", pairs, result),
                      "  end interface"]
    lines += ["  interface", "    subroutine mpi_pcontrol(level)", "      integer, intent(in) :: level",
              "    end subroutine mpi_pcontrol", "  end interface"]
    lines += ["  interface", "    subroutine mpi_f_sync_reg(buf)", *("      " + line for line in declare("buf", "b")),
              "    end subroutine mpi_f_sync_reg", "  end interface"]
    return [part for line in lines for part in wrap(line)]


def sizes(optional=False):
    """MPI_SIZEOF, for each type and kind that the compiler has. optional: the error code may be missing."""
    kinds = [(f"{word}({kind})", f"{word}{kind}", macro and f"__GFC_{macro}_{kind}__")
             for word, macro, all_kinds in (("integer", "INT", (1, 2, 4, 8, 16)),
                                            ("logical", "", (1, 2, 4, 8)),
                                            ("real", "REAL", (4, 8, 10, 16)),
                                            ("complex", "REAL", (4, 8, 10, 16)))
             for kind in all_kinds]
    kinds.append(("character(len=*)", "character", ""))
    names, bodies = ["  interface mpi_sizeof"], []
    for kind, name, macro in kinds:
        always = not macro or macro.endswith(("_1__", "_2__", "_4__", "_8__"))
        guard, end = ([], []) if always else ([f"#ifdef {macro}"], ["#endif"])
        names += guard + [f"    module procedure mpi_sizeof_{name}"] + end
        size = "1" if name == "character" else "storage_size(x) / 8"
        bodies += guard + [f"  subroutine mpi_sizeof_{name}(x, size, ierror)",
                           f"    {kind}, dimension(..), intent(in) :: x",
                           "    integer, intent(out) :: size", f"    integer, {'optional, ' if optional else ''}intent(out) :: ierror",
                           f"    size = {size}", f"    {'if (present(ierror)) ' if optional else ''}ierror = MPI_SUCCESS", f"  end subroutine mpi_sizeof_{name}"] + end
    return names + ["  end interface"], bodies


def module(header, functions):
    names, bodies = sizes()
    lines = ["! " + MARK, "! For 'use mpi'. Buffers may have any type and shape; all else is checked.",
             "module mpi", "  use, intrinsic :: iso_c_binding, only: c_ptr", "  implicit none",
             "  private :: c_ptr"]
    lines += ["  " + line for line in declarations(header)]
    lines += interfaces(functions) + names + ["contains"] + bodies + ["end module mpi"]
    return "\n".join(lines) + "\n"


def main(arguments):
    only_list = arguments[0] == "--list"
    header = pathlib.Path(arguments[1 if only_list else 0]).read_text()
    functions = prototypes.functions(header)
    if only_list:
        print(";".join(c_files(header, pathlib.Path())))
        return
    here, folder = pathlib.Path(arguments[1]), pathlib.Path(arguments[2])
    folder.mkdir(parents=True, exist_ok=True)
    made = {name: text() for name, text in c_files(header, here).items()}
    made["mpif.h"] = mpif(header)
    made["mpi.F90"] = module(header, functions)
    made["mpi_f08.F90"] = f08.module(header, functions, OWN + prototypes.constants(header), SPECIAL, sizes(optional=True), wrap)
    for name, text in made.items():  # What is the same stays, so that it is not compiled again.
        if not (folder / name).exists() or (folder / name).read_text() != text:
            (folder / name).write_text(text)


if __name__ == "__main__":
    main(sys.argv[1:])
