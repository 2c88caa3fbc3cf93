#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds every include in weft/<module> to the module's row of the layer table.

Usage: check_layers.py SOURCE_FOLDER ROWS_FILE

A row is "module:used used ...", written when the build was configured. A module may include itself
and exactly what its row names. Tests (*_test.cpp, *_bench.cpp, test_*.hpp) may include all.
"""
import pathlib
import re
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]weft/([^/">]+)/[^">]*[">]')


def read_rows(path):
    rows = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line.strip():
            continue
        module, _, used = line.partition(":")
        rows[module] = [module] + used.split()
    return rows


def is_test(path):
    return path.name.endswith(("_test.cpp", "_bench.cpp")) or path.name.startswith("test_")


def check_table(rows):
    """A row names only modules that exist, and no circle is possible."""
    problems = []
    for module, allowed in rows.items():
        for used in allowed[1:]:
            if used not in rows:
                problems.append(f"module '{module}' uses '{used}', which is no module")
            elif module in rows[used][1:]:
                problems.append(f"modules '{module}' and '{used}' use each other")
    return problems


def check_includes(source, rows):
    problems = []
    for folder in sorted(path for path in (source / "weft").iterdir() if path.is_dir()):
        files = sorted(p for p in folder.rglob("*") if p.suffix in (".cpp", ".hpp", ".h", ".c"))
        # A module that is being written has headers before it has a build file.
        if folder.name not in rows:
            if (folder / "CMakeLists.txt").exists():
                problems.append(f"weft/{folder.name}: no weft_module() states its row")
            continue
        allowed = rows[folder.name]
        for path in files:
            if is_test(path):
                continue
            text = path.read_text(encoding="utf-8")
            for number, line in enumerate(text.splitlines(), start=1):
                found = INCLUDE.match(line)
                if found and found.group(1) not in allowed:
                    place = f"{path.relative_to(source)}:{number}"
                    problems.append(
                        f"{place}: includes '{found.group(1)}', but "
                        f"module '{folder.name}' may include only: {' '.join(allowed)}")
    return problems


def check_page(text, rows):
    """The table that people read says what the build says."""
    page = {}
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if len(cells) == 3 and re.fullmatch(r"`[a-z]+`", cells[0]):
            used = re.fullmatch(r"`([a-z ]+)`", cells[1])
            page[cells[0].strip("`")] = used.group(1).split() if used else []
    problems = []
    for module in sorted(rows.keys() | page.keys()):
        stated = rows.get(module, [module])[1:]
        if module not in rows:
            problems.append(f"docs/architecture.md: '{module}' is no module")
        elif module not in page:
            problems.append(f"docs/architecture.md: the layer table lacks '{module}' "
                            f"(uses: {' '.join(stated)})")
        elif sorted(page[module]) != sorted(stated):
            problems.append(f"docs/architecture.md: '{module}' uses {' '.join(stated)}, "
                            f"not {' '.join(page[module])}")
    return problems


def main(arguments):
    source, rows_file = map(pathlib.Path, arguments)
    rows = read_rows(rows_file)
    page = (source / "docs/architecture.md").read_text(encoding="utf-8")
    problems = check_table(rows) + check_includes(source, rows) + check_page(page, rows)
    for problem in problems:
        print(problem)
    if not rows:
        problems.append("no rows")
        print("no module stated a row: was the build configured?")
    if not problems:
        print(f"{len(rows)} modules keep to their rows")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
