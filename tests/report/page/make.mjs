// SPDX-License-Identifier: Apache-2.0
// Pages with known content, made from the format alone ("weft-report 1").
import { readFileSync, writeFileSync } from "node:fs";
import { deflateSync } from "node:zlib";

const types = new Map([
  [Uint8Array, "u8"],
  [Uint16Array, "u16"],
  [Uint32Array, "u32"],
  [Float32Array, "f32"],
]);

export class Blocks {
  list = [];

  add(array, shape = [array.length]) {
    const bytes = Buffer.from(array.buffer, array.byteOffset, array.byteLength);
    this.list.push(deflateSync(bytes, { level: 6 }).toString("base64"));
    return { block: this.list.length - 1, type: types.get(array.constructor), shape };
  }
}

// The same numbers everywhere: a small generator of Lehmer's.
export function random(seed) {
  let state = seed % 2147483647 || 1;
  return () => (state = (state * 48271) % 2147483647) / 2147483647;
}

export function fillTemplate(template, index, blocks) {
  const text = JSON.stringify(index).replaceAll("</", "<\\/");
  const scripts = blocks.list.map(
    (data, i) => `<script type="application/octet-stream" id="weft-block-${i}">${data}</script>`,
  );
  const all = [`<script type="application/json" id="weft-data">${text}</script>`, ...scripts].join(
    "\n",
  );
  return template.replace("<!--weft-data-->", () => all);
}

export function writePage(templateFile, file, index, blocks) {
  writeFileSync(file, fillTemplate(readFileSync(templateFile, "utf8"), index, blocks));
}

export const indexOf = (title, runs, more = {}) => ({
  format: "weft-report 1",
  title,
  made_by: "weft 0.1.0",
  live: false,
  runs,
  ...more,
});

export function cube(blocks, radix) {
  const routers = radix.reduce((a, b) => a * b, 1);
  const from = [];
  const to = [];
  const direction = [];
  let stride = 1;
  radix.forEach((size, d) => {
    for (let r = 0; r < routers; ++r) {
      const at = Math.floor(r / stride) % size;
      from.push(r, r);
      to.push(r + (((at + 1) % size) - at) * stride, r + (((at + size - 1) % size) - at) * stride);
      direction.push(2 * d, 2 * d + 1);
    }
    stride *= size;
  });
  return {
    name: `torus:${radix.join("x")}`,
    family: "cube",
    routers,
    nodes: routers,
    radix,
    wrap: radix.map(() => true),
    links: {
      from: blocks.add(Uint32Array.from(from)),
      to: blocks.add(Uint32Array.from(to)),
      direction: blocks.add(Uint8Array.from(direction)),
    },
    node_router: blocks.add(Uint32Array.from({ length: routers }, (_, i) => i)),
    ends: { from, to, direction },
  };
}

// Leaves with `down` hosts each; every leaf has a cable to every spine.
export function tree(blocks, leaves, spines, down) {
  const from = [];
  const to = [];
  for (let l = 0; l < leaves; ++l) {
    for (let s = 0; s < spines; ++s) {
      from.push(l, leaves + s);
      to.push(leaves + s, l);
    }
  }
  const routers = leaves + spines;
  return {
    name: `fat-tree ${leaves}+${spines}`,
    family: "tree",
    routers,
    nodes: leaves * down,
    names: Array.from({ length: routers }, (_, r) =>
      r < leaves ? `leaf${r}` : `spine${r - leaves}`,
    ),
    level: blocks.add(Uint8Array.from({ length: routers }, (_, r) => (r < leaves ? 0 : 1))),
    links: { from: blocks.add(Uint32Array.from(from)), to: blocks.add(Uint32Array.from(to)) },
    node_router: blocks.add(
      Uint32Array.from({ length: leaves * down }, (_, n) => Math.floor(n / down)),
    ),
    ends: { from, to },
  };
}

// Groups with all cables inside and one to each other group.
export function dragonfly(blocks, groups, size) {
  const from = [];
  const to = [];
  const cable = (a, b) => {
    from.push(a, b);
    to.push(b, a);
  };
  for (let g = 0; g < groups; ++g) {
    for (let i = 0; i < size; ++i)
      for (let j = i + 1; j < size; ++j) cable(g * size + i, g * size + j);
    for (let o = g + 1; o < groups; ++o) cable(g * size + ((o - 1) % size), o * size + (g % size));
  }
  const routers = groups * size;
  return {
    name: `dragonfly ${groups}x${size}`,
    family: "graph",
    routers,
    nodes: routers * 2,
    names: Array.from({ length: routers }, (_, r) => `g${Math.floor(r / size)}r${r % size}`),
    links: { from: blocks.add(Uint32Array.from(from)), to: blocks.add(Uint32Array.from(to)) },
    node_router: blocks.add(Uint32Array.from({ length: routers * 2 }, (_, n) => n >> 1)),
    ends: { from, to },
  };
}

