# SPDX-License-Identifier: Apache-2.0
"""Classes as a simple reader sees them: names, functions, virtual functions, fields. For the rules `class` and `port` of check_tidy.py.

It reads declarations, not C++: a member is what ends with ';' or with the body of a function. Functions that are
deleted or defaulted, constants, types and friends count as nothing; nested classes count by themselves.
"""
import dataclasses
import re

HEAD = re.compile(r"(?<!enum )\b(?:class|struct)\s+(?:alignas\([^)]*\)\s*|\[\[[^\]]*\]\]\s*)?(\w+)(?:\s+final)?\s*(?::(?!:)[^;{}]*)?\{")
NOTHING = re.compile(r"(using|friend|typedef|static_assert|enum|class|struct|union|template\s*<[^;{]*>\s*(class|struct|using|friend))\b")
LABEL = re.compile(r"\s*(public|private|protected)\s*:(?!:)")
FUNCTIONS_MAX = 45
FIELDS_MAX = 30


@dataclasses.dataclass
class Class:
    name: str
    line: int
    functions: int = 0
    virtuals: int = 0  # Without the destructor.
    fields: int = 0


def plain(member):
    """Without what may hold parentheses and commas that say nothing about the member."""
    member = re.sub(r"\b(alignas|decltype|noexcept|requires|explicit|__attribute__)\s*\(+[^()]*(\([^()]*\)[^()]*)*\)+", " ", member)
    member = re.sub(r"\boperator\s*(\(\)|[^\s\w(]+|[\w:]+)", "operator_name", member).replace("->", "")
    member = re.sub(r"\[\[.*?\]\]", " ", member)
    before = None
    while before != member:
        before, member = member, re.sub(r"<[^<>;]*>", "", member)
    return member


def is_function(member):
    """A parenthesis before the value, if it has one."""
    return "(" in re.split(r"[={]", plain(member), maxsplit=1)[0]


def count_member(found, member):
    member = member.strip()
    if not member or member[0] in ",{:" or NOTHING.match(member):
        return
    if is_function(member):
        if re.search(r"=\s*(default|delete)\s*$", member):
            return
        found.functions += 1
        found.virtuals += bool(re.match(r"virtual\b", member))
    elif not re.search(r"\b(static|constexpr)\b", plain(member)):
        # A declarator for each comma outside of brackets.
        text = plain(member)
        before = None
        while before != text:
            before, text = text, re.sub(r"\([^()]*\)|\{[^{}]*\}|\[[^\[\]]*\]", "", text)
        found.fields += 1 + text.count(",")


def members(text, start):
    """The members of the body that begins at `start`."""
    depth, inside, member = 1, 0, ""
    for letter in text[start:]:
        depth += (letter == "{") - (letter == "}")
        inside += (letter == "(") - (letter == ")")  # A default argument may have braces.
        if depth == 0:
            return
        member += letter
        if depth == 1 and inside == 0 and (letter == ";" or letter == "}" and is_function(member)):
            yield member.rstrip(";")
            member = ""
        elif depth == 1 and letter == ":" and LABEL.fullmatch(member):
            member = ""


def classes(text):
    """All classes of a text without comments, literals (and lines of the preprocessor)."""
    text = re.sub(r"(?m)^[ \t]*#.*(\\\n.*)*$", "", text)
    for head in HEAD.finditer(text):
        found = Class(head.group(1), text.count("\n", 0, head.start()) + 1)
        for member in members(text, head.end()):
            count_member(found, member)
        yield found
