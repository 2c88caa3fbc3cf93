#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""weft help and the manual pages. Usage: check_help.py WEFT SOURCE_FOLDER MAN_FOLDER topics|man|mandoc"""
import os
import pathlib
import re
import sys

from common import Terminal, expect, run, skip


def check_topics(weft, source):
    names = run([weft, "help", "--list"]).stdout.split()
    listing = run([weft, "help"]).stdout
    expect(len(names) == len(set(names)), f"a topic twice: {names}")
    for name in names:
        expect(f"\n  {name} " in listing, f"{name} is not listed")
        text = run([weft, "help", name]).stdout
        expect(len(text) > 100 and "\x1b" not in text, f"{name}: {text}")
    for page in (source / "docs").rglob("*.md"):
        if page.stem != "README":
            folder = page.parent.name
            expect(page.stem in names and f"{folder}/{page.stem}" not in names or f"{folder}/{page.stem}" in names,
                   f"no topic for {page}")
    expect(run([weft, "help", "net"]).stdout == run([weft, "net", "--help"]).stdout, "a command's help")
    expect("More: weft help reference/sim" in run([weft, "help", "sim"]).stdout, "from a command to its page")
    page = run([weft, "help", "network-file"]).stdout
    expect(run([weft, "help", "reference/network-file"]).stdout == page, "a text with its folder")
    expect(all(line == line.rstrip() for line in page.splitlines()), "blanks at ends of lines")
    expect(page.startswith("Network") and "[link]" in page and "| ---" not in page and "](" not in page, page)
    expect(max(map(len, page.splitlines())) <= 130, "long lines")


def check_words(weft, source):
    """Words that people type lead to topics that are there, and no topic is hidden by a word."""
    names = run([weft, "help", "--list"]).stdout.split()
    table = re.findall(r'^    {"([^"]+)",[^"]+"[^"]+",\s+"([^"]+)"}', (source / "app/help_words.cpp").read_text(), re.M)
    words = [word for entry in table for word in entry[0].split(",")]
    expect({"topology", "cost", "python", "slurm", "placement", "failure", "numa"} <= set(words), f"words: {words}")
    for entry in table:
        for word in entry[0].split(","):
            expect(word not in names, f"{word} is a topic of its own")
            text = run([weft, "help", word]).stdout
            expect(text.startswith(f"{word}: "), text)
            led = re.findall(r"^  weft help (\S+)  *\S", text, re.M)
            expect(led == entry[1].split(",") and set(led) <= set(names), f"weft help {word} leads to {led}")


def check_unknown(weft):
    said = run([weft, "help", "netwrk-file"], code=2).stderr
    expect("no topic 'netwrk-file'; did you mean 'network-file'?" in said, said)
    said = run([weft, "help", "topologgy"], code=2).stderr
    expect("no topic 'topologgy'; did you mean 'topology'?" in said, said)
    said = run([weft, "help", "rendezvous"], code=2).stderr
    expect("no topic 'rendezvous'; texts that have the word: " in said and "reference/sim" in said, said)
    expect("'weft help' lists all" in run([weft, "help", "xyzzyx"], code=2).stderr, "far from everything")


def check_pager(weft):
    """Only on a terminal, the user's own, and with bold headings."""
    env = {**os.environ, "PAGER": "sed s/^/paged:/", "TERM": "xterm"}
    with Terminal([weft, "help", "network-file"], env) as terminal:
        terminal.wait_for("paged:\x1b[1m")
    with Terminal([weft, "help", "network-file"], {**env, "PAGER": "/nonexistent/pager"}) as terminal:
        terminal.wait_for("[link]")
    expect("paged:" not in run([weft, "help", "network-file"], env=env).stdout, "a pager without a terminal")


def check_manual(weft, folder):
    commands = re.findall(r"^  (\S+) ", run([weft, "--help"]).stdout.partition("Commands:\n")[2], re.M)
    pages = {page.name for page in folder.iterdir()}
    expect(pages == {"weft.1"} | {f"weft-{command}.1" for command in commands}, f"{pages}")
    expect(".B weft\n[OPTIONS] COMMAND\n" in (folder / "weft.1").read_text(), "how to call weft")
    for command in commands:
        text = (folder / f"weft-{command}.1").read_text().replace("\\-", "-")
        shown = run([weft, command, "--help"]).stdout.partition("Options:")[2]
        options = re.findall(r"^  (?:-\w,)?(--[a-z][\w-]*)", shown, re.M)
        expect(options, f"weft {command} --help shows no option")
        for option in options:
            expect(f"\\fB{option}\\fR" in text, f"weft-{command}.1 has no {option}")


def check_pages(folder, tool):
    """The program that shows manual pages has nothing to complain of."""
    if reason := skip.without_programs(tool):
        skip.leave(reason)
    pages = sorted(folder.iterdir())
    expect(pages, f"no pages in {folder}")
    for page in pages:
        if tool == "man":
            env = {**os.environ, "MANWIDTH": "80", "LC_ALL": "C.UTF-8", "MANROFFSEQ": ""}
            done = run(["man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z", str(page)], env=env)
            expect(done.stderr == "", f"{page.name}: {done.stderr}")
        else:
            done = run(["mandoc", "-T", "lint", "-W", "warning", str(page)], code=None)
            expect(done.returncode == 0, f"{page.name}: {done.stdout}")


def main():
    weft, source, manual, what = sys.argv[1:]
    if what != "topics":
        check_pages(pathlib.Path(manual), what)
        return
    check_topics(weft, pathlib.Path(source))
    check_words(weft, pathlib.Path(source))
    check_unknown(weft)
    check_pager(weft)
    check_manual(weft, pathlib.Path(manual))
    print("help: as it should be")


if __name__ == "__main__":
    main()
