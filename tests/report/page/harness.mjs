// SPDX-License-Identifier: Apache-2.0
// A browser without a window, pages that must stay silent, and helpers to look at what is drawn.
import assert from "node:assert/strict";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const places = process.env.WEFT_CHROMIUM
  ? [process.env.WEFT_CHROMIUM]
  : ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const options = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--no-first-run",
  "--use-angle=swiftshader",
  "--enable-unsafe-swiftshader",
];

export async function launch() {
  const executablePath = places.find((place) => existsSync(place));
  if (!executablePath) {
    console.log("skipped: no chromium (Debian: apt-get install chromium, or set WEFT_CHROMIUM)");
    process.exit(77);
  }
  const { chromium } = await import("playwright-core");
  return chromium.launch({ executablePath, args: options });
}

// A page that notes every console error and every request that leaves it.
export async function open(browser, address, how = {}) {
  const { hash = "", width = 1280, height = 900, dark = false, touch = false } = how;
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme: dark ? "dark" : "light",
    hasTouch: touch,
    acceptDownloads: true,
  });
  const page = await context.newPage();
  page.problems = [];
  page.on("console", (m) => m.type() === "error" && page.problems.push(`console: ${m.text()}`));
  page.on("pageerror", (error) => page.problems.push(`error: ${error.message}`));
  const base = address.includes("://") ? address : pathToFileURL(address).href;
  page.on("request", (request) => {
    const url = request.url();
    const own =
      /^(data|blob):/.test(url) ||
      url.split("#")[0] === base ||
      (how.own && url.startsWith(how.own));
    if (!own) page.problems.push(`request: ${url.slice(0, 200)}`);
  });
  await page.goto(`${base}#${hash}`);
  await ready(page);
  return page;
}

// Views that decode data say when they are drawn.
export async function ready(page) {
  await page.waitForFunction(() => {
    const view = document.getElementById("view");
    return (
      view &&
      (["summary", "charts", "tables"].includes(view.dataset.view) || view.dataset.ready === "true")
    );
  });
  await frame(page);
}

export const frame = (page) =>
  page.evaluate(
    () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done()))),
  );

export async function close(page) {
  assert.deepEqual(page.problems, [], "the page must cause no error and no request");
  await page.context().close();
}

export const id = (page, name) => page.locator(`[data-testid="${name}"]`);
export const tab = async (page, name) => {
  await id(page, `tab-${name}`).click();
  await ready(page);
};
export const numbers = (page) => page.evaluate(() => JSON.parse(JSON.stringify(window.weftReport)));
export const text = async (page, name, which = 0) =>
  (await id(page, name).nth(which).textContent()).trim();

// The place (CSS pixels of the window) and number of pixels of one colour in a canvas.
export function spot(page, testid, colour, which = 0) {
  return page.evaluate(
    ([name, [r, g, b], nth]) => {
      const canvas = document.querySelectorAll(`[data-testid="${name}"]`)[nth];
      const copy = document.createElement("canvas");
      copy.width = canvas.width;
      copy.height = canvas.height;
      copy.getContext("2d").drawImage(canvas, 0, 0);
      const { data } = copy.getContext("2d").getImageData(0, 0, copy.width, copy.height);
      const near = (i, v) => Math.abs(data[i] - v) <= 2;
      let count = 0;
      let x = 0;
      let y = 0;
      for (let i = 0; i < data.length; i += 4) {
        if (!(near(i, r) && near(i + 1, g) && near(i + 2, b) && data[i + 3] > 250)) continue;
        ++count;
        x += (i / 4) % copy.width;
        y += Math.floor(i / 4 / copy.width);
      }
      const box = canvas.getBoundingClientRect();
      const scale = box.width / canvas.width;
      return {
        count,
        x: box.left + (x / count + 0.5) * scale,
        y: box.top + (y / count + 0.5) * scale,
      };
    },
    [testid, colour, which],
  );
}

// The whole picture of a canvas as one number, to see whether it changed.
export function picture(page, testid, which = 0) {
  return page.evaluate(
    ([name, nth]) => {
      const text = document.querySelectorAll(`[data-testid="${name}"]`)[nth].toDataURL();
      let sum = 0;
      for (let i = 0; i < text.length; ++i) sum = (sum * 31 + text.charCodeAt(i)) >>> 0;
      return sum;
    },
    [testid, which],
  );
}

export async function shot(page, name) {
  const folder = process.env.WEFT_SHOTS;
  if (!folder) return;
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true });
}

// Runs tests one after the other; returns how many failed.
export async function runAll(tests) {
  let failed = 0;
  let ran = 0;
  const only = process.env.WEFT_PAGE_TEST;
  for (const [name, act] of tests) {
    if (only && !name.includes(only)) continue;
    ++ran;
    try {
      const note = await act();
      console.log(`ok      ${name}${note ? ` (${note})` : ""}`);
    } catch (error) {
      ++failed;
      console.log(`FAILED  ${name}\n${error.stack ?? error}`);
    }
  }
  if (ran === 0) console.log("FAILED  nothing was tested");
  return ran === 0 ? 1 : failed;
}
