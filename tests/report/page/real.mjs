// SPDX-License-Identifier: Apache-2.0
// Reports of real runs, made by weft here and now, in a browser.
//   real.mjs WEFT SOURCE     WEFT: the program; SOURCE: the folder with examples/
// WEFT_SHOTS=folder keeps pictures, WEFT_PAGE_TEST=word runs only some. No chromium: exit 77.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { everyTab, somethingDrawn } from "./generic.mjs";
import { close, frame, id, launch, numbers, open, picture, runAll, shot, spot, tab, text } from "./harness.mjs";
import { hottest } from "./network_tests.mjs";

const [weftPath, source] = process.argv.slice(2).map((word) => resolve(word));
if (!source) {
  console.error("usage: real.mjs WEFT SOURCE");
  process.exit(2);
}
const folder = mkdtempSync(join(tmpdir(), "weft-real-"));
const weft = (...words) =>
  execFileSync(weftPath, words, { cwd: folder, encoding: "utf8", timeout: 120_000, stdio: ["ignore", "pipe", "pipe"] });
const fileOf = (name) => join(folder, `${name}.html`);

// What is recorded: cubes, a tree, a graph, two maps, a sweep, a probe, a real run.
function makeReports() {
  weft("cc", "-O2", join(source, "examples/halo3d/halo3d.c"), "-o", "halo3d");
  const sim = (net, name, ...more) =>
    weft("sim", "--net", net, "--record", name, "-q", ...more, "./halo3d", "2", "20000");
  sim("torus:16x16x16", "torus");
  sim("fattree:k=4,levels=3", "tree");
  sim("dragonfly:a=4,h=2,p=2", "graph");
  sim("torus:8x8x4", "before");
  weft("map", "--net", "torus:8x8x4", "--traffic", "before/traffic.txt", "--preset", "fast", "-q", "-o", "best.map", "--json", "map.json");
  sim("torus:8x8x4", "after", "--map", "best.map");
  weft("traffic", "--net", "mesh:4x4", "--vary", "routing=dor,valiant", "--vcs", "2", "--load", "0.1:0.3:0.1", "--json", "sweep.json", "--quiet");
  weft("probe", "--net", "fattree:k=4,levels=2", "--json", "probe.json", "--quiet");
  weft("run", "-n", "4", "--profile", "real", "-q", "./halo3d", "20", "65536");
  for (const name of ["torus", "tree", "graph", "real"]) weft("report", name, "-o", `${name}.html`, "-q");
  for (const name of ["sweep", "map", "probe"]) weft("report", `${name}.json`, "-o", `${name}.html`, "-q");
  weft("report", "before=before", "after=after", "-o", "compare.html", "-q");
}

const general = (browser) =>
  ["torus", "tree", "graph", "real", "sweep", "map", "probe", "compare"].flatMap((name) => [
    [`${name}: every tab opens`, () => everyTab(browser, fileOf(name), `real-${name}`, {})],
    [`${name}: every picture shows something`, () => somethingDrawn(browser, fileOf(name))],
  ]);

// Of a table that the command line prints: the row with this first cell.
const row = (run, table, key) =>
  weft("report", run, "--csv", table)
    .split("\n")
    .find((line) => line.startsWith(`${key},`))
    .split(",");

async function summaryIsThatOfTheCommandLine(browser) {
  const page = await open(browser, fileOf("torus"), { hash: "tab=summary" });
  const shown = await text(page, "summary");
  for (const key of ["program_time_ps", "messages", "packets", "latency.p99_ps"]) {
    const value = row("torus", "summary", key).at(-1);
    assert.ok(shown.includes(value), `${key}: ${value} is not on the page`);
  }
  await tab(page, "tables");
  assert.match(await page.locator("#view").textContent(), /MPI_Waitall/);
  await close(page);
}

// The strip and the drawing say the same as the series: at some moment a link is full.
async function heatIsThatOfTheSeries(browser) {
  const page = await open(browser, fileOf("torus"), { hash: "tab=network" });
  const points = weft("report", "torus", "--csv", "link-use")
    .split("\n")
    .filter((line) => line.startsWith("fullest link"))
    .map((line) => Number(line.split(",")[2]));
  const fullest = points.indexOf(Math.max(...points));
  const slider = id(page, "slider");
  assert.equal(Number(await slider.getAttribute("max")), points.length - 2, "a frame for each interval");
  await slider.focus();
  await page.keyboard.press("Home");
  const idle = await picture(page, "slices");
  for (let i = 0; i < fullest; ++i) await page.keyboard.press("ArrowRight");
  await frame(page);
  assert.equal((await numbers(page)).frame, fullest);
  assert.notEqual(await picture(page, "slices"), idle);
  const hot = await spot(page, "slices", hottest.light);
  assert.ok(hot.count > 0, "no full link is drawn");
  await shot(page, "real-torus-fullest");
  await close(page);
}

