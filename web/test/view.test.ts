// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { callKind, callKinds } from "../src/calls";
import { scaleLinear, scaleLog } from "d3-scale";
import { axisTicks } from "../src/chart_axis";
import { domain, headroom, lineOf, marksOf, mergeCharts, nearestX, usable } from "../src/chart_model";
import { kindColour, kindColours, parseColour } from "../src/colour";
import { comparable } from "../src/comparable";
import { csv, differenceText, plain, short, tickFormat, time, withUnit } from "../src/format";
import { cutText, placeLabels } from "../src/labels";
import type { Label } from "../src/labels";
import { forceSteps, graphPlaces, groupPlaces, treePlaces } from "../src/layout";
import { seconds } from "../src/live";
import { filterRows, sortRows } from "../src/rows";
import { fillRow, makeRow, ranksOfRow, spanAfter, spanAt } from "../src/spans";
import { State } from "../src/state";
import { Window2D } from "../src/window2d";

test("times have the largest unit that leaves a whole part", () => {
  assert.equal(time(0), "0 s");
  assert.equal(time(999), "999 ps");
  assert.equal(time(138718400), "138.7 us");
  assert.equal(time(2.5e9), "2.5 ms");
  assert.equal(time(3e12), "3 s");
  assert.equal(time(999999.9), "1 us");
  assert.equal(time(-1500), "-1.5 ns");
});

test("sizes and rates are decimal", () => {
  assert.equal(withUnit(4096, "B"), "4.096 kB");
  assert.equal(withUnit(12, "B"), "12 B");
  assert.equal(withUnit(2.5e9, "B/s"), "2.5 GB/s");
  assert.equal(withUnit(4e11, "b/s"), "400 Gb/s");
  assert.equal(withUnit(0.1234, "share"), "12.34 %");
  assert.equal(withUnit(17, "cycles"), "17 cycles");
  assert.equal(withUnit(1234567, "1"), "1,234,567");
  assert.equal(plain(0.000012), "1.200e-5");
  assert.deepEqual(
    [12, 1500, 1.952e9].map((v) => short(v)),
    ["12", "1.5 k", "1.95 G"],
  );
});

test("ticks of one axis share a unit", () => {
  const format = tickFormat(4e7, "ps");
  assert.equal(format.name, "us");
  assert.equal(format.text(5e5), "0.5");
  assert.equal(tickFormat(1, "share").text(0.25), "25");
  assert.equal(tickFormat(2e6).text(2e6), "2M");
});

test("differences say better or worse in words", () => {
  assert.equal(differenceText(80, 100, "less"), "\u221220 % better");
  assert.equal(differenceText(125, 100, "less"), "+25 % worse");
  assert.equal(differenceText(125, 100, "more"), "+25 % better");
  assert.equal(differenceText(125, 100), "+25 %");
  assert.equal(differenceText(100, 100, "less"), "same");
  assert.equal(differenceText(5, 0, "less"), "");
});

test("CSV quotes what needs it", () => {
  assert.equal(csv([["a,b", 'say "x"', null, 1.5]]), '"a,b","say ""x""",,1.5\n');
});

test("routers of a group stand together", () => {
  const group = Uint32Array.from({ length: 36 }, (_, r) => Math.floor(r / 4));
  const { x, y, centre, radius } = groupPlaces(group);
  assert.equal(centre.x.length, 9);
  group.forEach((g, r) => {
    assert.ok(Math.abs(Math.hypot(x[r]! - centre.x[g]!, y[r]! - centre.y[g]!) - radius) < 1e-5);
    assert.ok(x[r]! >= 0 && x[r]! <= 1 && y[r]! >= 0 && y[r]! <= 1);
  });
  const apart = Math.hypot(centre.x[1]! - centre.x[0]!, centre.y[1]! - centre.y[0]!);
  assert.ok(apart > 2 * radius);
});