// A jam that moves: in frame t the links out of router hot(t) are full, others as a soft wave.
export function heat(blocks, net, options) {
  const { frames, stepPs, hot, buffers = true, top = 255 } = options;
  const links = net.ends.from.length;
  const data = new Uint8Array(frames * links);
  const full = new Uint8Array(frames * net.routers);
  for (let t = 0; t < frames; ++t) {
    const level = 0.2 + 0.6 * Math.sin((Math.PI * (t + 1)) / (frames + 1));
    for (let i = 0; i < links; ++i) {
      const r = net.ends.from[i];
      const wave = 0.5 + 0.5 * Math.sin(r * 0.13 + t * 0.4) * Math.cos(r * 0.011 + i * 0.002);
      const share = r === hot(t) ? 1 : (160 * level * wave * wave) / 255;
      data[t * links + i] = Math.floor(top * share + 1e-9);
    }
    for (let r = 0; r < net.routers; ++r) {
      full[t * net.routers + r] = r === hot(t) ? 250 : Math.floor(40 * level);
    }
  }
  const layers = [
    {
      id: "links",
      title: "Links",
      per: "link",
      of: "share of the link's rate",
      data: blocks.add(data, [frames, links]),
    },
  ];
  if (buffers) {
    layers.push({
      id: "buffers",
      title: "Buffers",
      per: "router",
      of: "share of the router's buffers",
      data: blocks.add(full, [frames, net.routers]),
    });
  }
  return {
    begin_ps: 0,
    end_ps: Array.from({ length: frames }, (_, t) => (t + 1) * stepPs),
    layers,
  };
}

export const withoutEnds = ({ ends, ...net }) => net;

const callNames = [
  "MPI_Isend",
  "MPI_Irecv",
  "MPI_Waitall",
  "MPI_Allreduce",
  "MPI_Put",
  "MPI_Barrier",
  "MPI_Comm_split",
];

export function timeline(blocks, ranks, spansEach) {
  const next = random(7);
  const spans = ranks * spansEach;
  const first = new Uint32Array(ranks + 1);
  const begin = new Uint32Array(spans);
  const length = new Uint32Array(spans);
  const call = new Uint8Array(spans);
  const waited = new Uint8Array(spans);
  const period = 1000;
  for (let r = 0; r < ranks; ++r) {
    first[r + 1] = (r + 1) * spansEach;
    for (let k = 0; k < spansEach; ++k) {
      const i = r * spansEach + k;
      begin[i] = k * period + Math.floor(300 * next() + (200 * r) / ranks);
      length[i] = 100 + Math.floor(350 * next());
      call[i] = k % 10 === 9 ? 3 : k % 25 === 13 ? 4 : k % 3;
      waited[i] = call[i] === 2 ? 200 : call[i] === 3 ? 120 : 10;
    }
  }
  return {
    ranks,
    tick_ps: 1000,
    end: spansEach * period,
    calls: callNames,
    first: blocks.add(first),
    begin: blocks.add(begin),
    length: blocks.add(length),
    call: blocks.add(call),
    waited: blocks.add(waited),
    exact: true,
    bin_ticks: 0,
  };
}

// A halo exchange in a square of ranks, and rank 0 that gathers.
export function matrix(blocks, ranks, bin = 1) {
  const side = Math.round(Math.sqrt(ranks));
  const rows = Math.ceil(ranks / bin);
  const sums = new Map();
  const put = (a, b, bytes) => {
    const key = Math.floor(a / bin) * rows + Math.floor(b / bin);
    const entry = sums.get(key) ?? [0, 0];
    sums.set(key, [entry[0] + bytes, entry[1] + 1]);
  };
  for (let r = 0; r < ranks; ++r) {
    for (const step of [1, -1, side, -side])
      put(r, (r + step + ranks) % ranks, step % side ? 8192 : 65536);
    if (r > 0) put(r, 0, 128);
  }
  const keys = [...sums.keys()].sort((a, b) => a - b);
  return {
    ranks,
    bin,
    from: blocks.add(Uint32Array.from(keys, (k) => Math.floor(k / rows))),
    to: blocks.add(Uint32Array.from(keys, (k) => k % rows)),
    bytes: blocks.add(Float32Array.from(keys, (k) => sums.get(k)[0])),
    messages: blocks.add(Float32Array.from(keys, (k) => sums.get(k)[1])),
  };
}

export function placement(blocks, nodes) {
  const before = Uint32Array.from({ length: nodes }, (_, r) => r);
  const next = random(3);
  for (let i = nodes - 1; i > 0; --i) {
    const j = Math.floor(next() * (i + 1));
    [before[i], before[j]] = [before[j], before[i]];
  }
  return {
    before: blocks.add(before),
    after: blocks.add(Uint32Array.from({ length: nodes }, (_, r) => r)),
    before_name: "random",
    after_name: "greedy + refinement",
  };
}

