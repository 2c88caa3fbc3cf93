// SPDX-License-Identifier: Apache-2.0
// All other views: what they say, and that mouse, keys and touch do what they promise.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { close, frame, id, numbers, open, picture, ready, shot, tab, text } from "./harness.mjs";

async function summaryCompares(browser, file) {
  const page = await open(browser, file);
  const cells = await page.$$eval('[data-testid="summary"] tbody tr', (rows) =>
    rows.map((row) => [...row.children].map((c) => c.textContent)),
  );
  assert.deepEqual(cells[1], ["Program time", "138.7 us", "111.0 us\u221220 % better"]);
  assert.deepEqual(cells[2], ["Mean link rate", "2.50 GB/s", "3.13 GB/s+25 % better"]);
  assert.deepEqual(cells[3], ["Messages", "12,288", "12,288same"]);
  assert.match(await text(page, "remarks"), /no buffers: weft sim/);
  await close(page);
}

// What was predicted is neither better nor worse than what was measured.
async function summaryJudgesOnlyEqualWork(browser, file) {
  const page = await open(browser, file);
  const time = await page.$eval('[data-testid="summary"] tbody tr:nth-child(2)', (row) =>
    [...row.children].map((c) => c.textContent),
  );
  assert.equal(time[2], "131.8 us\u22125 %");
  assert.equal(time[3], "124.8 us\u221210 % better");
  assert.match(await text(page, "other-work"), /of run1 are not called better or worse/);
  await close(page);
}

// Boxes of the labels of lines, in pixels, and of the drawing that they must stay in.
const labelBoxes = (card) =>
  card.evaluate((element) => {
    const box = (e) => {
      const { left, right, top, bottom } = e.getBoundingClientRect();
      return { left, right, top, bottom, text: e.firstChild?.textContent };
    };
    return {
      frame: box(element.querySelector("svg.chart")),
      labels: [...element.querySelectorAll("text.rule")].map(box),
    };
  });

function assertApart({ frame: outer, labels }) {
  labels.forEach((a, i) => {
    assert.ok(a.left >= outer.left && a.right <= outer.right + 1, `${a.text} leaves the chart`);
    assert.ok(a.top >= outer.top - 1, `${a.text} leaves the chart`);
    for (const b of labels.slice(0, i)) {
      const meet =
        a.left < b.right - 1 &&
        b.left < a.right - 1 &&
        a.top < b.bottom - 3 &&
        b.top < a.bottom - 3;
      assert.ok(!meet, `"${a.text}" covers "${b.text}"`);
    }
  });
}

// Of each chart's lines the run (before the colon) and the colour.
const lineColours = (page, chart) =>
  id(page, `chart-${chart}`)
    .locator("path[data-series]")
    .evaluateAll((list) =>
      list.map((path) => [path.dataset.series.split(": ")[0], getComputedStyle(path).stroke]),
    );

async function coloursAreRuns(browser, files) {
  for (const [count, dark] of [
    [2, false],
    [8, false],
    [8, true],
  ]) {
    const page = await open(browser, files[`runs${count}`], { dark });
    const marks = await page.$$eval("thead .run-mark", (list) =>
      list.map((mark) => [
        mark.parentElement.childNodes[1].textContent,
        getComputedStyle(mark).backgroundColor,
      ]),
    );
    assert.equal(marks.length, count);
    assert.equal(new Set(marks.map(([, colour]) => colour)).size, count, "a colour for each run");
    await tab(page, "charts");
    for (const chart of ["latency", "wait"])
      assert.deepEqual(
        await lineColours(page, chart),
        marks.flatMap((mark) => [mark, mark]),
      );
    await close(page);
  }
}

async function labelsStayApart(browser, files) {
  for (const count of [1, 2, 8]) {
    for (const width of [1280, 760, 375]) {
      const page = await open(browser, files[`runs${count}`], { hash: "tab=charts", width });
      const card = id(page, "chart-latency");
      const boxes = await labelBoxes(card);
      assert.ok(boxes.labels.length >= 4, `${boxes.labels.length} labels`);
      assertApart(boxes);
      await shot(page, `labels-${count}-${width}`);
      await close(page);
    }
  }
}

