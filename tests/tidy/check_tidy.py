#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The style's rules that a script can check. Usage: check_tidy.py SOURCE_FOLDER

Prints "file:line: [rule] message" for each finding. Exceptions stand in allow.txt, with a reason.
"""
import pathlib
import re
import sys

import classes
import pages
import sources

LINES_MAX = 800
COLUMNS_MAX = 100
SPDX = "SPDX-License-Identifier: Apache-2.0"
TEXT = sources.CODE + (".md", ".py", ".txt", ".cmake", ".toml", ".json", ".yml", ".in", "")

# Rule, what is looked for, why, and the places (first folders) where it is allowed.
OUTSIDE = ("wire", "app", "bench", "tests")
BANS = (
    ("clock", r"\b(system_clock|steady_clock|high_resolution_clock|clock_gettime|gettimeofday)\b",
     "the wall clock makes results differ from run to run; take a clock as an argument", OUTSIDE),
    ("random", r"\b(s?rand|drand48)\s*\(|\brandom_device\b",
     "random numbers come from weft::Rng and the seed", OUTSIDE),
    ("environment", r"\b(secure_)?getenv\b", "settings come from files and options", OUTSIDE),
    ("distribution", r"\bstd::\w+_distribution\b",
     "the numbers of std:: distributions differ between standard libraries", ()),
    ("thread", r"\bstd::(j?thread|async)\b|\bpthread_create\b|#\s*include\s*<(thread|future)>",
     "threads are started only by des, map, wire and app, and base's Threads carry their errors back",
     ("base", "des", "map", "wire", "app", "bench", "tests")),
    ("transcendental",
     r"\bstd::(exp|exp2|expm1|log|log2|log10|log1p|pow|sin|cos|tan|atan2?|sinh|cosh|tanh|cbrt)\s*\(",
     "libm's last digit differs between machines; the model uses integers",
     ("map", "report", "record", "app", "bench", "tests")),
)
# Tests: which files, what is looked for, why. A test passes only if it has checked something.
TESTS = (
    (re.compile(r"tests/.*check_\w+(?<!_test)\.py"), "skip", re.compile(r"\bunittest\.(main|TextTestRunner)\("),
     "skipped cases would count as passed; end with skip.run_unittests() of tests/skip.py"),
    (re.compile(r"tests/.*CMakeLists\.txt"), "skip", re.compile(r"^\s*(return|continue)\(\)"),
     "nobody misses a test that is not added; add it with weft_check(... LACKS reason)"),
    (re.compile(r".*_test\.cpp"), "skip", re.compile(r"\bif \(!\w*has\w*\([^;]*\) return;"),
     "what is left out must be reported; GTEST_SKIP() << reason"),
    (re.compile(r".*_test\.cpp"), "vacuous",
     re.compile(r"\b(EXPECT|ASSERT)_(TRUE\(true|FALSE\(false|(EQ|LE|GE)\((?P<c>\w[\w.]*), (?P=c)\))"), "this cannot fail"),
    (re.compile(r"tests/.*\.py"), "vacuous", re.compile(r"\bassert(True\(True|Equal\((?P<p>\w[\w.]*), (?P=p)\))"), "this cannot fail"),
)
# The port between messages and networks: how many virtual functions each role has. A network implements them all, so a new
# one has to be worth that.
PORT = "weft/message/port"
PORT_WIDTH = {"Transport": 7, "Connections": 4, "Rails": 3, "Processor": 9, "MessageObserver": 6, "WaitTeller": 3, "Sleepers": 3, "Storage": 2,
              "ServedAccess": 1}
FRAME_HEADS = re.compile(r"#\s*include\s*[<\"]weft/message/mp/header\.hpp[>\"]|\bmp::(Header|Verb|encode|decode)\b")
HOME = re.compile(r"/(home|Users)/\w|/root/\w")
RAW = re.compile(r'R"(?P<d>[^(\s]*)\(.*?\)(?P=d)"', re.S)
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)|!\[[^\]]*\]\(([^)\s]+)\)")


def place_of(path):
    """The module, or the folder at the top; tests anywhere count as tests."""
    name = path.name
    if path.parts[0] == "tests" or name.endswith("_test.cpp") or name.startswith("test_"):
        return "tests"
    if name.endswith("_bench.cpp"):
        return "bench"
    if path.parts[0] != "weft" or len(path.parts) < 3:
        return path.parts[0]
    return path.parts[1] if len(path.parts) == 3 else path.parts[2]


def without_comments(text):
    """Comments and literals blanked, lines kept: a ban is about code."""
    pattern = re.compile(
        r'//[^\n]*|/\*.*?\*/|R"(?P<d>[^(]*)\(.*?\)(?P=d)"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'', re.S)
    return pattern.sub(lambda m: "\n" * m.group(0).count("\n"), text)


def with_literals(text):
    """Comments blanked, literals and lines kept: for rules about the words in literals."""
    pattern = re.compile(r'//[^\n]*|/\*.*?\*/|("(?:\\.|[^"\\\n])*")', re.S)
    return pattern.sub(lambda m: m.group(1) or "\n" * m.group(0).count("\n"), text)


def row_names(source, folder, kind):
    """The names in a module's rows, as the files that define them spell them."""
    found = []
    for path in sorted((source / folder).glob("*.cpp")):
        text = path.read_text(encoding="utf-8")
        found += re.findall(r"extern const " + kind + r' \w+\{\s*\.name = "([^"]+)"', text)
    return found