test("calls fall into the kinds that the timeline colours", () => {
  const kind = (name: string) => callKinds[callKind(name)];
  for (const name of [
    "MPI_Send",
    "MPI_Irecv",
    "MPI_Sendrecv_replace",
    "MPI_Iprobe",
    "MPI_Ssend",
    "MGEN_Isend",
  ]) {
    assert.equal(kind(name), "point-to-point", name);
  }
  for (const name of ["MPI_Wait", "MPI_Waitall", "MPI_Test"])
    assert.equal(kind(name), "wait", name);
  for (const name of [
    "MPI_Allreduce",
    "MPI_Ibarrier",
    "MPI_Reduce_scatter",
    "MPI_Scan",
    "MPI_Scatterv",
  ]) {
    assert.equal(kind(name), "collective", name);
  }
  for (const name of ["MPI_Put", "MPI_Get", "MPI_Rput", "MPI_Win_fence", "MPI_Get_accumulate"]) {
    assert.equal(kind(name), "one-sided", name);
  }
  for (const name of [
    "MPI_Comm_split",
    "MPI_Get_count",
    "MPI_Init",
    "MPI_File_open",
    "MPI_Reduce_local",
  ]) {
    assert.equal(kind(name), "other", name);
  }
  for (const name of ["MPI_Finalize", "mpi_finalize"]) {
    assert.equal(kind(name), "finalize", name);
  }
});

const spans = {
  first: Uint32Array.from([0, 3, 3, 4]),
  begin: Uint32Array.from([0, 20, 60, 5]),
  length: Uint32Array.from([10, 10, 40, 1]),
  kind: Uint8Array.from([0, 1, 2, 3]),
  waited: Uint8Array.from([0, 255, 51, 0]),
};

test("a rank's span at a moment is found, near ones within reach", () => {
  assert.equal(spanAfter(spans, 0, 15), 1);
  assert.equal(spanAt(spans, 0, 25, 0), 1);
  assert.equal(spanAt(spans, 0, 15, 0), -1);
  assert.equal(spanAt(spans, 0, 12, 3), 0);
  assert.equal(spanAt(spans, 0, 58, 3), 2);
  assert.equal(spanAt(spans, 1, 25, 100), -1);
  assert.equal(spanAt(spans, 2, 5, 0), 3);
});

test("a pixel shows the kind with most time, its cover and its waiting", () => {
  const row = makeRow(10);
  fillRow(spans, [0], { x0: 0, x1: 100 }, row);
  assert.deepEqual([...row.kind], [0, 255, 1, 255, 255, 255, 2, 2, 2, 2]);
  assert.equal(row.waited[2], 1);
  assert.ok(Math.abs(row.waited[7]! - 0.2) < 1e-6);
  const coarse = makeRow(2);
  fillRow(spans, [0], { x0: 0, x1: 100 }, coarse);
  assert.deepEqual([...coarse.kind], [0, 2]);
  assert.ok(Math.abs(coarse.cover[0]! - 0.4) < 1e-6);
  fillRow(spans, [0, 1], { x0: 0, x1: 100 }, coarse);
  assert.ok(Math.abs(coarse.cover[0]! - 0.2) < 1e-6, "two ranks, of which one computes");
  fillRow(spans, [1], { x0: 0, x1: 100 }, coarse);
  assert.deepEqual([...coarse.kind], [255, 255]);
});

test("with far more spans than pixels the picture stays the same", () => {
  const count = 10_000;
  const many = {
    first: Uint32Array.from([0, count]),
    begin: Uint32Array.from({ length: count }, (_, i) => i * 10),
    length: new Uint32Array(count).fill(8),
    kind: Uint8Array.from({ length: count }, (_, i) => (i < count / 2 ? 1 : 2)),
    waited: new Uint8Array(count).fill(255),
  };
  const row = makeRow(10);
  fillRow(many, [0], { x0: 0, x1: count * 10 }, row);
  assert.deepEqual([...row.kind], [1, 1, 1, 1, 1, 2, 2, 2, 2, 2]);
  for (const cover of row.cover) assert.ok(Math.abs(cover - 0.8) < 0.05);
});

test("rows of pixels are spread over the ranks", () => {
  const view = { x0: 0, x1: 1, y0: 0, y1: 10_000 };
  assert.deepEqual(ranksOfRow(0, 500, view, 10_000), [3, 10, 16]);
  assert.deepEqual(ranksOfRow(499, 500, view, 10_000), [9983, 9990, 9996]);
  assert.deepEqual(ranksOfRow(3, 8, { ...view, y1: 4 }, 4), [1]);
});

test("zoom keeps the point under the pointer, and the window inside of the whole", () => {
  const w = new Window2D({ x0: 0, x1: 100, y0: 0, y1: 100 }, { x: 1, y: 1 });
  w.zoom(0.5, 1, 20, 50);
  assert.deepEqual([w.x0, w.x1, w.y0, w.y1], [10, 60, 0, 100]);
  w.pan(-50, 0);
  assert.deepEqual([w.x0, w.x1], [0, 50]);
  w.zoom(1e-6, 1);
  assert.ok(Math.abs(w.x1 - w.x0 - 1) < 1e-9);
  w.zoom(1e9, 1e9);
  assert.ok(w.isWhole());
});

