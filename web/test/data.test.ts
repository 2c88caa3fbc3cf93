// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { deflateSync } from "node:zlib";
import { asNumbers, fromBase64, inflate } from "../src/blocks";
import { axesFor, coordinates, dimensionName, fitTiles, makeSlices, routerAt } from "../src/cube";
import { binPairs, cellsAlong, logStep, rangeOf } from "../src/density";
import { frameAt, Frames, routerValues, unionOfTimes } from "../src/heat";
import { busiest, nearestLine, nearestPoint } from "../src/pick";
import { listRanks, ranksByNode, shadeOf } from "../src/ranks";

test("a block comes back as it was written", async () => {
  const values = Uint32Array.from([1, 70000, 4294967295]);
  const text = deflateSync(Buffer.from(values.buffer)).toString("base64");
  const bytes = await inflate(fromBase64(`\n${text}\n`));
  assert.deepEqual(asNumbers(bytes, { block: 0, type: "u32", shape: [3] }), values);
});

test("a block of the wrong size is refused", async () => {
  const bytes = await inflate(fromBase64(deflateSync(Buffer.alloc(5)).toString("base64")));
  assert.throws(
    () => asNumbers(bytes, { block: 7, type: "u16", shape: [3] }),
    /block 7 has 5 bytes/,
  );
});

test("halves and quarters of words keep their type", () => {
  const bytes = new Uint8Array([0, 0, 128, 63]);
  assert.deepEqual([...asNumbers(bytes, { block: 0, type: "f32", shape: [1] })], [1]);
  assert.deepEqual([...asNumbers(bytes, { block: 0, type: "u16", shape: [2] })], [0, 0x3f80]);
});

const links = {
  from: Uint32Array.from([0, 0, 1, 1]),
  to: Uint32Array.from([1, 1, 0, 0]),
  direction: Uint8Array.from([0, 2, 1, 3]),
};

test("a router has the value of its busiest outgoing link", () => {
  const frame = Uint8Array.from([10, 20, 40, 30]);
  assert.deepEqual([...routerValues(frame, links, -1, new Uint8Array(2))], [20, 40]);
  assert.deepEqual([...routerValues(frame, links, 0, new Uint8Array(2))], [10, 40]);
  assert.deepEqual([...routerValues(frame, links, 1, new Uint8Array(2))], [20, 30]);
});

test("a moment belongs to the frame that ends there or next", () => {
  const ends = [5, 10, 20];
  assert.deepEqual(
    [0, 5, 5.1, 10, 19, 20, 99].map((ps) => frameAt(ends, ps)),
    [0, 0, 1, 1, 2, 2, 2],
  );
  assert.equal(frameAt([], 3), 0);
  assert.deepEqual(
    unionOfTimes([
      [5, 10],
      [4, 10, 12],
    ]),
    [4, 5, 10, 12],
  );
});

function frames(): Frames {
  const layer = {
    id: "links",
    title: "Links",
    per: "link" as const,
    of: "",
    data: { block: 0, type: "u8" as const, shape: [0, 4] },
  };
  return new Frames({ begin_ps: 0, end_ps: [], layers: [layer] }, links, 2);
}

test("the average counts each frame by how long it lasted", () => {
  const f = frames();
  f.append(10, new Map([["links", Uint8Array.from([100, 0, 0, 0])]]), 100);
  f.append(40, new Map([["links", Uint8Array.from([20, 0, 0, 8])]]), 100);
  assert.deepEqual([...f.average("links")!], [40, 0, 0, 6]);
  const stats = f.stats({ layer: "links", dimension: -1 });
  assert.ok(Math.abs(stats.most[0]! - 100 / 255) < 1e-6);
  assert.ok(Math.abs(stats.mean[1]! - 7 / 255) < 1e-6);
  assert.equal(f.most({ layer: "links", dimension: 1 }), 8);
  assert.deepEqual(
    [...f.values({ layer: "links", dimension: -1 }, -1, new Uint8Array(2))],
    [40, 6],
  );
});

test("a router is as hot as its busiest link, to a router or to or from a node", () => {
  const data = { block: 0, type: "u8" as const, shape: [0, 4] };
  const layers = [
    { id: "links", title: "Links", per: "link" as const, of: "", data },
    { id: "node-links", title: "Node links", per: "router" as const, of: "", data },
  ];
  const f = new Frames({ begin_ps: 0, end_ps: [], layers }, links, 2);
  const nodeLinks = Uint8Array.from([20, 250]);
  f.append(10, new Map([["links", Uint8Array.from([100, 0, 0, 8])], ["node-links", nodeLinks]]), 9);
  const all = { layer: "links", dimension: -1 };
  assert.deepEqual([...f.values(all, 0, new Uint8Array(2))], [100, 250]);
  assert.deepEqual([...f.values(all, -1, new Uint8Array(2))], [100, 250]);
  assert.equal(f.most(all), 250);
  // Links to nodes have no dimension.
  assert.deepEqual([...f.values({ layer: "links", dimension: 1 }, 0, new Uint8Array(2))], [0, 8]);
});

test("beyond the limit every second frame goes, the newest stays", () => {
  const f = frames();
  for (let t = 1; t <= 5; ++t)
    f.append(t * 10, new Map([["links", Uint8Array.from([t, 0, 0, 0])]]), 4);
  assert.deepEqual(f.endPs, [10, 30, 50]);
  assert.equal(f.raw("links", 2)![0], 5);
  assert.equal(f.durationPs(1), 20);
});

