// SPDX-License-Identifier: Apache-2.0
// The network view: known hot routers are where they should be, at the moment they should be.
import assert from "node:assert/strict";
import { close, frame, id, numbers, open, picture, ready, spot, text } from "./harness.mjs";

// Ends of the ramp: the light page runs viridis backwards.
export const hottest = { light: [68, 1, 84], dark: [253, 231, 37] };
const cold = [230, 232, 236];

const tipAt = async (page, { x, y }) => {
  await page.mouse.move(x, y);
  return await text(page, "tip");
};

export const hotTorus = (t) => (t * 9) % 512;
const nameOf = (r) => `(${r % 8}, ${(r >> 3) % 8}, ${r >> 6})`;

async function hotRouterMoves(browser, file) {
  const page = await open(browser, file, { hash: "tab=network&run=linear" });
  for (const [key, t] of [
    ["Home", 0],
    ["ArrowRight", 1],
    ["ArrowRight", 2],
    ["End", 23],
    ["ArrowLeft", 22],
  ]) {
    await page.locator("h1").click();
    await page.keyboard.press(key);
    await frame(page);
    assert.equal((await numbers(page)).frame, t);
    assert.match(await text(page, "moment"), new RegExp(`frame ${t + 1} of 24`));
    const at = await spot(page, "slices", hottest.light);
    assert.ok(at.count > 50, `no hot router in frame ${t}`);
    const tip = await tipAt(page, at);
    assert.ok(tip.startsWith(nameOf(hotTorus(t))), `${tip} is not ${nameOf(hotTorus(t))}`);
    assert.match(tip, /busiest link: 100 %/);
  }
  await close(page);
}

async function playsAndPauses(browser, file) {
  const page = await open(browser, file, { hash: "tab=network" });
  // Slow, so that it does not come to the end by itself; then fast, so that it does.
  await id(page, "speed").selectOption("2");
  await page.locator("h1").click();
  await page.keyboard.press("Home");
  await page.keyboard.press(" ");
  assert.equal(await text(page, "play"), "Pause");
  await page.waitForFunction(() => window.weftReport.frame >= 1);
  await page.keyboard.press(" ");
  assert.equal(await text(page, "play"), "Play");
  const { frame: stopped } = await numbers(page);
  await frame(page);
  await frame(page);
  assert.equal((await numbers(page)).frame, stopped);
  await id(page, "speed").selectOption("50");
  await id(page, "play").click();
  await page.waitForFunction(
    (n) => window.weftReport.frame === n - 1,
    (await numbers(page)).frames,
  );
  await page.waitForFunction(
    () => document.querySelector('[data-testid="play"]').textContent === "Play",
  );
  await close(page);
}

