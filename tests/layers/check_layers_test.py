#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A check that never fails is no check: each rule is broken once, in a made-up tree."""
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import check_layers  # noqa: E402  (the path must be set first)


class Layers(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.source = pathlib.Path(self.folder.name)
        self.rows = {"base": ["base"], "topo": ["topo", "base"], "route": ["route", "base", "topo"]}
        for module in self.rows:
            (self.source / "weft" / module).mkdir(parents=True)

    def write(self, path, text):
        (self.source / path).write_text(text, encoding="utf-8")

    def problems(self):
        return check_layers.check_includes(self.source, self.rows)

    def test_allows_the_row_and_itself(self):
        self.write("weft/route/a.cpp", '#include "weft/route/a.hpp"\n#include <weft/topo/b.hpp>\n')
        self.assertEqual(self.problems(), [])

    def test_refuses_what_the_row_does_not_name(self):
        self.write("weft/route/a.cpp", "\n#include <weft/sim/router.hpp>\n")
        self.assertEqual(
            self.problems(),
            ["weft/route/a.cpp:2: includes 'sim', but module 'route' may include only: "
             "route base topo"])

    def test_sees_quotes_and_blanks(self):
        self.write("weft/base/a.hpp", '  #  include "weft/topo/graph.hpp"\n')
        self.assertEqual(len(self.problems()), 1)

    def test_lets_tests_include_all(self):
        self.write("weft/base/a_test.cpp", "#include <weft/topo/graph.hpp>\n")
        self.assertEqual(self.problems(), [])

    def test_wants_a_row_for_every_module(self):
        (self.source / "weft/odd").mkdir()
        self.write("weft/odd/CMakeLists.txt", "")
        self.assertEqual(self.problems(), ["weft/odd: no weft_module() states its row"])

    def test_refuses_circles_and_strangers(self):
        rows = {"a": ["a", "b"], "b": ["b", "a"], "c": ["c", "d"]}
        self.assertEqual(len(check_layers.check_table(rows)), 3)

    def test_holds_the_page_to_the_build(self):
        page = "| `base` | the standard library | x |\n| `topo` | `base` | x |\n| `odd` | `base` | x |\n"
        self.assertEqual(
            check_layers.check_page(page + "| `route` | `base` | x |\n", self.rows),
            ["docs/architecture.md: 'odd' is no module",
             "docs/architecture.md: 'route' uses base topo, not base"])
        self.assertEqual(
            check_layers.check_page(page, self.rows)[1],
            "docs/architecture.md: the layer table lacks 'route' (uses: base topo)")


if __name__ == "__main__":
    unittest.main()