async function sweepsHaveTwoUnits(browser, files) {
  for (const width of [1280, 375]) {
    const page = await open(browser, files.sweep, { hash: "tab=charts", width });
    const card = id(page, "chart-latency-load");
    const texts = await card.locator("svg.chart text").allTextContents();
    for (const wanted of ["mean latency (cycles)", "mean latency (ns)", "offered load (GB/s)"])
      assert.ok(texts.includes(wanted), `${wanted} is not among ${texts}`);
    // The saturated point is marked at the upper edge, where the line ends.
    const mark = await card.locator("circle.hollow").first().boundingBox();
    const axis = await card.locator(".second line.axis").last().boundingBox();
    assert.ok(Math.abs(mark.y + mark.height / 2 - axis.y) < 2, "the mark is not at the edge");
    assert.match(await card.locator(".hollow-note").textContent(), /saturated/);
    await card.locator("svg.chart").focus();
    for (let i = 0; i < 3; ++i) await page.keyboard.press("ArrowRight");
    assert.equal(await text(page, "said"), "dor: saturated: no steady latency at 0.3 (2.4 GB/s)");
    await shot(page, `sweep-${width}`);
    await close(page);
  }
  const page = await open(browser, files.sweeps, { hash: "tab=charts" });
  const texts = await id(page, "chart-latency-load").locator("svg.chart text").allTextContents();
  assert.ok(texts.includes("mean latency (ns)") && !texts.includes("mean latency (cycles)"), texts);
  await close(page);
}

async function tabsByKeyboard(browser, file) {
  const page = await open(browser, file);
  await page.keyboard.press("Tab");
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement.id), "tab-summary");
  const outline = await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle);
  assert.equal(outline, "solid", "focus is seen");
  await page.keyboard.press("ArrowRight");
  await ready(page);
  assert.equal(await page.evaluate(() => document.activeElement.id), "tab-network");
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("ArrowLeft");
  await ready(page);
  assert.equal(await page.locator("#view").getAttribute("data-view"), "tables");
  await close(page);
}

async function chartsOverlay(browser, file) {
  const page = await open(browser, file, { hash: "tab=charts" });
  const card = id(page, "chart-sweep");
  const names = () =>
    card.locator("path[data-series]").evaluateAll((list) => list.map((p) => p.dataset.series));
  const all = [
    "linear: dimension order",
    "linear: minimal adaptive",
    "mapped: dimension order",
    "mapped: minimal adaptive",
  ];
  assert.deepEqual(await names(), all);
  await card.getByRole("button", { name: all[1] }).click();
  assert.deepEqual(
    await names(),
    all.filter((_, i) => i !== 1),
  );
  await card.getByRole("button", { name: all[1] }).press("Enter");
  assert.deepEqual(await names(), all);
  const ticks = () => card.locator("svg.chart text").allTextContents();
  const log = await ticks();
  await card.locator('[data-testid="log-y"]').uncheck();
  assert.notDeepEqual(await ticks(), log);
  const rates = id(page, "chart-rates");
  await rates.scrollIntoViewIfNeeded();
  const box = await rates.locator("svg.chart").boundingBox();
  const reset = rates.locator('[data-testid="reset-zoom"]');
  assert.ok(!(await reset.isVisible()));
  await page.mouse.move(box.x + 150, box.y + 60);
  assert.match(await text(page, "tip"), /^linear: sent: [\d.]+ GB\/s at [\d.]+ us/);
  const whole = await rates.locator("svg.chart text").allTextContents();
  await page.mouse.down();
  await page.mouse.move(box.x + 300, box.y + 180, { steps: 4 });
  await page.mouse.up();
  assert.notDeepEqual(await rates.locator("svg.chart text").allTextContents(), whole);
  await reset.click();
  assert.deepEqual(await rates.locator("svg.chart text").allTextContents(), whole);
  await rates.locator("svg.chart").focus();
  await page.keyboard.press("ArrowRight");
  assert.match(await text(page, "said"), /linear: sent: .* at 0 s/);
  await close(page);
}