def families(source):
    """Rules of 'ask, do not know': (rule, pattern, why, the folder that may)."""
    rules = []
    shapes = r"\bdynamic_cast<[^>]*Shape|\btypeid\(\*?[\w.>-]*shape\b"
    kinds = row_names(source, "weft/network/topo", "TopologyKind")
    if kinds:
        words = "|".join(map(re.escape, kinds))
        # "random" alone is also a rule of replacement and a kind of traffic.
        alone = "|".join(re.escape(k) for k in kinds if k != "random") or words
        shapes += rf'|"({words}):|(==|!=|starts_with\(|find\()\s*"({alone})\b'
        rules.append(("shape", shapes, "ask the topology's shape, not which family it is",
                      "weft/network/topo"))
    policies = row_names(source, "weft/network/route", "PolicyEntry")
    if policies:
        words = "|".join(map(re.escape, policies))
        rules.append(("policy", rf'"({words})(:[^"]*)?"|\bdynamic_cast<[^>]*Policy',
                      "ask the policy (weft/network/route/policy.hpp), not its name",
                      "weft/network/route"))
    rails = row_names(source, "weft/real/wire", "RailKindRow")
    if rails:
        words = "|".join(map(re.escape, rails))
        rules.append(("rail", rf'"({words})"|"ofi:', "ask the table of rail kinds (weft/real/wire/rail_kinds.hpp)", "weft/real/wire"))
    formats = row_names(source, "weft/workload/patterns", "TrafficFormat")
    if formats:
        words = "|".join(map(re.escape, formats))
        # "text" alone is also how some commands answer.
        alone = "|".join(re.escape(f) for f in formats if f != "text") or words
        rules.append(("format", rf'parse_traffic_format\("({words})"|(==|!=)\s*"({alone})"',
                      "ask the table of formats (weft/workload/patterns/traffic_file.hpp)", "weft/workload/patterns"))
    return rules


def check_families(path, text, rules):
    """No other module knows the names of policies, kinds of network, kinds of rail and formats. Tests may choose some."""
    if place_of(path) in ("tests", "bench") or path.suffix not in (".cpp", ".hpp"):
        return
    for number, line in enumerate(with_literals(text).split("\n"), start=1):
        for rule, pattern, why, home in rules:
            if not path.as_posix().startswith(home + "/") and re.search(pattern, line):
                yield number, rule, why


def check_code(path, text):
    lines = text.split("\n")
    if SPDX not in lines[0]:
        yield 1, "spdx", f"the first line must be: // {SPDX}"
    if len(lines) - 1 > LINES_MAX:
        yield 1, "length", f"{len(lines) - 1} lines; a file has one noun and at most {LINES_MAX}"
    if path.suffix == ".hpp" and not re.search(r"\n#pragma once(  // Public.*)?\n", text):
        yield 1, "once", "a header needs #pragma once"
    # Raw literals (a page, a style sheet) are text of another language, and are not broken.
    plain = RAW.sub(lambda m: "\n" * m.group(0).count("\n"), text)
    for number, line in enumerate(plain.split("\n"), start=1):
        if len(line) > COLUMNS_MAX:
            yield number, "columns", f"{len(line)} columns; at most {COLUMNS_MAX}"
    place = place_of(path)
    for number, line in enumerate(without_comments(text).split("\n"), start=1):
        if path.suffix in (".hpp", ".h") and re.search(r"\busing\s+namespace\b", line):
            yield number, "using", "no 'using namespace' in a header"
        for rule, pattern, why, allowed in BANS:
            if place not in allowed and re.search(pattern, line):
                yield number, rule, f"not in '{place}': {why}"


def check_text(path, text):
    for number, line in enumerate(text.split("\n"), start=1):
        if "\t" in line and not path.name.startswith("Makefile"):  # Which need them.
            yield number, "tab", "a tab; use blanks"
        if line != line.rstrip():
            yield number, "trailing", "blanks at the end of the line"
        if HOME.search(line):
            yield number, "home", "a path of one machine"
    if text and not text.endswith("\n"):
        yield text.count("\n") + 1, "end", "the last line has no end"
    if path.suffix == ".py" or text.startswith("#!"):
        if SPDX not in "\n".join(text.split("\n")[:2]):
            yield 1, "spdx", f"one of the first two lines must be: # {SPDX}"


