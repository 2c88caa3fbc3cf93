#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A check that never fails is no check: each rule is broken once, in a made-up tree."""
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import check_layers  # noqa: E402  (the path must be set first)

ROWS = ["weft/base:", "weft/network/topo:base", "weft/network/route:base topo"]


class Layers(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.source = pathlib.Path(self.folder.name)
        self.table = check_layers.Table(ROWS)
        for folder in self.table.folder.values():
            (self.source / folder).mkdir(parents=True)

    def write(self, path, text):
        (self.source / path).parent.mkdir(parents=True, exist_ok=True)
        (self.source / path).write_text(text, encoding="utf-8")

    def problems(self):
        return check_layers.check_includes(self.source, self.table)

    def test_allows_the_row_and_itself(self):
        self.write("weft/network/route/a.cpp",
                   '#include "weft/network/route/a.hpp"\n#include <weft/network/topo/b.hpp>\n')
        self.assertEqual(self.problems(), [])

    def test_refuses_what_the_row_does_not_name(self):
        self.write("weft/network/topo/a.cpp", "\n#include <weft/network/route/policy.hpp>\n")
        self.assertEqual(
            self.problems(),
            ["weft/network/topo/a.cpp:2: includes 'route', but module 'topo' may include only: topo base"])

    def test_refuses_folders_that_are_no_module(self):
        self.write("weft/network/topo/a.cpp", "#include <weft/topo/b.hpp>\n")
        self.assertEqual(
            self.problems(),
            ["weft/network/topo/a.cpp:1: includes 'weft/topo', but module 'topo' may include only: topo base"])

    def test_sees_quotes_and_blanks(self):
        self.write("weft/base/a.hpp", '  #  include "weft/network/topo/graph.hpp"\n')
        self.assertEqual(len(self.problems()), 1)

    def test_lets_tests_include_all(self):
        self.write("weft/base/a_test.cpp", "#include <weft/network/topo/graph.hpp>\n")
        self.assertEqual(self.problems(), [])

    def test_counts_folders_inside_a_module_to_it(self):
        self.write("weft/network/topo/shapes/a.cpp", "#include <weft/network/route/policy.hpp>\n")
        self.assertEqual(len(self.problems()), 1)

    def test_wants_a_row_for_every_module(self):
        self.write("weft/network/odd/CMakeLists.txt", "")
        self.assertEqual(self.problems(), ["weft/network/odd: no weft_module() states its row"])
        self.write("weft/network/odd/a.cpp", "")
        self.assertEqual(self.problems()[1], "weft/network/odd/a.cpp: stands in no module")

    def check_rows(self, *rows):
        return check_layers.check_table(check_layers.Table(rows))

    def test_refuses_strangers(self):
        self.assertEqual(self.check_rows("weft/c:d"), ["module 'c' uses 'd', which is not a module"])

    def test_finds_circles_of_any_length(self):
        self.assertEqual(self.check_rows("weft/a/x:y", "weft/a/y:x"), ["modules use each other in a circle: x -> y -> x"])
        self.assertEqual(self.check_rows("weft/a/w:x", "weft/a/x:y", "weft/a/y:z", "weft/a/z:x"),
                         ["modules use each other in a circle: x -> y -> z -> x"])
        self.assertEqual(self.check_rows("weft/a/x:y z", "weft/a/y:z", "weft/a/z:"), [])

    def test_finds_circles_between_groups(self):
        self.assertEqual(self.check_rows("weft/a/x:y", "weft/b/y:", "weft/b/z:v", "weft/a/v:"),
                         ["groups use each other in a circle: a -> b -> a"])
        self.assertEqual(self.check_rows("weft/a/x:y", "weft/b/y:", "weft/b/z:u", "weft/c/u:", "weft/c/v:w", "weft/a/w:"),
                         ["groups use each other in a circle: a -> b -> c -> a"])

    def test_limits_the_rooms(self):
        rows = [f"weft/room{chr(ord('a') + i)}:" for i in range(16)]
        self.assertEqual(len(self.check_rows(*rows)), 1)
        self.assertEqual(self.check_rows(*rows[:15]), [])

    def test_holds_the_page_to_the_build(self):
        page = "| `base` | the standard library | x |\n| `network/topo` | `base` | x |\n| `network/odd` | `base` | x |\n"
        self.assertEqual(
            check_layers.check_page(page + "| `network/route` | `base` | x |\n", self.table),
            ["docs/architecture.md: 'weft/network/odd' is not a module",
             "docs/architecture.md: 'weft/network/route' uses base topo, not base"])
        self.assertEqual(
            check_layers.check_page(page, self.table)[1],
            "docs/architecture.md: the layer table lacks 'weft/network/route' (uses: base topo)")


if __name__ == "__main__":
    unittest.main()