const span = (w) => [w.x1 - w.x0, w.y1 - w.y0];

async function timelineZooms(browser, file) {
  const page = await open(browser, file, { hash: "tab=timeline" });
  const first = (await numbers(page)).window;
  assert.deepEqual(span(first), [400 * 1000 * 1000, 10_000]);
  const before = await picture(page, "timeline");
  const box = await id(page, "timeline").boundingBox();
  await page.mouse.move(box.x + 400, box.y + 200);
  const times = [];
  for (let i = 0; i < 12; ++i) {
    await page.mouse.wheel(0, -240);
    await frame(page);
    times.push((await numbers(page)).drawMs);
  }
  const near = (await numbers(page)).window;
  assert.ok(
    span(near)[0] < span(first)[0] / 50 && span(near)[1] === 10_000,
    "the wheel zooms in time only",
  );
  assert.notEqual(await picture(page, "timeline"), before);
  await page.keyboard.down("Shift");
  for (let i = 0; i < 12; ++i) await page.mouse.wheel(0, -240);
  await page.keyboard.up("Shift");
  await frame(page);
  assert.ok(span((await numbers(page)).window)[1] < 200, "with Shift it zooms in ranks");
  await page.mouse.move(box.x + 405, box.y + 205);
  assert.match(await text(page, "tip"), /^rank \d+/);
  const here = (await numbers(page)).window;
  await page.mouse.down();
  await page.mouse.move(box.x + 305, box.y + 105, { steps: 4 });
  await page.mouse.up();
  await frame(page);
  const dragged = (await numbers(page)).window;
  assert.ok(dragged.x0 > here.x0 && dragged.y0 > here.y0);
  await id(page, "timeline").focus();
  await page.keyboard.press("-");
  await page.keyboard.press("PageUp");
  await page.keyboard.press("ArrowLeft");
  await frame(page);
  const keyed = (await numbers(page)).window;
  assert.ok(span(keyed)[0] > span(dragged)[0] && span(keyed)[1] > span(dragged)[1]);
  await id(page, "whole").click();
  await frame(page);
  assert.deepEqual((await numbers(page)).window.x1, first.x1);
  await close(page);
  return `drawing takes ${Math.round(times.sort((a, b) => a - b)[6])} ms`;
}

// With two spans known exactly, colours and texts are known too.
async function timelineIsTrue(browser, file) {
  const page = await open(browser, file, { hash: "tab=timeline" });
  const box = await id(page, "timeline").boundingBox();
  const area = { left: box.x + 62, width: box.width - 74, top: box.y + 6, height: box.height - 50 };
  const at = async (share, rank) => {
    const x = area.left + share * area.width;
    const y = area.top + ((rank + 0.5) / 4) * area.height;
    await page.mouse.move(x, y);
    return text(page, "tip");
  };
  assert.equal(
    await at(0.25, 1),
    "rank 1: MPI_Waitallbegins at 100 nstakes 300 nswaits for 100 % of it",
  );
  assert.equal(
    await at(0.75, 1),
    "rank 1: MPI_Sendbegins at 600 nstakes 400 nswaits for 0 % of it",
  );
  assert.match(await at(0.5, 1), /^rank 1computing at 500\.?\d* ns/);
  const colour = (share, rank) =>
    page.evaluate(
      ([u, r]) => {
        const canvas = document.querySelector('[data-testid="timeline"]');
        const x = 62 + u * (canvas.clientWidth - 74);
        const y = 6 + ((r + 0.5) / 4) * (canvas.clientHeight - 50);
        return [
          ...canvas.getContext("2d").getImageData(Math.round(x), Math.round(y), 1, 1).data,
        ].slice(0, 3);
      },
      [share, rank],
    );
  assert.deepEqual(await colour(0.75, 1), [0, 114, 178], "point-to-point");
  assert.deepEqual(await colour(0.5, 1), [255, 255, 255], "computing");
  await close(page);
}