test("coordinates and router numbers are inverse", () => {
  const radix = [4, 3, 2];
  assert.deepEqual(coordinates(1 + 4 * (2 + 3 * 1), radix), [1, 2, 1]);
  for (let r = 0; r < 24; ++r) assert.equal(routerAt(coordinates(r, radix), radix), r);
});

test("slices hold each router once, where its coordinates say", () => {
  const radix = [4, 3, 2];
  for (const [across, down] of [
    [0, 1],
    [2, 0],
    [1, 2],
  ] as const) {
    const s = makeSlices(radix, across, down);
    const other = 3 - across - down;
    assert.equal(s.tiles, radix[other]);
    for (let r = 0; r < 24; ++r) {
      const at = coordinates(r, radix);
      assert.equal(s.place[r], (at[other]! * s.height + at[down]!) * s.width + at[across]!);
      assert.equal(s.router[s.place[r]!], r);
    }
  }
  assert.equal(makeSlices(radix, 0, 1).tileName(1), "z = 1");
  assert.deepEqual([...makeSlices([5], 0, -1).place], [0, 1, 2, 3, 4]);
});

test("a cube takes the wanted axes if it has them", () => {
  assert.deepEqual(axesFor([4, 3, 2], [2, 0]), [2, 0]);
  assert.deepEqual(axesFor([4, 3], [2, 0]), [0, 1]);
  assert.deepEqual(axesFor([5], [0, 1]), [0, -1]);
  for (const wrong of [[1, 1], [0, -1], [NaN, 0], [0.5, 1], [0]])
    assert.deepEqual(axesFor([4, 3], wrong), [0, 1]);
});

test("every dimension has a name", () => {
  assert.deepEqual([0, 2, 5, 6, 11].map(dimensionName), ["x", "z", "c", "d6", "d11"]);
  const hypercube = new Array<number>(7).fill(2);
  assert.equal(makeSlices(hypercube, 0, 1).tileName(16), "z = 0, a = 0, b = 0, c = 0, d6 = 1");
});

test("tiles fit the width", () => {
  for (const [radix, room] of [
    [[64, 32, 32], 1200],
    [[8, 8, 8], 340],
    [[3, 3, 3, 3], 300],
  ] as const) {
    const s = makeSlices(radix, 0, 1);
    const { columns, cell } = fitTiles(s, room, 500, 10, 14);
    assert.ok(columns * s.width * cell + (columns - 1) * 10 <= room);
    assert.ok(cell >= 1);
  }
});

const pairs = {
  from: Uint32Array.from([0, 1, 3]),
  to: Uint32Array.from([1, 1, 3]),
  bytes: Float32Array.from([10, 20, 40]),
  messages: Float32Array.from([1, 2, 4]),
};

test("pairs add up in cells and nothing is lost", () => {
  const whole = { x0: 0, x1: 4, y0: 0, y1: 4 };
  const fine = binPairs(pairs, whole, 4, 4);
  assert.equal(fine.bytes[0 * 4 + 1], 10);
  assert.equal(fine.messages[3 * 4 + 3], 4);
  assert.deepEqual([...binPairs(pairs, whole, 2, 2).bytes], [30, 0, 0, 40]);
  assert.deepEqual([...binPairs(pairs, { x0: 2, x1: 4, y0: 2, y1: 4 }, 1, 1).bytes], [40]);
  assert.deepEqual(cellsAlong(0.5, 3.2, 100), { first: 0, last: 4, count: 4 });
  assert.equal(cellsAlong(0, 5000, 640.7).count, 640);
});

test("logarithmic steps use the whole ramp", () => {
  const range = rangeOf(Float64Array.from([0, 1, 10, 100]));
  assert.deepEqual(range, { least: 1, most: 100 });
  assert.deepEqual(
    [0, 1, 10, 100].map((v) => logStep(v, range)),
    [0, 1, 128, 255],
  );
  assert.equal(logStep(7, { least: 7, most: 7 }), 255);
});

test("the busiest links come last, and only as many as asked for", () => {
  assert.deepEqual([...busiest(Uint8Array.from([5, 0, 255, 5, 7]), 3)], [3, 4, 2]);
  assert.equal(busiest(Uint8Array.from([1]), 10).length, 1);
});

test("the pointer finds points and lines within reach", () => {
  const at = { x: Float32Array.from([0, 100]), y: Float32Array.from([0, 0]) };
  assert.equal(nearestPoint(at, 97, 2, 5), 1);
  assert.equal(nearestPoint(at, 50, 2, 5), -1);
  assert.equal(nearestLine(at, links, Uint32Array.from([1, 0]), { x: 50, y: 3, reach: 5 }), 0);
  assert.equal(nearestLine(at, links, Uint32Array.from([0]), { x: 50, y: 9, reach: 5 }), -1);
});

test("ranks are found by node, and a place shows its lowest rank", () => {
  const nodeOf = Uint32Array.from([2, 0, 2]);
  const where = ranksByNode(nodeOf, 3);
  assert.deepEqual([...where.ranks.subarray(where.first[2], where.first[3])], [0, 2]);
  assert.deepEqual([...shadeOf(nodeOf, (n) => n, 3)], [128, 256, 0]);
  assert.equal(listRanks([]), "no rank");
  assert.equal(listRanks([4]), "rank 4");
  assert.equal(
    listRanks(Array.from({ length: 10 }, (_, i) => i)),
    "ranks 0, 1, 2, 3, 4, 5, 6, 7 and 2 more",
  );
});
