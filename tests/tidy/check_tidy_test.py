#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A check that never fails is no check: each rule is broken once, in a made-up tree."""
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import check_tidy  # noqa: E402  (the path must be set first)
import classes  # noqa: E402

HEAD = "// " + check_tidy.SPDX + "\n"


class Tidy(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.source = pathlib.Path(self.folder.name).resolve()

    def rules(self, path, text, without=("opening",)):
        """The rules broken by a tree of this one file, with the lines. Most texts here are too short for an opening."""
        whole = self.source / path
        whole.parent.mkdir(parents=True, exist_ok=True)
        whole.write_text(text, encoding="utf-8")
        found = [(rule, number) for _, number, rule, _ in check_tidy.findings(self.source) if rule not in without]
        whole.unlink()
        return found

    def way(self, row):
        return self.rules("docs/finding-your-way.md", row + "\n")

    def test_accepts_a_clean_file(self):
        self.assertEqual(self.rules("weft/simulate/router/a.hpp", HEAD + "#pragma once\nint f();\n"), [])

    def test_shape_of_a_file(self):
        self.assertEqual(self.rules("weft/simulate/router/a.cpp", "int a;\n"), [("spdx", 1)])
        self.assertEqual(self.rules("weft/simulate/router/a.hpp", HEAD + "int a;\n"), [("once", 1)])
        self.assertEqual(self.rules("weft/simulate/router/a.cpp", HEAD + "\n" * 900), [("length", 1)])
        self.assertEqual(self.rules("weft/simulate/router/a.cpp", HEAD + "//" + "x" * 99 + "\n"), [("columns", 2)])
        self.assertEqual(self.rules("weft/simulate/router/a.cpp", HEAD + "\tint a;\n"), [("tab", 2)])
        self.assertEqual(self.rules("weft/simulate/router/a.cpp", HEAD + "int a; \n"), [("trailing", 2)])
        self.assertEqual(self.rules("weft/simulate/router/a.cpp", HEAD + "int a;"), [("end", 2)])
        self.assertEqual(
            self.rules("weft/simulate/router/a.hpp", HEAD + "#pragma once\nusing namespace std;\n"), [("using", 3)])

    def test_opening(self):
        self.assertEqual(self.rules("weft/base/a.hpp", HEAD + "#pragma once\n", ()), [("opening", 2)])
        self.assertEqual(self.rules("weft/base/a.hpp", HEAD + "// What it is.\n#pragma once\n", ()), [])
        self.assertEqual(self.rules("weft/base/a.cpp", HEAD + "int a;\n", ()), [("opening", 2)])
        (self.source / "weft/base/a.hpp").write_text(HEAD + "// What it is.\n#pragma once\n", encoding="utf-8")
        self.assertEqual(self.rules("weft/base/a.cpp", HEAD + "int a;\n", ()), [])
        self.assertEqual(self.rules("weft/base/test_a.hpp", HEAD + "#pragma once\n", ()), [])

    def test_counts_characters_not_bytes(self):
        self.assertEqual(self.rules("weft/simulate/router/a.cpp", HEAD + "//" + "µ" * 98 + "\n"), [])

    def test_leaves_raw_literals_whole(self):
        text = HEAD + 'auto a = R"(\n' + "x" * 200 + '\n)";\n//' + "x" * 99 + "\n"
        self.assertEqual(self.rules("weft/simulate/router/a.cpp", text), [("columns", 5)])

    def test_bans(self):
        for line, rule in (("auto t = std::chrono::steady_clock::now();", "clock"),
                           ("int r = rand();", "random"),
                           ("std::random_device d;", "random"),
                           ('const char* e = std::getenv("A");', "environment"),
                           ("std::uniform_int_distribution<int> d;", "distribution"),
                           ("std::thread t;", "thread"),
                           ("#include <thread>", "thread"),
                           ("double x = std::log(y);", "transcendental")):
            self.assertEqual(self.rules("weft/simulate/router/a.cpp", HEAD + line + "\n"), [(rule, 2)], line)

    def test_bans_know_their_exceptions(self):
        self.assertEqual(self.rules("weft/parallel/des/a.cpp", HEAD + "std::thread t;\n"), [])
        self.assertEqual(self.rules("app/main.cpp", HEAD + "std::chrono::steady_clock::now();\n"), [])
        self.assertEqual(self.rules("app/main.cpp", HEAD + "std::normal_distribution<> d;\n"),
                         [("distribution", 2)])
        self.assertEqual(self.rules("weft/simulate/router/test_x.hpp", HEAD + "#pragma once\nint a = rand();\n"), [])

    def test_bans_are_about_code(self):
        text = HEAD + '// rand()\nconst char* a = "rand()";\n/* std::thread\n */\nint operand(int);\n'
        self.assertEqual(self.rules("weft/simulate/router/a.cpp", text), [])
        self.assertEqual(self.rules("weft/simulate/router/a.cpp", HEAD + "/*\n\n*/ rand();\n"), [("random", 4)])

    def test_asks_and_does_not_know(self):
        for folder, row in (("network/route", 'extern const PolicyEntry dor_policy{\n    .name = "dor",\n};\n'),
                            ("network/topo", 'extern const TopologyKind torus_kind{\n    .name = "torus",\n};\n'),
                            ("real/wire", 'extern const RailKindRow tcp_rails{\n    .name = "tcp",\n};\n'),
                            ("workload/patterns", 'extern const TrafficFormat csv_format{.name = "csv"};\n')):
            rows = self.source / "weft" / folder / "rows.cpp"
            rows.parent.mkdir(parents=True)
            rows.write_text(HEAD + row, encoding="utf-8")
        for line, rule in (('if (routing == "dor") f();', "policy"),
                           ('std::string r = "dor:up";', "policy"),
                           ("auto* p = dynamic_cast<const OwnPolicy*>(q);", "policy"),
                           ('if (kind == "tcp") f();', "rail"),
                           ('rails.push_back("ofi:verbs");', "rail"),
                           ('read(file, *parse_traffic_format("csv"));', "format"),
                           ('if (name == "csv") f();', "format"),
                           ('if (name.starts_with("torus")) f();', "shape"),
                           ('make_topology("torus:4x4");', "shape"),
                           ("auto* s = dynamic_cast<const OwnShape*>(q);", "shape")):
            self.assertEqual(self.rules("weft/study/map/a.cpp", HEAD + line + "\n"), [(rule, 2)], line)
        for line in ('// "dor" is one of them', 'const char* help = "such as dor or torus:4x4";'):
            self.assertEqual(self.rules("weft/study/map/a.cpp", HEAD + line + "\n"), [], line)
        self.assertEqual(self.rules("weft/study/map/test_a.hpp", HEAD + '#pragma once\nauto a = "dor";\n'), [])
        self.assertEqual(self.rules("weft/network/route/a.cpp", HEAD + 'auto a = "dor";\n'), [])
        self.assertEqual(self.rules("weft/real/wire/a.cpp", HEAD + 'auto a = "tcp";\n'), [])
        self.assertEqual(self.rules("weft/workload/patterns/a.cpp", HEAD + 'bool a = b == "csv";\n'), [])

    def test_tests_are_built(self):
        self.assertEqual(self.rules("weft/simulate/router/a_test.cpp", HEAD), [("unbuilt", 1)])
        listing = self.source / "weft/simulate/router/CMakeLists.txt"
        listing.write_text("TESTS ba_test.cpp\n", encoding="utf-8")
        self.assertEqual(self.rules("weft/simulate/router/a_test.cpp", HEAD), [("unbuilt", 1)])
        listing.write_text("TESTS a_test.cpp\n", encoding="utf-8")
        self.assertEqual(self.rules("weft/simulate/router/a_test.cpp", HEAD), [])

    def test_tests_report_what_they_skip(self):
        script = "# " + check_tidy.SPDX + "\nif __name__ == '__main__':\n    "
        self.assertEqual(self.rules("tests/rails/check_rails.py", script + "unittest" + ".main()\n"), [("skip", 3)])
        self.assertEqual(self.rules("tests/rails/check_rails.py", script + "skip.run_unittests(sys.argv)\n"), [])
        self.assertEqual(self.rules("tests/rails/CMakeLists.txt", "if(NOT WEFT_ROOT)\n  return()\nendif()\n"), [("skip", 2)])
        self.assertEqual(self.rules("weft/real/wire/CMakeLists.txt", "if(NOT BUILD_TESTING)\n  return()\nendif()\n"), [])
        listing = self.source / "weft/CMakeLists.txt"
        listing.parent.mkdir(parents=True, exist_ok=True)
        listing.write_text("TESTS a_test.cpp\n", encoding="utf-8")
        self.assertEqual(self.rules("weft/a_test.cpp", HEAD + "  if (!has_hdf5()) return;\n"), [("skip", 2)])
        self.assertEqual(self.rules("weft/a_test.cpp", HEAD + '  if (!has_hdf5()) GTEST_SKIP() << "no HDF5";\n'), [])

    def test_tests_can_fail(self):
        listing = self.source / "weft/CMakeLists.txt"
        listing.parent.mkdir(parents=True, exist_ok=True)
        listing.write_text("TESTS a_test.cpp\n", encoding="utf-8")
        for line in ("EXPECT_TRUE(true);", "ASSERT_FALSE(false);", "EXPECT_EQ(a.b, a.b);", "EXPECT_LE(most, most);"):
            self.assertEqual(self.rules("weft/a_test.cpp", HEAD + line + "\n"), [("vacuous", 2)], line)
        self.assertEqual(self.rules("weft/a_test.cpp", HEAD + "EXPECT_EQ(a, a.b);\nEXPECT_EQ(a.b, a.bc);\n"), [])
        script = "# " + check_tidy.SPDX + "\n"
        self.assertEqual(self.rules("tests/a.py", script + "self.assert" + "Equal(one, one)\n"), [("vacuous", 2)])
        self.assertEqual(self.rules("tests/a.py", script + "self.assertEqual(one, other)\n"), [])

    def test_links(self):
        self.assertEqual(self.rules("a.md", "[x](b.md)\n"), [("link", 1)])
        self.assertEqual(self.rules("a.md", "[x](a.md#there) [y](https://a.b/c)\n"), [])
        self.assertEqual(self.rules("a.md", "```\n[x](b.md)\n```\n`[y](c.md)`\n"), [])

    def test_reads_classes(self):
        text = """template <class T> class A final : public B<C(int), D>, E {
 public:
  A(int a) : a_{a}, b_(a) {}
  A(const A&) = delete;
  virtual ~A() = default;
  virtual void f(std::function<void(int)> g = {}) = 0;
  bool operator==(const A&) const;
  template <typename Done> void wait(Done done) { for (;;) { g(); } }
  static int h();
  using Type = int(int);
  enum class Kind { one, two };
  struct Nested { int x; };
  class Later;
  static constexpr int most = 3;
 private:
  alignas(64) int a_ = 0, b_{1};
  std::map<int, std::pair<int, int>> c_;
  decltype(&h) d_ = nullptr;
  std::array<int, 2> e_ = {1, 2};
};
enum class F { one };
struct G : H {};
"""
        found = [(c.name, c.line, c.functions, c.virtuals, c.fields) for c in classes.classes("#include <a>\n\n" + text)]
        self.assertEqual(found, [("A", 3, 5, 1, 5), ("Nested", 14, 0, 0, 1), ("G", 24, 0, 0, 0)])

    def test_size_of_a_class(self):
        def text(functions, fields):
            lines = [f"  void f{i}();" for i in range(functions)] + [f"  int a{i};" for i in range(fields)]
            return HEAD + "class A {\n" + "\n".join(lines) + "\n};\n"
        self.assertEqual(self.rules("weft/simulate/router/a.cpp", text(45, 30)), [])
        self.assertEqual(self.rules("weft/simulate/router/a.cpp", text(46, 1)), [("class:A", 2)])
        self.assertEqual(self.rules("weft/simulate/router/a.cpp", text(1, 31)), [("class:A", 2)])
        self.assertEqual(self.rules("weft/simulate/router/a.cpp", text(0, 31)), [])  # Options, say.

    def test_width_of_the_port(self):
        role = HEAD + "#pragma once\nclass Rails {\n  virtual ~Rails() = default;\n" + "  virtual int f() = 0;\n" * 3
        self.assertEqual(self.rules("weft/message/port/a.hpp", role + "};\n"), [])
        self.assertEqual(self.rules("weft/message/port/a.hpp", role + "  virtual int f() { return 1; }\n};\n"), [("port", 3)])
        self.assertEqual(self.rules("weft/message/port/a.hpp", role.replace("Rails", "Other") + "};\n"), [("port", 3)])
        self.assertEqual(self.rules("weft/real/wire/a.hpp", role + "  virtual int f() { return 1; }\n};\n"), [])
        reads = HEAD + "#include <weft/message/mp/header.hpp>\n"
        self.assertEqual(self.rules("weft/message/mp/a.cpp", reads), [])
        self.assertEqual(self.rules("weft/real/wire/a.cpp", reads), [("port", 2)])
        self.assertEqual(self.rules("weft/real/wire/a.cpp", HEAD + "mp::Header head = mp::decode(frame);\n"), [("port", 2)])

    def test_finding_your_way(self):
        for path in ("weft/message/mp/a.cpp", "weft/message/mp/b.hpp"):
            (self.source / path).parent.mkdir(parents=True, exist_ok=True)
            (self.source / path).write_text(HEAD + ("#pragma once\n" if path.endswith("hpp") else ""), encoding="utf-8")
        self.assertEqual(self.way("| who? | message layer | `weft/message/mp/a.cpp`, its value: `b.hpp` |"), [])
        self.assertEqual(self.way("| who? | message layer | `weft/message/mp/c.cpp` |"), [("map", 1), ("map", 1)])
        self.assertEqual(self.way("| who? | message layer | `weft/message/mp/a.cpp`, `c.hpp` |"), [("map", 1)])
        self.assertEqual(self.way("| who? | real networks | `weft/message/mp/a.cpp` |"), [("map", 1)])
        self.assertEqual(self.way("| who? | message layer | somewhere |"), [("map", 1)])

    def test_tables_of_folders(self):
        page = "| `message` | x |\n\n| `weft/` | x |\n| `docs/` | x |\n| `tests/` | `one` |\n"
        for path in ("weft/message/mp/a.cpp", "tests/one/a.cpp"):
            (self.source / path).parent.mkdir(parents=True, exist_ok=True)
            (self.source / path).write_text(HEAD, encoding="utf-8")
        name = "docs/architecture.md"
        self.assertEqual(self.rules(name, page), [])
        self.assertEqual(self.rules(name, page.replace("| `message` | x |", "| `messages` | x |")), [("map", 1), ("map", 1)])
        self.assertEqual(self.rules(name, page.replace("| `docs/` | x |\n", "")), [("map", 4)])
        self.assertEqual(self.rules(name, page.replace("`one`", "`one` `two`")), [("map", 5)])
        self.assertEqual(self.rules(name, page.replace("`one`", "")), [("map", 5)])

    def test_paths_of_one_machine(self):
        self.assertEqual(self.rules("a.md", "see /home" + "/someone/file\n"), [("home", 1)])


if __name__ == "__main__":
    unittest.main()