async function matrixZooms(browser, file) {
  const page = await open(browser, file, { hash: "tab=matrix&run=linear" });
  const box = await id(page, "matrix").boundingBox();
  const side = box.width - 62 - 16;
  const at = async (from, to) => {
    const { window: w } = await numbers(page);
    await page.mouse.move(
      box.x + 62 + ((to + 0.5 - w.x0) / (w.x1 - w.x0)) * side,
      box.y + 8 + ((from + 0.5 - w.y0) / (w.y1 - w.y0)) * side,
    );
    return text(page, "tip");
  };
  assert.equal(await at(100, 101), "from rank 100to rank 1018.192 kB1 messages");
  assert.equal(await at(100, 300), "from rank 100to rank 3000 B0 messages");
  assert.match(await text(page, "legend"), /128 B.*65\.7 kB/);
  await at(100, 101);
  for (let i = 0; i < 6; ++i) await page.mouse.wheel(0, -240);
  await frame(page);
  assert.ok(span((await numbers(page)).window)[0] < 100);
  assert.equal(await at(100, 101), "from rank 100to rank 1018.192 kB1 messages");
  await id(page, "what").selectOption("messages");
  await frame(page);
  assert.match(await text(page, "legend"), /messages per cell/);
  await id(page, "whole").click();
  await id(page, "with").selectOption("mapped");
  await ready(page);
  assert.equal(await id(page, "matrix").count(), 2);
  await close(page);
}

async function placementMarks(browser, file) {
  const page = await open(browser, file, { hash: "tab=placement&run=linear" });
  await id(page, "rank").fill("73");
  assert.match(await text(page, "rank-text", 0), /^rank 73: node \d+/);
  assert.equal(await text(page, "rank-text", 1), "rank 73: node 73, (1, 1, 1)");
  const box = await id(page, "slices").nth(1).boundingBox();
  await page.mouse.move(box.x + 4, box.y + 20);
  assert.match(await text(page, "tip"), /^rank 0\(0, 0, 0\)node 0/);
  await page.mouse.click(box.x + 4, box.y + 20);
  assert.equal(await id(page, "rank").inputValue(), "0");
  assert.match(await text(page, "rank-text", 0), /^rank 0: node \d+/);
  await id(page, "no-rank").click();
  assert.equal(await text(page, "rank-text", 0), "");
  await close(page);
}

async function placementOnTree(browser, file) {
  const page = await open(browser, file, { hash: "tab=placement&rank=9" });
  assert.equal(await text(page, "rank-text", 1), "rank 9: node 9, leaf1");
  const box = await id(page, "lines").nth(1).boundingBox();
  await page.mouse.move(box.x + 26 + ((box.width - 52) * 9.5) / 128, box.y + box.height - 26);
  assert.equal(await text(page, "tip"), "rank 9node 9");
  await close(page);
}

async function tablesSortAndSave(browser, file) {
  const page = await open(browser, file, { hash: "tab=tables" });
  const card = id(page, "table-calls").first();
  const column = (i) => card.locator(`tbody tr td:nth-child(${i})`).allTextContents();
  await card.getByRole("button", { name: "calls", exact: true }).click();
  assert.equal((await column(1))[0], "MPI_Comm_split");
  await card.getByRole("button", { name: "calls", exact: true }).press("Enter");
  assert.equal((await column(1))[0], "MPI_Isend");
  assert.equal(await card.locator("th").nth(1).getAttribute("aria-sort"), "ascending");
  await card.locator('[data-testid="filter"]').fill("wait");
  assert.deepEqual(await column(1), ["MPI_Waitall"]);
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    card.locator('[data-testid="csv"]').click(),
  ]);
  assert.equal(download.suggestedFilename(), "linear-calls.csv");
  const saved = readFileSync(await download.path(), "utf8").split("\n");
  assert.equal(saved[0], "call,calls,time (ps),bytes (B)");
  assert.match(saved[1], /^MPI_Waitall,300,\d+,20480$/);
  const [json] = await Promise.all([page.waitForEvent("download"), id(page, "json").click()]);
  assert.equal(JSON.parse(readFileSync(await json.path(), "utf8")).runs.length, 2);
  const links = id(page, "table-links").first();
  assert.equal(await links.locator("tbody tr").count(), 200);
  await links.locator('[data-testid="more"]').click();
  assert.equal(await links.locator("tbody tr").count(), 300);
  assert.match(await links.locator(".note").textContent(), /1,236 more rows/);
  await close(page);
}