async function runsAreSwitched(browser) {
  const page = await open(browser, fileOf("compare"), { hash: "tab=summary" });
  const shown = await text(page, "summary");
  assert.match(shown, /before/);
  assert.match(shown, /better/);
  await tab(page, "network");
  const before = await picture(page, "slices");
  await id(page, "run").selectOption({ label: "after" });
  await frame(page);
  await page.waitForFunction(() => document.getElementById("view").dataset.ready === "true");
  await frame(page);
  assert.notEqual(await picture(page, "slices"), before);
  await close(page);
}

async function zoomsIn(browser) {
  const page = await open(browser, fileOf("real"), { hash: "tab=timeline" });
  const whole = await picture(page, "timeline");
  const box = await id(page, "timeline").boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await page.mouse.wheel(0, -600);
  await frame(page);
  assert.notEqual(await picture(page, "timeline"), whole);
  await close(page);
}

// The page fills while a simulation runs; closing it leaves the simulation alone.
async function followsASimulation(browser) {
  const words = ["sim", "--net", "torus:8x8x8", "-q", "./halo3d", "100", "65536"];
  const alone = weft(...words);
  const run = spawn(weftPath, ["sim", "--live", ...words.slice(1)], { cwd: folder });
  let said = "";
  let out = "";
  run.stdout.on("data", (data) => (out += data));
  run.stderr.on("data", (data) => (said += data));
  const ended = new Promise((done) => run.on("exit", (code) => done(code)));
  while (!/live at (\S+)/.test(said)) await new Promise((done) => setTimeout(done, 20));
  const address = /live at (\S+)/.exec(said)[1];
  assert.match(address, /^http:\/\/127\.0\.0\.1:\d+\/[0-9a-f]{32}\/$/);
  const page = await open(browser, address, { own: address, hash: "tab=network" });
  await page.waitForFunction(() => window.weftReport.frames >= 2, undefined, { timeout: 60_000 });
  const { frames } = await numbers(page);
  await page.waitForFunction((n) => window.weftReport.frames > n, frames, { timeout: 60_000 });
  assert.match(await text(page, "progress"), /^Running, simulated /);
  assert.match(await text(page, "rates"), /messages\/s/);
  await shot(page, "real-live");
  const other = await open(browser, address, { own: address, hash: "tab=network" });
  await close(page);
  await other.waitForFunction(() => /^Done/.test(document.querySelector('[data-testid="progress"]').textContent), undefined, {
    timeout: 120_000,
  });
  await tab(other, "summary");
  assert.match(await text(other, "summary"), /halo3d/);
  await close(other);
  assert.equal(await ended, 0, said);
  assert.equal(out, alone, "being looked at changes nothing");
}

const stranger = async (address) => (await fetch(address, { signal: AbortSignal.timeout(5000) })).status;

async function strangersAreTurnedAway() {
  const run = spawn(weftPath, ["sim", "--live", "--net", "torus:8x8x8", "-q", "./halo3d", "100000", "65536"], { cwd: folder });
  let said = "";
  run.stderr.on("data", (data) => (said += data));
  const ended = new Promise((done) => run.on("exit", (code) => done(code)));
  try {
    while (!/live at (\S+)/.test(said)) await new Promise((done) => setTimeout(done, 20));
    const address = /live at (\S+)/.exec(said)[1];
    assert.equal(await stranger(address), 200);
    const origin = address.split("/").slice(0, 3).join("/");
    for (const path of ["/", "/events", `/${"0".repeat(32)}/`, `/${"0".repeat(32)}/events`, "/../etc/passwd"])
      assert.equal(await stranger(origin + path), 404, path);
  } finally {
    run.kill("SIGINT");
    assert.equal(await ended, 130, "Ctrl-C ends it in order");
  }
  const left = readdirSync(tmpdir()).filter((name) => name.startsWith("weft-live-"));
  assert.deepEqual(left, [], "its files are taken away");
}

const browser = await launch();
let failed = 1;
try {
  makeReports();
  for (const name of readdirSync(folder).filter((n) => n.endsWith(".html")))
    assert.ok(statSync(join(folder, name)).size < 20e6, `${name} is larger than 20 MB`);
  failed = await runAll([
    ["the summary is that of the command line", () => summaryIsThatOfTheCommandLine(browser)],
    ["heat is that of the series", () => heatIsThatOfTheSeries(browser)],
    ["runs are switched", () => runsAreSwitched(browser)],
    ["a timeline zooms", () => zoomsIn(browser)],
    ["live: follows a simulation", () => followsASimulation(browser)],
    ["live: strangers are turned away", () => strangersAreTurnedAway()],
    ...general(browser),
  ]);
} finally {
  await browser.close();
  rmSync(folder, { recursive: true, force: true });
}
process.exit(failed > 0 ? 1 : 0);