async function layersDiffer(browser, file) {
  const page = await open(browser, file, { hash: "tab=network&run=linear&t=5000000" });
  const whole = await picture(page, "slices");
  await id(page, "layer").selectOption("links.1");
  await frame(page);
  const along = await picture(page, "slices");
  assert.notEqual(along, whole);
  await id(page, "layer").selectOption("buffers");
  await id(page, "scale").selectOption("max");
  await frame(page);
  const at = await spot(page, "slices", hottest.light);
  assert.match(await tipAt(page, at), /^\(0, 0, 0\)98 % of the router's buffers/);
  assert.match(await text(page, "legend"), /share of the router's buffers/);
  await id(page, "layer").selectOption("links");
  await id(page, "axes").selectOption("2,0");
  await frame(page);
  assert.notEqual(await picture(page, "slices"), whole);
  const turned = await spot(page, "slices", hottest.light);
  assert.ok((await tipAt(page, turned)).startsWith("(0, 0, 0)"));
  await id(page, "average").check();
  await frame(page);
  assert.ok(await id(page, "slider").isDisabled());
  assert.equal((await spot(page, "slices", cold)).count, 0, "on average no link is idle");
  await close(page);
}

// A network that is hardly used looks so, unless the reader asks for the whole range of colours.
async function coloursAreAbsolute(browser, file) {
  const page = await open(browser, file, { hash: "tab=network&t=5000000" });
  assert.equal((await numbers(page)).scale, 1);
  assert.match(await text(page, "legend"), /0.*50 %.*100 %/);
  assert.equal((await spot(page, "lines", hottest.light)).count, 0, "a fifth is drawn as all");
  await id(page, "scale").selectOption("max");
  await frame(page);
  assert.ok(Math.abs((await numbers(page)).scale - 0.2) < 0.01);
  assert.match(await text(page, "legend"), /0.*10 %.*20 %/);
  assert.ok((await spot(page, "lines", hottest.light)).count > 20);
  await page.waitForFunction(() => location.hash.includes("scale=max"));
  await close(page);
}

async function stateIsInTheAddress(browser, file) {
  const page = await open(browser, file, {
    hash: "tab=network&run=linear&layer=buffers&t=15000000",
  });
  const { frame: t } = await numbers(page);
  assert.equal(t, 2);
  assert.equal(await id(page, "layer").inputValue(), "buffers");
  await id(page, "strip").click({ position: { x: 700, y: 30 } });
  await page.waitForFunction(
    () => Number(new URLSearchParams(location.hash.slice(1)).get("t")) > 3e7,
  );
  const moved = (await numbers(page)).frame;
  assert.ok(moved > 8);
  await page.reload();
  await ready(page);
  assert.equal((await numbers(page)).frame, moved);
  await close(page);
}

async function keyboardReadsRouters(browser, file) {
  const page = await open(browser, file, { hash: "tab=network&run=linear&t=5000000" });
  await id(page, "slices").focus();
  for (const key of ["ArrowRight", "ArrowRight", "ArrowDown"]) await page.keyboard.press(key);
  assert.ok((await text(page, "tip")).startsWith("(1, 1, 0)"));
  assert.match(await text(page, "said"), /^\(1, 1, 0\), busiest link/);
  await page.keyboard.press("Enter");
  assert.match(await text(page, "router-text"), /^\(1, 1, 0\)/);
  await id(page, "find").fill("(3,4,5)");
  await page.keyboard.press("Enter");
  assert.match(await text(page, "router-text"), /^\(3, 4, 5\)/);
  await page.keyboard.press("Enter");
  assert.match(await text(page, "router-text"), /^\(3, 4, 5\)/, "asked twice, still found");
  await id(page, "find").fill("nowhere");
  await id(page, "find-button").click();
  assert.equal(await id(page, "find").getAttribute("aria-invalid"), "true");
  assert.match(await text(page, "said"), /no router nowhere; .* 0 to 511 and names as \(0, 0, 0\)/);
  await close(page);
}

async function solidTurns(browser, file) {
  const page = await open(browser, file, {
    hash: "tab=network&run=linear&view=solid&t=40000000",
    dark: true,
  });
  await id(page, "least").fill("60");
  await frame(page);
  await frame(page);
  const hot = await spot(page, "solid", hottest.dark);
  assert.ok(hot.count > 10, "the hot router is seen once the cold ones are hidden");
  const before = await picture(page, "solid");
  const box = await id(page, "solid").boundingBox();
  await page.mouse.move(box.x + 200, box.y + 200);
  await page.mouse.down();
  await page.mouse.move(box.x + 320, box.y + 240, { steps: 5 });
  await page.mouse.up();
  await frame(page);
  const turned = await picture(page, "solid");
  assert.notEqual(turned, before);
  await id(page, "solid").focus();
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("+");
  await frame(page);
  assert.notEqual(await picture(page, "solid"), turned);
  await close(page);
}

async function treeShowsLevels(browser, file) {
  const page = await open(browser, file, { hash: "tab=network&t=20000000" });
  const at = await id(page, "lines").boundingBox();
  // Leaf 3 of 16 is hot in frame 3; it stands in the lowest row.
  const x = at.x + 26 + ((at.width - 52) * 3.5) / 16;
  const tip = await tipAt(page, { x, y: at.y + at.height - 26 });
  assert.match(tip, /^leaf3busiest link: 100 %leaf3 to spine\d/);
  // Half way up the line to spine 0 there is a link.
  const up = at.x + 26 + ((at.width - 52) * 0.5) / 8;
  const link = await tipAt(page, { x: (x + up) / 2, y: at.y + at.height / 2 });
  assert.match(link, /^leaf3 to spine0100 % of the link's rate/);
  const before = await picture(page, "lines");
  await page.mouse.wheel(0, -300);
  await frame(page);
  assert.notEqual(await picture(page, "lines"), before);
  await id(page, "lines").focus();
  await page.keyboard.press("0");
  await page.keyboard.press("n");
  assert.match(await text(page, "said"), /^leaf0,/);
  await close(page);
}

async function graphIsDrawn(browser, file) {
  const page = await open(browser, file, { hash: "tab=network&t=20000000" });
  await page.waitForFunction(() => document.querySelector("[data-settled='true']"));
  const hot = await spot(page, "lines", hottest.light);
  assert.ok(hot.count > 100, "the hot router and its links");
  await id(page, "find").fill("g0r3");
  await page.keyboard.press("Enter");
  assert.match(await text(page, "router-text"), /^g0r3, busiest link: 100 %/);
  assert.match(await text(page, "busiest"), /^Busiest link between routers: g0r3 to g0r0: 100 %/);
  const first = await picture(page, "lines");
  await page.reload();
  await ready(page);
  await page.waitForFunction(() => document.querySelector("[data-settled='true']"));
  await id(page, "find").fill("g0r3");
  await page.keyboard.press("Enter");
  await id(page, "lines").hover({ position: { x: 2, y: 2 } });
  await frame(page);
  assert.equal(await picture(page, "lines"), first, "the same network has the same drawing");
  await close(page);
}

async function twoRuns(browser, file) {
  const page = await open(browser, file, { hash: "tab=network&run=linear" });
  await id(page, "with").selectOption("mapped");
  await ready(page);
  assert.equal(await id(page, "slices").count(), 2);
  // 24 moments and 16, of which 30, 60 and 90 us are in both.
  assert.equal((await numbers(page)).frames, 37, "moments of both runs, each once");
  await id(page, "slider").focus();
  await page.keyboard.press("End");
  await frame(page);
  assert.match(await text(page, "router-text", 1), /This run ended at 96 us/);
  assert.equal((await spot(page, "slices", hottest.light, 1)).count, 0);
  assert.ok((await spot(page, "slices", hottest.light, 0)).count > 50);
  await id(page, "run").selectOption("mapped");
  await ready(page);
  assert.equal(await id(page, "slices").count(), 1, "a run is not compared with itself");
  await close(page);
}

// A torus and a ring of five: each has the axes it can have, whichever of them is first.
async function differentCubes(browser, file) {
  for (const [first, second] of [
    ["torus", "ring"],
    ["ring", "torus"],
  ]) {
    for (const name of ["network", "placement"]) {
      const hash = `tab=${name}&run=${first}&with=${second}&axes=0,2&t=20000000`;
      const page = await open(browser, file, { hash });
      assert.equal(await id(page, "axes").inputValue(), "0,2", "what fits the torus is kept");
      assert.equal(await id(page, "slices").count(), name === "network" ? 2 : 4);
      await id(page, "axes").selectOption("2,1");
      await frame(page);
      if (name === "network") {
        const tips = { torus: /^\(3, 0, 0\)/, ring: /^\(3\)/ };
        for (const [i, run] of [first, second].entries()) {
          const hot = await spot(page, "slices", hottest.light, i);
          assert.match(await tipAt(page, hot), tips[run]);
        }
      }
      await close(page);
    }
  }
}

async function sevenDimensions(browser, file) {
  const page = await open(browser, file, { hash: "tab=network&t=20000000" });
  const options = (name) => id(page, name).locator("option").allTextContents();
  assert.ok((await options("layer")).includes("links along d6"));
  assert.ok((await options("axes")).includes("d6 across, x down"));
  await id(page, "layer").selectOption("links.6");
  await id(page, "find").fill("3");
  await page.keyboard.press("Enter");
  assert.match(await text(page, "router-text"), /busiest link along d6: 100 %, .*, [+\u2212]d6$/);
  assert.doesNotMatch(await page.locator("body").innerText(), /undefined/);
  await close(page);
  const placed = await open(browser, file, { hash: "tab=placement" });
  const pairs = await id(placed, "axes").locator("option").allTextContents();
  assert.equal(pairs.length, 42);
  assert.ok(pairs.includes("x across, d6 down"));
  await close(placed);
}

async function foundNetwork(browser, file) {
  const page = await open(browser, file, { hash: "tab=network" });
  await page.waitForFunction(() => document.querySelector("[data-settled='true']"));
  assert.ok(!(await id(page, "slider").isVisible()));
  await id(page, "find").fill("g1r2");
  await page.keyboard.press("Enter");
  assert.equal(await text(page, "router-text"), "g1r2, nodes 12 to 13");
  await close(page);
}

async function bigTorus(browser, file) {
  const page = await open(browser, file, { hash: "tab=network", height: 1000 });
  await id(page, "slider").focus();
  await page.keyboard.press("Home");
  const times = [];
  for (let t = 0; t < 8; ++t) {
    times.push(
      await page.evaluate(async () => {
        const slider = document.querySelector('[data-testid="slider"]');
        const start = performance.now();
        slider.value = String(Number(slider.value) + 1);
        slider.dispatchEvent(new Event("input"));
        await new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0)));
        return performance.now() - start;
      }),
    );
  }
  assert.equal((await numbers(page)).frame, 8);
  assert.ok((await spot(page, "slices", hottest.light)).count > 0, "the hot router is seen");
  await id(page, "view").selectOption("solid");
  await frame(page);
  assert.equal(await id(page, "solid").count(), 1);
  await close(page);
  return `a step takes ${Math.round(times.sort((a, b) => a - b)[4])} ms`;
}

