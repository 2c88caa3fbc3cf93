#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the commands of a golden file and compares what they print.

A file is a list of blocks: a line "$ weft ARGS", then exactly what the command prints (standard output, then
standard error), then "[exit N]" unless N is 0. Lines that begin with "#" before the first command are comments:
say there what is expected by hand. With --bless the file is rewritten; read the difference before you commit it.
"""
import difflib
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile


def blocks(text):
    head, commands = [], []
    for line in text.splitlines():
        if line.startswith("$ "):
            commands.append(line[2:])
        elif not commands:
            head.append(line)
    return head, commands


def run(program, folder, command, scratch):
    words = shlex.split(command)
    if words[0] == "cat":
        path = pathlib.Path(scratch, words[1])
        return path.read_text() if path.exists() else f"{words[1]}: not there\n"
    if words[0] != "weft":
        sys.exit(f"golden: only weft and cat are run, not '{words[0]}'")
    environment = {key: value for key, value in os.environ.items() if not key.startswith("LC_")}
    done = subprocess.run([program] + words[1:], cwd=scratch, env=environment, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=240)
    text = done.stdout + done.stderr
    if text and not text.endswith("\n"):
        text += "\n"
    return text + (f"[exit {done.returncode}]\n" if done.returncode else "")


def main():
    bless = "--bless" in sys.argv
    program, *files = [a for a in sys.argv[1:] if a != "--bless"]
    failed = False
    for name in files:
        path = pathlib.Path(name).resolve()
        wanted = path.read_text()
        head, commands = blocks(wanted)
        if not commands:
            sys.exit(f"golden: {path} has no command")
        with tempfile.TemporaryDirectory() as scratch:
            # Inputs lie beside the golden file, in a folder of its name; outputs fall into the scratch folder.
            # A comment "# inputs: FOLDER ..." names further folders.
            folders = [path.with_suffix("")]
            for line in head:
                if line.startswith("# inputs: "):
                    folders += [path.parent / word for word in line.split()[2:]]
            for inputs in folders:
                for item in inputs.iterdir() if inputs.is_dir() else []:
                    if item.is_file():
                        pathlib.Path(scratch, item.name).write_bytes(item.read_bytes())
            got = "".join(line + "\n" for line in head)
            for command in commands:
                got += f"$ {command}\n" + run(str(pathlib.Path(program).resolve()), path.parent, command, scratch)
        if got == wanted:
            continue
        if bless:
            path.write_text(got)
            print(f"blessed {path.name}")
            continue
        failed = True
        sys.stdout.writelines(difflib.unified_diff(wanted.splitlines(True), got.splitlines(True), path.name, "now"))
    sys.exit(1 if failed else 0)


main()
