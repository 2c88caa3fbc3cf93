// SPDX-License-Identifier: Apache-2.0
// What must hold for every report, whatever is in it.
import assert from "node:assert/strict";
import { close, frame, id, numbers, open, ready, shot, tab } from "./harness.mjs";

const tabNames = (page) =>
  page.$$eval('[role="tab"]', (list) => list.map((t) => t.dataset.testid.slice(4)));

async function controlsHaveNames(page) {
  const nameless = await page.$$eval("button, select, input, canvas, svg.chart", (list) =>
    list
      .filter((e) => !(e.getAttribute("aria-label") || e.labels?.length || e.textContent.trim()))
      .map((e) => e.outerHTML.slice(0, 120)),
  );
  assert.deepEqual(nameless, [], "every control needs a name");
}

async function sliderMoves(page) {
  const slider = id(page, "slider");
  if (!(await slider.isVisible())) return; // A network without a series has no time.
  if (Number(await slider.getAttribute("max")) < 1) return;
  await slider.focus();
  await page.keyboard.press("Home");
  await frame(page);
  assert.equal((await numbers(page)).frame, 0);
  await page.keyboard.press("ArrowRight");
  await frame(page);
  assert.equal((await numbers(page)).frame, 1);
  const box = await slider.boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width - 4, box.y + box.height / 2, { steps: 4 });
  await page.mouse.up();
  await frame(page);
  const { frame: at, frames } = await numbers(page);
  assert.ok(at > frames * 0.7, `dragged to the end, the slider is at ${at} of ${frames}`);
}

async function fitsWidth(page, name) {
  const [inner, whole] = await page.evaluate(() => [
    window.innerWidth,
    document.documentElement.scrollWidth,
  ]);
  assert.ok(whole <= inner, `${name} is ${whole} wide in a window of ${inner}`);
}

export async function everyTab(browser, file, label, how) {
  const page = await open(browser, file, how);
  const names = await tabNames(page);
  assert.ok(names.length > 0);
  for (const name of names) {
    await tab(page, name);
    assert.equal(await page.locator("#view").getAttribute("data-view"), name);
    await controlsHaveNames(page);
    await fitsWidth(page, name);
    if (name === "network") await sliderMoves(page);
    await shot(page, `${label}-${name}`);
  }
  await close(page);
  return names.join(" ");
}

// Every canvas of a view has more than one colour, that is: something is drawn.
export async function somethingDrawn(browser, file) {
  const page = await open(browser, file);
  for (const name of await tabNames(page)) {
    await tab(page, name);
    await ready(page);
    const plain = await page.$$eval(
      "canvas",
      (list) =>
        list.filter((canvas) => {
          const copy = document.createElement("canvas");
          copy.width = copy.height = 64;
          copy.getContext("2d").drawImage(canvas, 0, 0, 64, 64);
          const words = new Uint32Array(
            copy.getContext("2d").getImageData(0, 0, 64, 64).data.buffer,
          );
          return words.every((w) => w === words[0]);
        }).length,
    );
    assert.equal(plain, 0, `an empty picture in ${name}`);
  }
  await close(page);
}

export function genericTests(browser, file, label) {
  return [
    [`${label}: every tab opens, wide`, () => everyTab(browser, file, `${label}-wide`, {})],
    [
      `${label}: every tab opens, dark`,
      () => everyTab(browser, file, `${label}-dark`, { dark: true }),
    ],
    [
      `${label}: every tab opens, on a phone`,
      () => everyTab(browser, file, `${label}-phone`, { width: 375, height: 740, touch: true }),
    ],
    [`${label}: every picture shows something`, () => somethingDrawn(browser, file)],
  ];
}