function contrast(a, b) {
  const light = (hex) =>
    [1, 3, 5]
      .map((i) => parseInt(hex.slice(i, i + 2), 16) / 255)
      .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
      .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const [low, high] = [light(a), light(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
}

async function themes(browser, file) {
  const page = await open(browser, file, { dark: true });
  const theme = () => page.evaluate(() => document.documentElement.dataset.theme);
  const colours = () =>
    page.evaluate(() => {
      const style = getComputedStyle(document.documentElement);
      return Object.fromEntries(
        ["page", "panel", "ink", "soft", "accent", "good", "bad"].map((name) => [
          name,
          style
            .getPropertyValue(`--${name}`)
            .trim()
            .replace(/^#(.)(.)(.)$/, "#$1$1$2$2$3$3"),
        ]),
      );
    });
  const readable = async () => {
    const c = await colours();
    for (const ink of ["ink", "soft", "accent", "good", "bad"]) {
      for (const ground of ["page", "panel"]) {
        const ratio = contrast(c[ink], c[ground]);
        assert.ok(ratio >= 4.5, `${ink} on ${ground} in ${await theme()}: ${ratio.toFixed(2)}`);
      }
    }
  };
  assert.equal(await theme(), "dark");
  await readable();
  await id(page, "theme").click();
  assert.equal(await theme(), "light");
  await readable();
  await page.waitForFunction(() => location.hash.includes("theme=light"));
  await page.reload();
  await ready(page);
  assert.equal(await theme(), "light", "the choice is kept in the address");
  assert.equal(
    await page.evaluate(() => localStorage.length + sessionStorage.length + document.cookie.length),
    0,
  );
  await close(page);
}

async function phone(browser, file) {
  const page = await open(browser, file, {
    hash: "tab=network&run=linear&with=mapped&t=5000000",
    width: 375,
    height: 740,
    touch: true,
  });
  const boxes = await Promise.all([0, 1].map((i) => id(page, "slices").nth(i).boundingBox()));
  assert.ok(boxes[1].y > boxes[0].y + boxes[0].height, "runs stand below each other");
  await id(page, "slices")
    .first()
    .tap({ position: { x: 4, y: 20 } });
  assert.match(await text(page, "router-text"), /^\(0, 0, 0\), busiest link: 100 %/);
  await tab(page, "timeline");
  const before = (await numbers(page)).window;
  await id(page, "timeline").first().scrollIntoViewIfNeeded();
  const box = await id(page, "timeline").first().boundingBox();
  await pinch(page, box.x + 180, box.y + 150);
  await frame(page);
  assert.ok(span((await numbers(page)).window)[0] < span(before)[0] * 0.8, "two fingers zoom");
  await close(page);
}

async function pinch(page, x, y) {
  const client = await page.context().newCDPSession(page);
  const touch = (type, apart) =>
    client.send("Input.dispatchTouchEvent", {
      type,
      touchPoints:
        type === "touchEnd"
          ? []
          : [
              { x: x - apart, y, id: 1 },
              { x: x + apart, y, id: 2 },
            ],
    });
  await touch("touchStart", 20);
  for (const apart of [30, 45, 60, 80]) await touch("touchMove", apart);
  await touch("touchEnd", 80);
}

async function nothingToShow(browser, file) {
  const page = await open(browser, file);
  assert.deepEqual(await page.$$eval('[role="tab"]', (list) => list.map((t) => t.textContent)), [
    "Summary",
  ]);
  assert.match(await text(page, "remarks"), /no series/);
  assert.equal(await page.title(), "<\/script> & so on \u2013 weft");
  await close(page);
}

// Who leaves a view while it decodes must not see it finish in the place of the next one.
async function leftWhileDecoding(browser, file) {
  for (const name of ["network", "timeline", "matrix", "placement"]) {
    const page = await open(browser, file);
    await page.evaluate((wanted) => {
      const view = document.getElementById("view");
      window.finished = 0;
      new MutationObserver((list) => {
        if (view.dataset.ready === "true") window.finished += list.length;
      }).observe(view, { attributeFilter: ["data-ready"] });
      for (const next of [wanted, "summary"])
        document.querySelector(`[data-testid="tab-${next}"]`).click();
    }, name);
    // The third view needs the same arrays, so the first has them when it is ready.
    await tab(page, name);
    assert.equal(await page.evaluate(() => window.finished), 1, `${name} was finished twice`);
    await close(page);
  }
}

async function licencesAreTold(browser, file) {
  const page = await open(browser, file);
  const place = id(page, "licences");
  assert.ok(!(await place.locator("pre").isVisible()));
  await place.locator("summary").click();
  // The text comes when the browser says that the section is open.
  await page.waitForFunction(
    () => document.querySelector('[data-testid="licences"] pre').textContent !== "",
  );
  const told = await place.locator("pre").innerText();
  const names = [...told.matchAll(/^([a-z0-9-]+) \d+\.\d+\.\d+, (?:MIT|ISC|BSD-3-Clause)$/gm)].map(
    (match) => match[1],
  );
  for (const name of ["d3-array", "d3-force", "d3-scale-chromatic", "d3-shape", "three"])
    assert.ok(names.includes(name), `${name} is not among ${names}`);
  assert.deepEqual(names, [...names].sort());
  const grants = told.match(/Permission (is hereby granted|to use, copy, modify)|Redistribution/g);
  assert.ok(grants.length >= names.length, "each has its whole text");
  assert.ok(told.match(/^Copyright /gm).length >= names.length, "and names its authors");
  await close(page);
}

export function viewTests(browser, files) {
  return [
    ["summary: differences in words and signs", () => summaryCompares(browser, files.two)],
    ["summary: judges equal work only", () => summaryJudgesOnlyEqualWork(browser, files.runs8)],
    ["charts: a colour is a run", () => coloursAreRuns(browser, files)],
    ["charts: labels of lines stay apart", () => labelsStayApart(browser, files)],
    ["charts: sweeps in cycles and in ns", () => sweepsHaveTwoUnits(browser, files)],
    ["tabs: by keyboard, with visible focus", () => tabsByKeyboard(browser, files.two)],
    ["charts: overlay, hide, log, zoom, read", () => chartsOverlay(browser, files.two)],
    ["timeline: spans are where and what they are", () => timelineIsTrue(browser, files.small)],
    ["timeline: 10,000 ranks zoom and move", () => timelineZooms(browser, files.big)],
    ["traffic: pairs are read, zoom keeps them", () => matrixZooms(browser, files.two)],
    ["placement: a rank is marked in both", () => placementMarks(browser, files.two)],
    ["placement: nodes of a tree", () => placementOnTree(browser, files.tree)],
    ["tables: sort, filter, save", () => tablesSortAndSave(browser, files.two)],
    ["page: light and dark are readable and kept", () => themes(browser, files.two)],
    ["page: a phone, by touch", () => phone(browser, files.two)],
    ["page: a view that is left stays left", () => leftWhileDecoding(browser, files.two)],
    ["page: the libraries' licences", () => licencesAreTold(browser, files.bare)],
    ["page: only what is there has a tab", () => nothingToShow(browser, files.bare)],
  ];
}
