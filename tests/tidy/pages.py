# SPDX-License-Identifier: Apache-2.0
"""Pages that show the way through the tree say what the tree has: rule `map` of check_tidy.py.

docs/finding-your-way.md: every path exists, and the group that a reader is told to think of is the group of the path.
docs/architecture.md: the tables of groups and folders name what is there, all of it and nothing else.
"""
import pathlib
import re

WAY = pathlib.Path("docs/finding-your-way.md")
ARCHITECTURE = pathlib.Path("docs/architecture.md")
LISTED = ("tests", "scripts")  # Folders whose row names everything in them.
CODE = re.compile(r"`([^`]+)`")


def rows(text):
    """(line number, cells) of every row of a table, without its head."""
    for number, line in enumerate(text.split("\n"), start=1):
        if line.startswith("|") and not re.match(r"\|\s*(---|question|group|folder|module)", line):
            yield number, [cell.strip() for cell in line.strip().strip("|").split("|")]


def check_way(source, text):
    for number, cells in rows(text):
        if len(cells) != 3:
            continue
        home = None
        for word in CODE.findall(cells[2]):
            path = word.split()[0]
            # A file that is named alone stands beside the first one.
            there = source / path if "/" in path or home is None else home / path
            if not there.exists():
                yield number, "map", f"'{path}' does not exist"
            elif home is None:
                home = there if there.is_dir() else there.parent
        if home is None:
            yield number, "map", "the last column names no file or folder that exists"
            continue
        parts = home.relative_to(source).parts
        if parts[0] == "weft" and not re.search(rf"\b{parts[1]}\b", cells[1]):
            yield number, "map", f"'{cells[1]}' does not lead to the group '{parts[1]}'"


def differences(number, what, named, present):
    for name in sorted(present - named):
        yield number, "map", f"{what}: '{name}' is missing"
    for name in sorted(named - present):
        yield number, "map", f"{what}: '{name}' does not exist"


def folders_of(source, paths, where):
    """Names directly below a folder that hold, or are, files of the tree."""
    depth = len(where.parts)
    inside = [path for path in paths if path.parts[:depth] == where.parts]
    return {path.parts[depth] for path in inside if len(path.parts) > depth + 1}, {path.parts[depth] for path in inside if len(path.parts) == depth + 1}


def check_architecture(source, paths, text):
    groups, folders, first = set(), set(), {"group": 1, "folder": 1}
    for number, cells in rows(text):
        name = CODE.fullmatch(cells[0])
        if len(cells) != 2 or not name:
            continue
        name = name.group(1)
        if not name.endswith("/"):
            groups.add(name)
            first["group"] = number
            continue
        folders.add(name.rstrip("/"))
        first["folder"] = number
        if name.rstrip("/") in LISTED:
            below, files = folders_of(source, paths, pathlib.Path(name))
            present = below if name == "tests/" else files
            yield from differences(number, f"the row of {name}", set(CODE.findall(cells[1])), present)
    yield from differences(first["group"], "the table of groups", groups, folders_of(source, paths, pathlib.Path("weft"))[0])
    top = {name for name in folders_of(source, paths, pathlib.Path())[0] if not name.startswith(".")}
    yield from differences(first["folder"], "the table of folders", folders, top)


def findings(source, paths):
    """(path, line, rule, message) of both pages, where the tree has them."""
    for page, check in ((WAY, lambda text: check_way(source, text)), (ARCHITECTURE, lambda text: check_architecture(source, paths, text))):
        if (source / page).exists():
            for number, rule, message in check((source / page).read_text(encoding="utf-8")):
                yield page, number, rule, message
