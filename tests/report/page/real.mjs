// SPDX-License-Identifier: Apache-2.0
// Reports of real runs, made by weft here and now, in a browser.
//   real.mjs WEFT SOURCE     WEFT: the program; SOURCE: the folder with examples/
// WEFT_SHOTS=folder keeps pictures, WEFT_PAGE_TEST=word runs only some. No chromium: exit 77.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { request } from "node:http";
import { connect } from "node:net";
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
const env = { ...process.env, TMPDIR: join(folder, "tmp") };
mkdirSync(env.TMPDIR);
const weft = (...words) =>
  execFileSync(weftPath, words, { cwd: folder, env, encoding: "utf8", timeout: 120_000, stdio: ["ignore", "pipe", "pipe"] });
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
  weft("run", "-n", "4", "--record", "real", "-q", "./halo3d", "20", "65536");
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
  weft("report", run, "--table", table)
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
  const points = weft("report", "torus", "--table", "link-use")
    .split("\n")
    .filter((line) => line.startsWith("fullest link"))
    .map((line) => Number(line.split(",")[2]));
  const busiest = points.indexOf(Math.max(...points));
  const idlest = points.indexOf(Math.min(...points.slice(0, -1)));
  const slider = id(page, "slider");
  assert.equal(Number(await slider.getAttribute("max")), points.length - 2, "a frame for each interval");
  await slider.focus();
  const show = async (moment) => {
    await page.keyboard.press("Home");
    for (let i = 0; i < moment; ++i) await page.keyboard.press("ArrowRight");
    await frame(page);
    assert.equal((await numbers(page)).frame, moment);
    return picture(page, "slices");
  };
  const idle = await show(idlest);
  assert.notEqual(await show(busiest), idle);
  const hot = await spot(page, "slices", hottest.light);
  assert.ok(hot.count > 0, "no full link is drawn");
  await shot(page, "real-torus-busiest");
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

// A simulation with a page, and where it is.
async function startLive(...words) {
  const run = spawn(weftPath, ["sim", "--live", "-q", ...words], { cwd: folder, env });
  const live = { run, said: "", out: "" };
  run.stdout.on("data", (data) => (live.out += data));
  run.stderr.on("data", (data) => (live.said += data));
  live.ended = new Promise((done) => run.on("exit", (code) => done(code)));
  let over = false;
  live.ended.then(() => (over = true));
  while (!/live at (\S+)/.test(live.said)) {
    assert.ok(!over, `no address: ${live.said}`);
    await new Promise((done) => setTimeout(done, 20));
  }
  live.address = /live at (\S+)/.exec(live.said)[1];
  return live;
}

// The page fills while a simulation runs, and says how it ended.
async function followsASimulation(browser) {
  const live = await startLive("--net", "torus:8x8x8", "./halo3d", "1000000", "65536");
  assert.match(live.address, /^http:\/\/127\.0\.0\.1:\d+\/[0-9a-f]{32}\/$/);
  const how = { own: live.address, hash: "tab=network" };
  const page = await open(browser, live.address, how);
  await page.waitForFunction(() => window.weftReport.frames >= 2, undefined, { timeout: 60_000 });
  const { frames } = await numbers(page);
  await page.waitForFunction((n) => window.weftReport.frames > n, frames, { timeout: 60_000 });
  assert.match(await text(page, "progress"), /^Running, simulated /);
  assert.match(await text(page, "rates"), /messages\/s/);
  await shot(page, "real-live");
  // Who comes late sees what was before.
  const other = await open(browser, live.address, how);
  await other.waitForFunction((n) => window.weftReport.frames >= n, frames, { timeout: 60_000 });
  await close(page);
  live.run.kill("SIGINT");
  await other.waitForFunction(
    () => /^Interrupted/.test(document.querySelector('[data-testid="progress"]').textContent),
    undefined,
    { timeout: 60_000 },
  );
  await tab(other, "summary");
  assert.match(await text(other, "summary"), /halo3d/);
  await close(other);
  assert.equal(await live.ended, 130, "Ctrl-C ends it in order");
}

async function changesNothing() {
  const words = ["--net", "torus:8x8x8", "./halo3d", "20", "65536"];
  const alone = weft("sim", "-q", ...words);
  const live = await startLive(...words);
  const events = await (await fetch(`${live.address}events`)).text();
  assert.equal(await live.ended, 0, live.said);
  assert.equal(live.out, alone);
  assert.match(events, /event: frame/);
  assert.match(events, /event: progress\ndata: [^\n]*"done"/);
  assert.match(events, /event: record/);
}

function isOverAtOnce() {
  for (let i = 0; i < 5; ++i) weft("sim", "--live", "--net", "mesh:2", "-q", "./halo3d", "0", "8");
}

const stranger = (address, path, host) =>
  new Promise((done, fail) => {
    const { hostname, port } = new URL(address);
    const headers = host ? { host } : {};
    const asked = request({ hostname, port, path, headers, timeout: 5000 }, (answer) => {
      answer.resume();
      done(answer.statusCode);
    });
    asked.on("error", fail);
    asked.end();
  });

async function strangersAreTurnedAway() {
  const live = await startLive("--net", "torus:8x8x8", "./halo3d", "1000000", "65536");
  try {
    const own = new URL(live.address).pathname;
    assert.equal(await stranger(live.address, own), 200);
    const wrong = `/${"0".repeat(32)}`;
    for (const path of ["/", "/events", `${wrong}/`, `${wrong}/events`, "/../etc/passwd"])
      assert.equal(await stranger(live.address, path), 404, path);
    for (const path of [own, `${own}events`])
      assert.equal(await stranger(live.address, path, "example.org"), 403, path);
    // Somebody who holds on to a connection does not hold up the end.
    const idle = connect(new URL(live.address).port, "127.0.0.1");
    idle.on("error", () => {});
    const drip = setInterval(() => idle.write("x"), 300);
    const began = Date.now();
    live.run.kill("SIGINT");
    assert.equal(await live.ended, 130);
    assert.ok(Date.now() - began < 30_000, "an idle connection holds up the end");
    clearInterval(drip);
    idle.destroy();
  } finally {
    live.run.kill("SIGKILL");
  }
  const left = readdirSync(env.TMPDIR).filter((name) => name.startsWith("weft-live-"));
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
    ["live: being looked at changes nothing", () => changesNothing()],
    ["live: a program may be over at once", async () => isOverAtOnce()],
    ["live: strangers are turned away", () => strangersAreTurnedAway()],
    ...general(browser),
  ]);
} finally {
  await browser.close();
  rmSync(folder, { recursive: true, force: true });
}
process.exit(failed > 0 ? 1 : 0);
