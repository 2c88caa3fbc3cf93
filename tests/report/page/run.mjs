// SPDX-License-Identifier: Apache-2.0
// Opens reports in a browser and checks what is shown.
//   run.mjs --template report.html     pages of known content, made here, and all checks
//   run.mjs --page FILE...             what must hold for every report, on these
// WEFT_SHOTS=folder keeps pictures, WEFT_PAGE_TEST=word runs only some. No chromium: exit 77.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { genericTests } from "./generic.mjs";
import { launch, runAll } from "./harness.mjs";
import { liveTests } from "./live_tests.mjs";
import * as make from "./make.mjs";
import { hotTorus, networkTests } from "./network_tests.mjs";
import { viewTests } from "./view_tests.mjs";

function twoRuns(blocks) {
  const run = (name, scale, seed, frames, stepPs, hot, bin) => {
    const net = make.cube(blocks, [8, 8, 8]);
    return {
      name,
      kind: "sim",
      summary: make.summary(scale),
      remarks: seed === 1 ? ["no buffers: weft sim --series 5us"] : [],
      tables: make.tables(seed),
      charts: make.charts(seed),
      network: make.withoutEnds(net),
      heat: make.heat(blocks, net, { frames, stepPs, hot }),
      timeline: make.timeline(blocks, 512, 60 - 10 * seed),
      matrix: make.matrix(blocks, 512, bin),
      placement: make.placement(blocks, 512),
    };
  };
  return [
    run("linear", 1, 1, 24, 5e6, hotTorus, 1),
    run("mapped", 0.8, 2, 16, 6e6, (t) => (t * 31) % 512, 4),
  ];
}

// Names as the command line gives them, some of them long.
function manyRuns(count) {
  return Array.from({ length: count }, (_, i) => ({
    name: i % 3 === 2 ? `/home/user/experiments/2026/run-number-${i}` : `run${i}`,
    kind: i === 1 ? "run" : "sim",
    summary: make.summary(1 - i / 20),
    charts: make.latencies(i),
  }));
}

function onNetwork(blocks, name, net, ranks, top = 255) {
  return [
    {
      name,
      kind: "sim",
      summary: make.summary(1),
      network: make.withoutEnds(net),
      heat: make.heat(blocks, net, { frames: 10, stepPs: 5e6, hot: (t) => t, top }),
      placement: make.placement(blocks, ranks),
    },
  ];
}

function big(blocks) {
  const net = make.cube(blocks, [64, 32, 32]);
  return [
    {
      name: "big",
      kind: "sim",
      summary: make.summary(1),
      network: make.withoutEnds(net),
      heat: make.heat(blocks, net, { frames: 32, stepPs: 5e6, hot: (t) => t * 1001 }),
      timeline: make.timeline(blocks, 10_000, 400),
      matrix: make.matrix(blocks, 65_536, 64),
      placement: make.placement(blocks, 65_536),
    },
  ];
}

// Four ranks, of which rank 1 waits from 100 to 400 ns and sends from 600 to 1000 ns.
function small(blocks) {
  return [
    {
      name: "small",
      kind: "run",
      summary: [],
      timeline: {
        ranks: 4,
        tick_ps: 1000,
        end: 1000,
        calls: ["MPI_Send", "MPI_Waitall"],
        first: blocks.add(Uint32Array.from([0, 0, 2, 2, 2])),
        begin: blocks.add(Uint32Array.from([100, 600])),
        length: blocks.add(Uint32Array.from([300, 400])),
        call: blocks.add(Uint8Array.from([1, 0])),
        waited: blocks.add(Uint8Array.from([255, 0])),
        exact: true,
        bin_ticks: 0,
      },
    },
  ];
}

function makePages(template, folder) {
  const files = {};
  const page = (name, title, runs) => {
    const blocks = new make.Blocks();
    files[name] = join(folder, `${name}.html`);
    make.writePage(template, files[name], make.indexOf(title, runs(blocks)), blocks);
  };
  page("two", "halo exchange on a torus of 512 nodes, two placements", twoRuns);
  page("tree", "all-to-all on a fat tree", (b) =>
    onNetwork(b, "tree", make.tree(b, 16, 8, 8), 128),
  );
  page("graph", "all-to-all on a dragonfly", (b) =>
    onNetwork(b, "dragonfly", make.dragonfly(b, 9, 8), 144),
  );
  page("pale", "a fat tree that is hardly used", (b) =>
    onNetwork(b, "tree", make.tree(b, 16, 8, 8), 128, 51),
  );
  for (const count of [1, 2, 8]) {
    const runs = manyRuns(count);
    page(`runs${count}`, runs.map((run) => run.name).join(", "), () => runs);
  }
  page("sweep", "a sweep", () => [make.sweep(1000)]);
  page("sweeps", "sweeps with links of different rates", () => [make.sweep(1000), make.sweep(500)]);
  page("six", "a cube of six dimensions", (b) =>
    onNetwork(b, "six", make.cube(b, [4, 3, 4, 2, 3, 2]), 576),
  );
  page("seven", "a hypercube of seven dimensions", (b) =>
    onNetwork(b, "seven", make.cube(b, [2, 2, 2, 2, 2, 2, 2]), 128),
  );
  page("mixed", "a torus and a ring", (b) => [
    ...onNetwork(b, "torus", make.cube(b, [8, 8, 8]), 512),
    ...onNetwork(b, "ring", make.cube(b, [5]), 5),
  ]);
  page("ring", "a ring", (b) => onNetwork(b, "ring", make.cube(b, [16]), 16));
  page("found", "what a probe found", (b) => [
    {
      name: "probe",
      kind: "probe",
      summary: [],
      network: make.withoutEnds(make.dragonfly(b, 3, 4)),
    },
  ]);
  page("big", "65,536 nodes and 10,000 ranks", big);
  page("small", "four ranks", small);
  page("bare", "</script> & so on", () => [
    { name: "x", kind: "probe", summary: [], remarks: ["no series: weft sim --series 5us"] },
  ]);
  return files;
}

async function withTemplate(browser, template) {
  const folder = mkdtempSync(join(tmpdir(), "weft-page-"));
  try {
    const files = makePages(template, folder);
    const names = ["two", "tree", "graph", "six", "ring", "found", "big", "runs8", "sweep"];
    const generic = names.flatMap((name) => genericTests(browser, files[name], name));
    return await runAll([
      ...networkTests(browser, files),
      ...viewTests(browser, files),
      ...liveTests(browser, template),
      ...generic,
    ]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const [mode, ...rest] = process.argv.slice(2);
if ((mode !== "--template" && mode !== "--page") || rest.length === 0) {
  console.error("usage: run.mjs --template report.html | --page FILE...");
  process.exit(2);
}
const browser = await launch();
let failed = 0;
try {
  failed =
    mode === "--template"
      ? await withTemplate(browser, resolve(rest[0]))
      : await runAll(
          rest.flatMap((file) => genericTests(browser, resolve(file), basename(file, ".html"))),
        );
} finally {
  await browser.close();
}
process.exit(failed > 0 ? 1 : 0);