export function networkTests(browser, files) {
  return [
    ["network: the hot router moves with time", () => hotRouterMoves(browser, files.two)],
    ["network: plays and pauses by key and button", () => playsAndPauses(browser, files.two)],
    ["network: layers, axes and the average", () => layersDiffer(browser, files.two)],
    ["network: colours up to 100 % or the maximum", () => coloursAreAbsolute(browser, files.pale)],
    ["network: what is shown stands in the address", () => stateIsInTheAddress(browser, files.two)],
    [
      "network: routers are read by keyboard and by name",
      () => keyboardReadsRouters(browser, files.two),
    ],
    ["network: three dimensions turn and hide", () => solidTurns(browser, files.two)],
    ["network: a tree by level, with its links", () => treeShowsLevels(browser, files.tree)],
    ["network: a graph, drawn the same each time", () => graphIsDrawn(browser, files.graph)],
    ["network: two runs beside each other", () => twoRuns(browser, files.two)],
    ["network: cubes of different dimensions", () => differentCubes(browser, files.mixed)],
    ["network: seven dimensions have names", () => sevenDimensions(browser, files.seven)],
    [
      "network: without a series it is drawn all the same",
      () => foundNetwork(browser, files.found),
    ],
    ["network: 65,536 routers", () => bigTorus(browser, files.big)],
  ];
}
