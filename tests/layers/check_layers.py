#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds every include in weft/<group>/<module> to the module's row of the layer table.

Usage: check_layers.py SOURCE_FOLDER ROWS_FILE

A row is "weft/group/module:used used ...", written when the build was configured. A module may include
itself and exactly what its row names. Neither modules nor groups may use each other in a circle of any
length. Tests (*_test.cpp, *_bench.cpp, test_*.hpp) may include everything.
"""
import pathlib
import re
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s*[<"](weft/[^">]+)/[^/">]*[">]')
ROOMS_MAX = 16  # Folders at the top of weft/, and the folder of the program: what one can remember.


class Table:
    """The rows as the build states them: by module name, with the folder of each."""

    def __init__(self, lines):
        self.uses = {}
        self.folder = {}
        for line in lines:
            if line.strip():
                folder, _, used = line.partition(":")
                module = folder.rsplit("/", 1)[-1]
                self.uses[module] = used.split()
                self.folder[module] = folder

    def group(self, module):
        """The folder below weft/; a module that stands there itself is a group of one."""
        return self.folder[module].split("/")[1]

    def module_of(self, folder):
        """The module that a folder belongs to: itself, or the one that it is a part of."""
        for module, home in self.folder.items():
            if folder == home or folder.startswith(home + "/"):
                return module
        return None

    def groups(self):
        """Which group uses which others."""
        uses = {}
        for module, used in self.uses.items():
            row = uses.setdefault(self.group(module), set())
            row.update(self.group(other) for other in used if other in self.folder)
        return {group: sorted(row - {group}) for group, row in uses.items()}


def find_circle(uses):
    """One circle of any length as a list that ends with its first name; None if there is none."""
    done, path = set(), []

    def visit(name):
        if name in path:
            return path[path.index(name):] + [name]
        if name in done:
            return None
        path.append(name)
        for other in uses.get(name, []):
            circle = visit(other)
            if circle:
                return circle
        path.pop()
        done.add(name)
        return None

    for start in uses:
        circle = visit(start)
        if circle:
            return circle
    return None


def check_table(table):
    """A row names only modules that exist; neither modules nor groups form a circle."""
    problems = []
    for module, used in table.uses.items():
        for other in used:
            if other not in table.uses:
                problems.append(f"module '{module}' uses '{other}', which is not a module")
    for kind, uses in (("modules", table.uses), ("groups", table.groups())):
        circle = find_circle(uses)
        if circle:
            problems.append(f"{kind} use each other in a circle: {' -> '.join(circle)}")
    rooms = {table.group(module) for module in table.uses} | {"app"}
    if len(rooms) > ROOMS_MAX:
        problems.append(f"{len(rooms)} rooms at the top level; at most {ROOMS_MAX}: {' '.join(sorted(rooms))}")
    return problems


def is_test(path):
    return path.name.endswith(("_test.cpp", "_bench.cpp")) or path.name.startswith("test_")


def check_includes(source, table):
    problems = []
    for build in sorted((source / "weft").rglob("CMakeLists.txt")):
        folder = build.parent.relative_to(source).as_posix()
        if table.module_of(folder) is None:
            problems.append(f"{folder}: no weft_module() states its row")
    for path in sorted((source / "weft").rglob("*")):
        module = table.module_of(path.parent.relative_to(source).as_posix())
        if path.suffix not in (".cpp", ".hpp", ".h", ".c") or is_test(path):
            continue
        if module is None:
            problems.append(f"{path.relative_to(source)}: stands in no module")
            continue
        allowed = [module] + table.uses[module]
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            found = INCLUDE.match(line)
            if not found:
                continue
            used = table.module_of(found.group(1))
            if used not in allowed:
                problems.append(f"{path.relative_to(source)}:{number}: includes '{used or found.group(1)}', but "
                                f"module '{module}' may include only: {' '.join(allowed)}")
    return problems


def check_page(text, table):
    """The table that people read says what the build says."""
    page = {}
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if len(cells) == 3 and re.fullmatch(r"`[a-z_/]+`", cells[0]):
            used = re.fullmatch(r"`([a-z_ ]+)`", cells[1])
            page["weft/" + cells[0].strip("`")] = used.group(1).split() if used else []
    rows = {table.folder[module]: used for module, used in table.uses.items()}
    problems = []
    for folder in sorted(rows.keys() | page.keys()):
        if folder not in rows:
            problems.append(f"docs/architecture.md: '{folder}' is not a module")
        elif folder not in page:
            problems.append(f"docs/architecture.md: the layer table lacks '{folder}' (uses: {' '.join(rows[folder])})")
        elif sorted(page[folder]) != sorted(rows[folder]):
            problems.append(f"docs/architecture.md: '{folder}' uses {' '.join(rows[folder])}, not {' '.join(page[folder])}")
    return problems


def main(arguments):
    source, rows_file = map(pathlib.Path, arguments)
    table = Table(rows_file.read_text(encoding="utf-8").splitlines())
    page = (source / "docs/architecture.md").read_text(encoding="utf-8")
    problems = check_table(table) + check_includes(source, table) + check_page(page, table)
    if not table.uses:
        problems.append("no module stated a row: was the build configured?")
    for problem in problems:
        print(problem)
    if not problems:
        print(f"{len(table.uses)} modules in {len(table.groups())} groups keep to their rows")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
