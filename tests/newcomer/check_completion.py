#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Completion: words (what weft itself offers), or in a real shell. Usage: check_completion.py WEFT words|bash|zsh|fish"""
import os
import pathlib
import re
import sys
import tempfile

from common import Terminal, expect, run, skip

# The line as typed before the tabulator, and what the shell makes of it.
CASES = (
    ("weft tra", "weft traffic "),
    ("weft traffic --satu", "weft traffic --saturation "),
    ("weft probe --method pa", "weft probe --method paper "),
    ("weft probe --method=pa", "weft probe --method=paper "),
    ("weft sim --separate=de", "weft sim --separate=delta "),
    ("weft net --list ri", "weft net --list ring.toml "),
    ("weft traffic --net ri", "weft traffic --net ring.toml "),
    ("weft run -n 2 ring.t", "weft run -n 2 ring.toml "),
    ("weft run -n 2 prog --ri", "weft run -n 2 prog --ri"),
    ("weft help netw", "weft help network-file "),
    ("weft completion fi", "weft completion fish "),
    ("weft doctor --fo", "weft doctor --format "),
)


def environment(weft, folder):
    """weft and the system's programs, and nothing of whoever runs the test."""
    os.symlink(weft, folder / "weft")
    return {"PATH": f"{folder}:/usr/bin:/bin", "HOME": str(folder), "TERM": "dumb", "LC_ALL": "C.UTF-8",
            "ZDOTDIR": str(folder), "ASAN_OPTIONS": "detect_leaks=0"}


def check_bash(env, folder):
    words = ["bash", "--norc", "--noprofile", "-i"]
    with Terminal(words, {**env, "PS1": "ready> "}, folder) as shell:
        at = shell.wait_for("ready> ")
        shell.type("source <(weft completion bash); bind 'set bell-style none'\n")
        at = shell.wait_for("ready> ", shell.wait_for("none'", at))
        for line, completed in CASES:
            shell.type(line + "\t")
            # What is typed next comes behind what the completion has put there.
            shell.type("@")
            at = shell.wait_for(completed + "@", at)
            shell.type("\x15echo next\n")
            at = shell.wait_for("ready> ", shell.wait_for("\nnext", at))
        shell.type("weft \t\t")
        for command in ("net", "traffic", "sim", "doctor", "c++"):
            shell.wait_for(command, at)


def check_zsh(env, folder):
    with Terminal(["zsh", "-f", "-i"], {**env, "PS1": "ready> "}, folder) as shell:
        at = shell.wait_for("ready> ")
        shell.type("unsetopt zle_bracketed_paste PROMPT_SP; autoload -U compinit; compinit -u -D; "
                   "source <(weft completion zsh); bindkey '^U' kill-whole-line; echo set-up\n")
        at = shell.wait_for("ready> ", shell.wait_for("\nset-up", at))
        for line, completed in CASES:
            shell.type(line + "\t")
            shell.type("@")
            shell.wait_for("@", at)
            shell.type("\x15echo next\n")
            end = shell.wait_for("ready> ", shell.wait_for("\nnext", at))
            seen = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]|.\x08|\x07", "", shell.text[at:end])
            expect(completed + "@" in seen, f"zsh made of '{line}': {seen!r}, not {completed!r}")
            at = end


def check_fish(env, folder):
    script = run([folder / "weft", "completion", "fish"]).stdout
    (folder / "weft.fish").write_text(script)
    for line, completed in CASES:
        answer = run(["fish", "--no-config", "-c", f"source weft.fish; complete -C '{line}'"], env=env, cwd=folder).stdout
        offered = [text.partition("\t")[0] for text in answer.splitlines()]
        last = completed.split()[-1]
        if completed.endswith(" "):
            # The value alone, or with its option, as fish has it.
            expect(last in offered or last.partition("=")[2] in offered, f"fish offers for '{line}': {offered}")
        else:
            expect(last + " " not in offered, f"fish offers for '{line}': {offered}")


def check_words(weft):
    """Every command and option of the parsers can be had."""
    def offered(*words):
        lines = run([weft, "completion", "bash", "--words", *("=" + word for word in words)]).stdout.splitlines()
        expect(lines[0] == "words", f"{words}: {lines}")
        return [line.partition("\t")[0] for line in lines[1:]]

    listed = run([weft, "--help"]).stdout.partition("Commands:\n")[2]
    commands = re.findall(r"^  (\S+) ", listed, re.M)
    expect(len(commands) >= 12 and offered("weft", "") == commands, f"commands: {offered('weft', '')}, not {commands}")
    for command in commands:
        helped = re.findall(r"(?<![^\s,])(--[a-z][\w-]*)", run([weft, command, "--help"]).stdout.partition("Options:")[2])
        names = offered("weft", command, "--")
        expect("--help" in names, f"{command}: {names}")
        for name in names:
            expect(name in helped, f"weft {command} {name} is offered, but not in --help")
    expect("--agent" not in offered("weft", "run", "--"), "a hidden option is offered")
    expect(offered("weft", "nothing", "") == [], "offers for an unknown command")


def main():
    weft, what = sys.argv[1:]
    if what == "words":
        check_words(weft)
        return
    if reason := skip.without_programs(what):
        skip.leave(reason)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "ring.toml").write_text("")
        {"bash": check_bash, "zsh": check_zsh, "fish": check_fish}[what](environment(weft, folder), folder)
    print(f"{what}: {len(CASES)} lines completed")


if __name__ == "__main__":
    main()