test("charts of one kind are laid over each other", () => {
  const chart = (y: number) => ({
    id: "a",
    title: "A",
    x: { label: "x" },
    y: { label: "y" },
    series: [
      {
        name: "s",
        points: [
          [0, y],
          [1, 2 * y],
        ] as [number, number][],
      },
    ],
    rules: [{ axis: "x" as const, at: 1, label: "end" }],
  });
  const [merged] = mergeCharts([
    { name: "one", kind: "sim", charts: [chart(1)] },
    { name: "two", kind: "sim", charts: [chart(5)] },
  ]);
  assert.deepEqual(
    merged!.series.map((s) => s.name),
    ["one: s", "two: s"],
  );
  assert.deepEqual(
    merged!.rules!.map((r) => r.label),
    ["end"],
  );
  assert.deepEqual(
    domain(
      merged!.series.map((s) => usable(s, false, false)),
      0,
      false,
    ),
    [0, 1],
  );
  assert.deepEqual(
    domain(
      merged!.series.map((s) => usable(s, true, true)),
      1,
      true,
    ),
    [2, 10],
  );
  assert.deepEqual(domain([], 1, false), [0, 1]);
});

const useChart = (at: number) => ({
  id: "use",
  title: "Use",
  x: { label: "time" },
  y: { label: "share" },
  series: ["mean", "fullest"].map((name) => ({ name, points: [] as [number, number][] })),
  rules: [
    { axis: "x" as const, at: 5, label: "p50" },
    { axis: "x" as const, at, label: "p99" },
  ],
});

test("a colour is a run and dashes are a series, whatever charts a run has", () => {
  const names = ["a", "b", "c", "d", "e", "f", "g", "h"];
  const runs = names.map((name, i) => ({ name, kind: "sim", charts: [useChart(10 + i)] }));
  const [merged] = mergeCharts(runs);
  assert.deepEqual(
    merged!.styles.map((s) => [s.colour, s.dash, s.thin]),
    names.flatMap((_, i) => [
      [i, 0, false],
      [i, 1, false],
    ]),
  );
  const other = { name: "other", kind: "map" };
  const [less] = mergeCharts(runs.slice(1, 2), [other, ...runs]);
  assert.deepEqual(
    less!.styles.map((s) => s.colour),
    [2, 2],
    "as in charts that all runs have",
  );
  const [alone] = mergeCharts(runs.slice(0, 1));
  assert.deepEqual(
    alone!.styles.map((s) => [s.colour, s.dash]),
    [
      [0, 0],
      [1, 0],
    ],
  );
  const many = [...runs, ...runs.map((run) => ({ ...run, name: `${run.name}2` }))];
  assert.ok(mergeCharts(many)[0]!.styles.at(-1)!.thin, "colours repeat, with thin lines");
});

test("lines at one place name their runs, or nobody if they are of all", () => {
  const runs = [7, 9, 9].map((at, i) => ({
    name: ["a", "b", "c"][i]!,
    kind: "sim",
    charts: [useChart(at)],
  }));
  const rules = mergeCharts(runs)[0]!.rules;
  assert.deepEqual(
    rules.map((r) => [r.at, r.label, r.colour]),
    [
      [5, "p50", undefined],
      [7, "a: p99", 0],
      [9, "b, c: p99", undefined],
    ],
  );
  assert.equal(mergeCharts(runs.slice(0, 1))[0]!.rules[1]!.label, "p99");
  const same = mergeCharts([{ name: "a", kind: "sim", charts: [useChart(5)] }])[0]!.rules;
  assert.deepEqual(
    same.map((r) => r.label),
    ["p50; p99"],
  );
});

test("eight runs have eight colours that differ, in light and dark", () => {
  assert.ok(kindColours >= 8);
  for (const dark of [false, true]) {
    const list = Array.from({ length: 8 }, (_, i) => parseColour(kindColour(i, dark)));
    list.forEach((a, i) =>
      list.slice(0, i).forEach((b) => {
        const far = Math.hypot(...a.map((v, k) => v - b[k]!));
        assert.ok(far > 60, `${a} and ${b} are ${far} apart`);
      }),
    );
  }
});

