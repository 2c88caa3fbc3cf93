# SPDX-License-Identifier: Apache-2.0
"""The files of the tree, without build folders."""
import os
import pathlib

CODE = (".cpp", ".hpp", ".c", ".h")


def all_files(source):
    for folder, folders, names in os.walk(source):
        if pathlib.Path(folder) == source:
            folders[:] = [f for f in folders if f != "build" and not f.startswith("build-")]
        folders[:] = sorted(f for f in folders if f not in (".git", "__pycache__"))
        for name in sorted(names):
            yield pathlib.Path(folder, name)


def code_files(source):
    return [path for path in all_files(source) if path.suffix in CODE]