def check_classes(path, text):
    """No class is a whole room. Plain structs without functions (options, results) may have any number of fields."""
    if path.suffix not in (".cpp", ".hpp") or place_of(path) in ("tests", "bench"):
        return
    for found in classes.classes(without_comments(text)):
        if found.functions > classes.FUNCTIONS_MAX or (found.functions > 0 and found.fields > classes.FIELDS_MAX):
            yield (found.line, f"class:{found.name}", f"{found.functions} functions and {found.fields} fields; a class has at most "
                   f"{classes.FUNCTIONS_MAX} and {classes.FIELDS_MAX}: split it")
        width = PORT_WIDTH.get(found.name, 0)
        if path.parent.as_posix() == PORT and found.virtuals != width:
            yield found.line, "port", f"role {found.name} has {found.virtuals} virtual functions, not {width} as in PORT_WIDTH of check_tidy.py"


def check_frame_heads(path, text):
    """Only the message layer reads the heads of its frames; others observe messages."""
    if path.suffix not in (".cpp", ".hpp") or path.parts[:3] == ("weft", "message", "mp"):
        return
    for number, line in enumerate(text.split("\n"), start=1):
        if FRAME_HEADS.search(line.partition("//")[0]):
            yield number, "port", "nobody but mp reads frames; register as MessageObserver (weft/message/port/observer.hpp)"


def check_opening(source, path, text):
    """Line 2 says what the file is. A .cpp beside its header is explained there."""
    named = path.suffix in (".cpp", ".c") and (source / path).with_suffix(".hpp").exists()
    if place_of(path) in ("tests", "bench") or "testdata" in path.parts or named:
        return
    second = (text.split("\n") + [""])[1]
    if not second.startswith(("// ", "/* ", " * ")):
        yield 2, "opening", "the second line must be a comment that says what this file is"


def check_tests(path, text):
    """Comments and literals stay: a pattern is written so that they do not match."""
    for files, rule, pattern, why in TESTS:
        if files.fullmatch(path.as_posix()):
            for number, line in enumerate(text.split("\n"), start=1):
                if pattern.search(line):
                    yield number, rule, why


def check_links(source, path, text):
    fenced = False
    for number, line in enumerate(text.split("\n"), start=1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        if fenced:
            continue
        for found in LINK.finditer(re.sub(r"`[^`]*`", "", line)):
            target = (found.group(1) or found.group(2)).partition("#")[0]
            if target and "://" not in target and not target.startswith("mailto:"):
                if not (source / path.parent / target).exists():
                    yield number, "link", f"'{target}' does not exist"


def check_tests_built(source, paths):
    """A test that is not in the build passes for ever."""
    for path in paths:
        if not path.name.endswith(("_test.cpp", "_bench.cpp")):
            continue
        built = False
        for folder in path.parents:
            listing = source / folder / "CMakeLists.txt"
            if listing.exists():
                name = path.relative_to(folder).as_posix()
                pattern = r"(?<![\w/.-])" + re.escape(name) + r"(?![\w.-])"
                built = built or re.search(pattern, listing.read_text(encoding="utf-8"))
        if not built:
            yield path, 1, "unbuilt", "stands in no CMakeLists.txt"


def read_allowed(source):
    allowed = {}
    listing = source / "tests/tidy/allow.txt"
    for line in listing.read_text(encoding="utf-8").splitlines() if listing.exists() else []:
        words = line.split(None, 2)
        if words and not line.startswith("#"):
            if len(words) < 3:
                raise SystemExit(f"tests/tidy/allow.txt: '{line}' has no reason")
            allowed[(words[0], words[1])] = False
    return allowed


def findings(source):
    paths = [path.relative_to(source) for path in sources.all_files(source)]
    rules = families(source)
    for path in paths:
        if path.suffix not in TEXT or path.name == "LICENSE":
            continue
        try:
            text = (source / path).read_text(encoding="utf-8")
        except UnicodeDecodeError:
            yield path, 1, "utf8", "is not UTF-8"
            continue
        checks = [check_text(path, text), check_tests(path, text)]
        if path.suffix in sources.CODE:
            checks.append(check_code(path, text))
            checks.append(check_opening(source, path, text))
            checks.append(check_classes(path, text))
            checks.append(check_frame_heads(path, text))
            checks.append(check_families(path, text, rules))
        if path.suffix == ".md":
            checks.append(check_links(source, path, text))
        for check in checks:
            for number, rule, message in check:
                yield path, number, rule, message
    yield from check_tests_built(source, paths)
    yield from pages.findings(source, paths)


def main(arguments):
    source = pathlib.Path(arguments[0]).resolve()
    allowed = read_allowed(source)
    count = 0
    for path, number, rule, message in findings(source):
        key = (path.as_posix(), rule)
        if key in allowed:
            allowed[key] = True
            continue
        count += 1
        print(f"{path}:{number}: [{rule}] {message}")
    for (path, rule), used in allowed.items():
        if not used:
            count += 1
            print(f"tests/tidy/allow.txt: '{path} {rule}' is not needed any more")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