// No two labels of a row meet, and no line runs through a label on its way up.
function assertApart(labels: Label[], low: number, high: number): void {
  const placed = placeLabels(labels, low, high);
  placed.forEach((p, i) => {
    assert.ok(p.x >= low && p.x + labels[i]!.width <= high, `${i} leaves the chart`);
    placed.forEach((o, j) => {
      if (i === j) return;
      const meet = p.x < o.x + labels[j]!.width && o.x < p.x + labels[i]!.width;
      assert.ok(p.row !== o.row || !meet, `${i} and ${j} meet`);
    });
  });
}

test("labels of lines that are near each other have rows of their own", () => {
  assert.deepEqual(
    placeLabels(
      [
        { at: 10, width: 30 },
        { at: 100, width: 30 },
      ],
      0,
      200,
    ),
    [
      { x: 14, row: 0 },
      { x: 104, row: 0 },
    ],
  );
  assert.deepEqual(
    placeLabels(
      [
        { at: 10, width: 30 },
        { at: 20, width: 30 },
      ],
      0,
      200,
    ).map((p) => p.row),
    [1, 0],
    "the left label is above, so that the line on its right does not cross it",
  );
  const near = (count: number, step: number, width: number) =>
    Array.from({ length: count }, (_, i) => ({ at: Math.min(100 + i * step, 320), width }));
  for (const count of [1, 2, 3, 8, 16])
    for (const step of [0, 0.5, 3, 20])
      for (const width of [20, 80, 250]) assertApart(near(count, step, width), 60, 320);
});

test("a label that is too wide keeps its end", () => {
  const measure = (text: string) => text.length;
  assert.equal(cutText("a: p99", 10, measure), "a: p99");
  assert.equal(cutText("/home/me/runs/b: p99", 8, measure), "\u2026 b: p99".replace(" ", "/"));
  assert.equal(cutText("abc", 0, measure), "\u2026");
});

test("better and worse are said of runs of the same work", () => {
  const run = (kind: string, program: string, ranks: string) => ({
    name: "x",
    kind,
    summary: [
      { key: "program", label: "Program", text: program },
      { key: "ranks", label: "Ranks", text: ranks },
    ],
  });
  const first = run("sim", "halo", "64");
  assert.ok(comparable(run("sim", "halo", "64"), first));
  assert.ok(!comparable(run("run", "halo", "64"), first), "predicted and measured");
  assert.ok(!comparable(run("sim", "sort", "64"), first));
  assert.ok(!comparable(run("sim", "halo", "128"), first));
  assert.ok(!comparable({ name: "x", kind: "sim" }, first), "not known");
});

test("a saturated point lies above the chart, and the line ends there", () => {
  const series = {
    name: "dor",
    points: [
      [0.1, 50],
      [0.2, null],
      [0.3, null],
      [0.4, null],
    ] as [number, number | null][],
    hollow: [1, 2],
  };
  const marks = marksOf(series, false, true);
  assert.deepEqual(
    marks.map((m) => [m.x, m.y, m.hollow]),
    [
      [0.1, 50, false],
      [0.2, Infinity, true],
      [0.3, Infinity, true],
    ],
  );
  assert.deepEqual(lineOf(marks), [
    [0.1, 50],
    [0.2, Infinity],
  ]);
  assert.deepEqual(usable(series, false, false), [[0.1, 50]]);
  assert.deepEqual(headroom([0, 100], true), [0, 150], "the line to the edge is steep");
  assert.deepEqual(headroom([0, 100], false), [0, 100]);
});

test("charts of different cycles are merged in the unit that they share", () => {
  const chart = (factor: number) => ({
    id: "latency-load",
    title: "Latency",
    x: { label: "load" },
    y: {
      label: "latency",
      unit: "cycles" as const,
      second: { label: "latency", unit: "ps" as const, factor },
    },
    series: [{ name: "dor", points: [[0.1, 50]] as [number, number][] }],
    rules: [{ axis: "y" as const, at: 100, label: "limit" }],
  });
  const merge = (...factors: number[]) =>
    mergeCharts(
      factors.map((f, i) => ({ name: `run${i}`, kind: "traffic", charts: [chart(f)] })),
    )[0]!;
  const same = merge(1000, 1000);
  assert.equal(same.y.unit, "cycles");
  assert.equal(same.y.second?.factor, 1000);
  const mixed = merge(1000, 2000);
  assert.equal(mixed.y.unit, "ps");
  assert.equal(mixed.y.second, undefined);
  assert.deepEqual(
    mixed.series.map((s) => s.points),
    [[[0.1, 50_000]], [[0.1, 100_000]]],
  );
  assert.deepEqual(
    mixed.rules.map((r) => r.at),
    [100_000, 200_000],
  );
});