export function charts(seed) {
  const next = random(seed);
  const latency = Array.from({ length: 40 }, (_, i) => [
    1e6 * 1.2 ** i,
    1 / (1 + Math.exp((12 + seed - i) / 2)),
  ]);
  const rates = Array.from({ length: 60 }, (_, i) => [
    i * 2e6,
    1e10 * (1 + Math.sin(i / 6 + seed)) + 1e9 * next(),
  ]);
  const sweep = (limit) =>
    Array.from({ length: 12 }, (_, i) => [
      (i + 1) / 12,
      40 + 8 / Math.max(0.02, limit - ((i + 1) / 12) * limit * 0.98),
    ]);
  return [
    {
      id: "latency",
      title: "Message latency",
      x: { label: "latency", unit: "ps", log: true },
      y: { label: "messages not later", unit: "share", log: false },
      series: [{ name: "all", points: latency, steps: true, dashed: false }],
      rules: [{ axis: "x", at: 6.0e7, label: "99 %" }],
    },
    {
      id: "rates",
      title: "Message rate",
      x: { label: "time", unit: "ps", log: false },
      y: { label: "bytes", unit: "B/s", log: false },
      series: [{ name: "sent", points: rates, steps: false, dashed: false }],
      rules: [],
    },
    {
      id: "sweep",
      title: "Latency over load",
      x: { label: "offered load", unit: "share", log: false },
      y: { label: "latency", unit: "cycles", log: true },
      series: [
        { name: "dimension order", points: sweep(1), steps: false, dashed: false },
        { name: "minimal adaptive", points: sweep(1.2 + seed / 10), steps: false, dashed: true },
      ],
      rules: [{ axis: "x", at: 0.9, label: "saturation" }],
    },
  ];
}

// Two series, and percentiles that lie close together.
export function latencies(i) {
  const points = Array.from({ length: 30 }, (_, k) => [1e6 * 1.1 ** k, (k * (i + 3)) % 17]);
  return ["latency", "wait"].map((id) => ({
    id,
    title: id,
    x: { label: "latency", unit: "ps", log: true },
    y: { label: "messages", unit: "1", log: false },
    series: ["sent", "received"].map((name) => ({ name, points, steps: true })),
    rules: [
      { axis: "x", at: 3e6, label: "p50" },
      { axis: "x", at: 5e6 * (1 + i / 400), label: "p99" },
      { axis: "x", at: 5.01e6 * (1 + i / 400), label: "max" },
      { axis: "y", at: 5 + i / 50, label: "limit" },
    ],
  }));
}

// A sweep that saturates at its third load.
export function sweep(cyclePs) {
  const axis = (label, unit, second, factor) => ({ label, unit, log: false, second: { label, unit: second, factor } });
  return {
    name: `cycle${cyclePs}`,
    kind: "traffic",
    summary: [],
    charts: [
      {
        id: "latency-load",
        title: "Latency over load",
        x: axis("offered load", undefined, "B/s", 8e12 / cyclePs),
        y: axis("mean latency", "cycles", "ps", cyclePs),
        series: [
          { name: "dor", points: [[0.1, 50], [0.2, 80], [0.3, null]], hollow: [2], steps: false },
        ],
        rules: [],
        hollow_means: "saturated: no steady latency",
      },
    ],
  };
}

export function summary(scale) {
  return [
    { key: "program", label: "Program", text: "halo 64 64" },
    {
      key: "program_time",
      label: "Program time",
      text: `${(138.7 * scale).toFixed(1)} us`,
      number: 138718400 * scale,
      better: "less",
    },
    {
      key: "rate",
      label: "Mean link rate",
      text: `${(2.5 / scale).toFixed(2)} GB/s`,
      number: 2.5e9 / scale,
      better: "more",
    },
    { key: "messages", label: "Messages", text: "12,288", number: 12288 },
  ];
}

export function tables(seed) {
  const next = random(seed + 1);
  return [
    {
      id: "calls",
      title: "MPI calls",
      columns: [
        { name: "call" },
        { name: "calls", unit: "1" },
        { name: "time", unit: "ps" },
        { name: "bytes", unit: "B" },
      ],
      rows: callNames.map((name, i) => [
        name,
        100 * (i + 1),
        Math.floor(1e9 * next()),
        i === 5 ? null : 4096 * (7 - i),
      ]),
      cut: 0,
    },
    {
      id: "links",
      title: "Busiest links",
      columns: [{ name: "link" }, { name: "share", unit: "share" }, { name: "rate", unit: "b/s" }],
      rows: Array.from({ length: 300 }, (_, i) => [
        `(${i % 8}, ${i >> 3}) +x`,
        1 - i / 400,
        4e10 * (1 - i / 400),
      ]),
      cut: 1236,
    },
  ];
}
