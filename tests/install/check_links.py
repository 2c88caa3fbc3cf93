#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every link between installed pages leads to a page, and to a heading, that is installed. Usage: check_links.py PREFIX"""
import pathlib
import re
import sys

LINK = re.compile(r"\]\(([^()\s]+)\)")
PAGES_MIN = 30  # Fewer were not installed, and then there is little to check.


def text_of(page):
    """Without code, in which brackets are no links."""
    text = page.read_text(encoding="utf-8")
    return re.sub(r"`[^`\n]*`", "", re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S))


def anchors(page):
    """The names that headings have as targets of links: lower case, words joined by '-'."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    headings = re.findall(r"^#+ (.*)$", text, flags=re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def faults(folder, page):
    for target in LINK.findall(text_of(page)):
        if re.match(r"[a-z]+:", target):
            continue  # Another site.
        path, _, anchor = target.partition("#")
        there = (page.parent / path).resolve() if path else page
        if not there.exists() or folder not in [there, *there.parents]:
            yield f"{page.relative_to(folder)}: {target} is not installed"
        elif anchor and there.suffix == ".md" and anchor not in anchors(there):
            yield f"{page.relative_to(folder)}: {target}: {there.name} has no such heading"


def main():
    folder = (pathlib.Path(sys.argv[1]) / "share/doc/weft").resolve()
    pages = sorted(folder.rglob("*.md"))
    found = [fault for page in pages for fault in faults(folder, page)]
    if len(pages) < PAGES_MIN:
        found.append(f"only {len(pages)} pages are in {folder}")
    print("\n".join(found) if found else f"{len(pages)} pages: all links lead somewhere")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