test("ticks over many powers of ten carry their units", () => {
  const axis = { label: "latency", unit: "ps" as const };
  const wide = axisTicks(scaleLog([1e6, 2e9], [0, 1]), axis, true, 8);
  assert.deepEqual(wide.ticks.map(wide.text), ["1 us", "10 us", "100 us", "1 ms"]);
  assert.equal(wide.name, "latency");
  const near = axisTicks(scaleLog([3e6, 3e7], [0, 1]), axis, true, 5);
  assert.deepEqual(near.ticks.map(near.text), ["5", "10", "20"]);
  const even = axisTicks(scaleLinear([0, 4e7], [0, 1]), axis, false, 5);
  assert.deepEqual(even.ticks.map(even.text), ["0", "10", "20", "30", "40"]);
  assert.equal(even.name, "latency (us)");
});

test("the nearest point is found by halving", () => {
  const points: [number, number][] = [
    [0, 1],
    [10, 2],
    [20, 3],
  ];
  assert.deepEqual(
    [-5, 4, 6, 14, 99].map((x) => nearestX(points, x)),
    [0, 0, 1, 1, 2],
  );
  assert.equal(nearestX([], 3), -1);
});

test("rows sort by number or name, nothing last, and filter by all words", () => {
  const rows = [
    ["r10", 3],
    ["r2", null],
    ["x1", 7],
  ];
  assert.deepEqual(
    sortRows(rows, { column: 0, down: false }).map((r) => r[0]),
    ["r2", "r10", "x1"],
  );
  assert.deepEqual(
    sortRows(rows, { column: 1, down: true }).map((r) => r[1]),
    [7, 3, null],
  );
  assert.deepEqual(
    sortRows(rows, { column: 1, down: false }).map((r) => r[1]),
    [3, 7, null],
  );
  assert.deepEqual(
    filterRows(rows, "R 3").map((r) => r[0]),
    ["r10"],
  );
});

test("trees lie by level, graphs the same way each time", () => {
  const tree = treePlaces(Uint8Array.from([0, 0, 1]));
  assert.deepEqual(
    [...tree.x].map((v) => Math.round(v * 100)),
    [25, 75, 50],
  );
  assert.deepEqual([...tree.y], [1, 1, 0]);
  const ring = {
    from: Uint32Array.from({ length: 24 }, (_, i) => i >> 1),
    to: Uint32Array.from({ length: 24 }, (_, i) => ((i >> 1) + (i & 1 ? 1 : 11)) % 12),
  };
  const last = () => [...graphPlaces(ring, 12)].at(-1)!;
  const places = last();
  assert.deepEqual(places, last());
  assert.ok([...places.x, ...places.y].every((v) => v >= 0 && v <= 1));
  const apart = (a: number, b: number) =>
    Math.hypot(places.x[a]! - places.x[b]!, places.y[a]! - places.y[b]!);
  assert.ok(apart(0, 1) < apart(0, 6), "neighbours are nearer than opposites");
  assert.ok(forceSteps(3000) < forceSteps(300) && forceSteps(100_000) === 0);
});

test("state reads and writes what stands after the hash", () => {
  const state = new State("#tab=network&t=5e6&run=a%20b");
  assert.equal(state.get("run"), "a b");
  assert.equal(state.number("t", 0), 5e6);
  assert.equal(state.number("none", 3), 3);
  const seen: string[] = [];
  state.watch((key) => seen.push(key));
  state.set("tab", "network");
  state.set("layer", "links.1");
  state.set("run", "");
  assert.deepEqual(seen, ["layer", "run"]);
  assert.equal(state.toString(), "tab=network&t=5e6&layer=links.1");
  assert.equal(state.replace("#tab=network&t=5e6&layer=links.1"), false);
  assert.equal(state.replace("#tab=charts"), true);
});

test("a long wait is said in minutes and hours", () => {
  assert.equal(seconds(3.26), "3.3 s");
  assert.equal(seconds(125), "2 min 5 s");
  assert.equal(seconds(7300), "2 h 1 min");
});
