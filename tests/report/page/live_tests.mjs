// SPDX-License-Identifier: Apache-2.0
// A page that is served while a run goes on: frames come in, the end is said, nothing is lost.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { deflateSync } from "node:zlib";
import {
  Blocks,
  charts,
  cube,
  fillTemplate,
  indexOf,
  summary,
  tables,
  withoutEnds,
} from "./make.mjs";
import { close, frame, id, numbers, open, shot, spot, tab, text } from "./harness.mjs";
import { hottest } from "./network_tests.mjs";

const token = "secret";
const packed = (bytes) => deflateSync(bytes).toString("base64");

function livePage(template) {
  const blocks = new Blocks();
  const net = cube(blocks, [4, 4, 4]);
  const layer = (name, title, per, width) => ({
    id: name,
    title,
    per,
    of: `share of the ${per}'s`,
    data: blocks.add(new Uint8Array(0), [0, width]),
  });
  const heat = {
    begin_ps: 0,
    end_ps: [],
    layers: [
      layer("links", "Links", "link", net.ends.from.length),
      layer("buffers", "Buffers", "router", 64),
    ],
  };
  const run = {
    name: "halo",
    kind: "sim",
    summary: [],
    remarks: [],
    tables: [],
    charts: [],
    network: withoutEnds(net),
    heat,
  };
  const html = fillTemplate(
    readFileSync(template, "utf8"),
    indexOf("halo, running", [run], { live: true }),
    blocks,
  );
  return { html, net };
}

// Serves the page and hands each stream of events to the test.
async function serve(template) {
  const { html, net } = livePage(template);
  const streams = [];
  const server = createServer((request, response) => {
    if (request.url === `/${token}/`) {
      response.writeHead(200, { "content-type": "text/html" }).end(html);
    } else if (request.url === `/${token}/events`) {
      response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
      response.write("retry: 100\n\n");
      streams.push(response);
    } else {
      response.writeHead(404).end();
    }
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  const origin = `http://127.0.0.1:${server.address().port}/${token}/`;
  const send = (name, data) =>
    streams.at(-1).write(`event: ${name}\ndata: ${JSON.stringify(data)}\n\n`);
  const sendFrame = (t) => {
    const links = Buffer.alloc(net.ends.from.length, 20);
    net.ends.from.forEach((from, i) => from === t % 64 && (links[i] = 255));
    send("frame", {
      end_ps: (t + 1) * 1e6,
      links: packed(links),
      buffers: packed(Buffer.alloc(64, 10)),
      messages_per_s: 1.5e6,
      byte_per_s: 2.5e9,
    });
  };
  const stop = () => {
    for (const stream of streams) stream.destroy();
    server.close();
  };
  return { origin, streams, send, sendFrame, stop };
}

const framesAre = (page, count) =>
  page.waitForFunction((n) => window.weftReport.frames === n, count);

async function follows(browser, template) {
  const server = await serve(template);
  const page = await open(browser, server.origin, { own: server.origin });
  assert.match(await text(page, "moment"), /no frame yet/);
  await page.waitForFunction(() => document.querySelector('[data-testid="progress"]'));
  for (let t = 0; t < 3; ++t) server.sendFrame(t);
  server.send("progress", {
    state: "running",
    share: 0.42,
    text: "simulated 3 us",
    elapsed_s: 12,
    left_s: 75,
  });
  await framesAre(page, 3);
  assert.equal((await numbers(page)).frame, 2, "the newest frame is shown");
  assert.equal(
    await text(page, "progress"),
    "Running, simulated 3 us, 42 %, 12 s so far, about 1 min 15 s left",
  );
  assert.equal(await text(page, "rates"), "1.5 M messages/s, 2.5 GB/s");
  const hot = await spot(page, "slices", hottest.light);
  await page.mouse.move(hot.x, hot.y);
  assert.match(await text(page, "tip"), /^\(2, 0, 0\)/);
  await shot(page, "live-running");
  await id(page, "slider").focus();
  await page.keyboard.press("Home");
  server.sendFrame(3);
  await framesAre(page, 4);
  assert.equal((await numbers(page)).frame, 0, "who looks back is left in peace");
  server.send("progress", { state: "done", text: "simulated 4 us", elapsed_s: 20 });
  server.send("record", { run: { summary: summary(1), tables: tables(1), charts: charts(1) } });
  server.streams.at(-1).end();
  await page.waitForFunction(() => document.querySelector('[data-testid="tab-charts"]'));
  assert.equal(await text(page, "progress"), "Done, simulated 4 us, 20 s so far");
  await tab(page, "summary");
  assert.match(await text(page, "summary"), /138\.7 us/);
  await new Promise((done) => setTimeout(done, 400));
  assert.equal(server.streams.length, 1, "after the end it does not ask again");
  await close(page);
  server.stop();
}

async function survivesBreak(browser, template) {
  const server = await serve(template);
  const page = await open(browser, server.origin, { own: server.origin });
  server.sendFrame(0);
  server.sendFrame(1);
  await framesAre(page, 2);
  server.streams[0].destroy();
  await page.waitForFunction(() =>
    /lost/.test(document.querySelector('[data-testid="progress"]').textContent),
  );
  assert.equal((await numbers(page)).frames, 2, "what came is kept");
  while (server.streams.length < 2) await new Promise((done) => setTimeout(done, 20));
  // The new stream tells everything from the start; what is known is not taken twice.
  for (let t = 0; t < 3; ++t) server.sendFrame(t);
  server.send("progress", { state: "failed", text: "deadlock" });
  await framesAre(page, 3);
  await page.waitForFunction(() =>
    /^Failed, deadlock/.test(document.querySelector('[data-testid="progress"]').textContent),
  );
  await frame(page);
  // A broken stream is an error of the network that the browser itself reports.
  page.problems = page.problems.filter(
    (line) => !/ERR_INCOMPLETE_CHUNKED_ENCODING|ERR_CONNECTION_RESET/.test(line),
  );
  await close(page);
  server.stop();
}

export function liveTests(browser, template) {
  return [
    ["live: frames come in, the end is said", () => follows(browser, template)],
    ["live: a broken stream loses nothing", () => survivesBreak(browser, template)],
  ];
}
