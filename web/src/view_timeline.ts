// SPDX-License-Identifier: Apache-2.0
// Ranks over time: which MPI call each was in, and how much of it was waiting for the network.
import { paintAxes } from "./axes";
import type { Area } from "./axes";
import { bytesOf, wordsOf } from "./blocks";
import { callKind, callKinds } from "./calls";
import { kindColour, pageColour, parseColour, word } from "./colour";
import { button, h, hideTip, pen, showTip, sizeCanvas } from "./dom";
import { onWidth } from "./drawing";
import { time } from "./format";
import { bindGestures } from "./gestures";
import { kindLegend } from "./legend";
import { fillRow, makeRow, ranksOfRow, spanAt } from "./spans";
import type { PixelRow, Spans } from "./spans";
import { percent } from "./strip";
import type { Run, Timeline } from "./types";
import { runMark } from "./view";
import type { Context, Shown, View } from "./view";
import { Window2D } from "./window2d";

async function loadSpans(t: Timeline): Promise<Spans & { call: Uint8Array }> {
  const call = await bytesOf(t.call);
  const kinds = Uint8Array.from(t.calls, callKind);
  return {
    first: await wordsOf(t.first),
    begin: await wordsOf(t.begin),
    length: await wordsOf(t.length),
    waited: await bytesOf(t.waited),
    kind: call.map((c) => kinds[c]!),
    call,
  };
}

// Colours of a pixel by kind, then by how much of it is covered (16 steps), plain and hatched.
class Paints {
  readonly back: number;
  private readonly table: Uint32Array;

  constructor() {
    const back = parseColour(pageColour("panel"));
    this.back = word(back);
    this.table = new Uint32Array(callKinds.length * 16 * 9);
    callKinds.forEach((_, kind) => {
      const colour = parseColour(kindColour(kind));
      for (let cover = 0; cover < 16; ++cover) {
        const alpha = 0.25 + (0.75 * cover) / 15;
        for (let dark = 0; dark < 9; ++dark) {
          const mixed = colour.map((c, i) => {
            const solid = back[i]! + (c - back[i]!) * alpha;
            return Math.round(solid * (1 - 0.065 * dark));
          }) as [number, number, number];
          this.table[(kind * 16 + cover) * 9 + dark] = word(mixed);
        }
      }
    });
  }

  of(kind: number, cover: number, dark: number): number {
    return this.table[(kind * 16 + Math.round(cover * 15)) * 9 + Math.round(dark * 8)]!;
  }
}

class TimelinePanel {
  readonly element = h("section", { className: "panel" });
  private readonly canvas = h("canvas", { role: "img", "data-testid": "timeline" });
  private readonly observer: ResizeObserver;
  private spans: (Spans & { call: Uint8Array }) | undefined;
  private width = 0;
  private asked = 0;

  constructor(
    readonly run: Run,
    private readonly window2d: Window2D,
    private readonly numbers: Record<string, unknown>,
    changed: () => void,
    mark: HTMLElement | null,
  ) {
    this.canvas.setAttribute(
      "aria-label",
      `Calls of ${run.name}; plus and minus zoom in time, page down and ` +
        "page up in ranks, arrow keys move, 0 shows all",
    );
    this.element.append(
      h("h3", {}, mark, mark ? run.name : `${this.timeline.ranks.toLocaleString("en-GB")} ranks`),
      this.canvas,
    );
    if (!this.timeline.exact && this.timeline.bin_ticks) {
      const bin = time(this.timeline.bin_ticks * this.timeline.tick_ps);
      this.element.append(h("p", { className: "note" }, `Calls within ${bin} are drawn as one.`));
    }
    bindGestures(this.canvas, {
      window: window2d,
      wheel: "across",
      area: () => this.area(),
      changed,
      leave: hideTip,
      hover: (x, y, event) => this.tell(x, y, event),
    });
    this.observer = onWidth(this.element, (width) => {
      this.width = width;
      this.paint();
    });
  }

  get timeline(): Timeline {
    return this.run.timeline!;
  }

  async load(): Promise<void> {
    this.spans = await loadSpans(this.timeline);
    if (this.element.isConnected) this.paint();
  }

  destroy(): void {
    cancelAnimationFrame(this.asked);
    this.observer.disconnect();
  }

  ask(): void {
    if (this.asked) return;
    this.asked = requestAnimationFrame(() => {
      this.asked = 0;
      this.paint();
    });
  }

  private height(): number {
    return Math.max(300, Math.min(640, window.innerHeight - 280));
  }

  private area(): Area {
    return {
      left: 62,
      top: 6,
      width: Math.max(20, this.width - 62 - 12),
      height: this.height() - 50,
    };
  }

  paint(): void {
    if (!this.spans || this.width <= 0) return;
    const started = performance.now();
    const ratio = sizeCanvas(this.canvas, this.width, this.height());
    const p = pen(this.canvas);
    p.setTransform(1, 0, 0, 1, 0, 0);
    p.clearRect(0, 0, this.canvas.width, this.canvas.height);
    const area = this.area();
    const image = this.image(Math.round(area.width * ratio), Math.round(area.height * ratio));
    p.putImageData(image, Math.round(area.left * ratio), Math.round(area.top * ratio));
    p.setTransform(ratio, 0, 0, ratio, 0, 0);
    paintAxes(p, area, this.window2d, {
      x: { label: "time", unit: "ps" },
      y: { label: "rank", whole: true },
    });
    this.numbers["drawMs"] = performance.now() - started;
  }

  private image(width: number, height: number): ImageData {
    const image = new ImageData(width, height);
    const pixels = new Uint32Array(image.data.buffer);
    const paints = new Paints();
    pixels.fill(paints.back);
    const row = makeRow(width);
    const { ranks, tick_ps: tick } = this.timeline;
    const w = this.window2d;
    let last = -1;
    for (let y = 0; y < height; ++y) {
      if (w.y0 + ((y + 0.5) / height) * (w.y1 - w.y0) >= ranks) break;
      const shown = ranksOfRow(y, height, w, ranks);
      if (shown.length > 1 || shown[0] !== last)
        fillRow(this.spans!, shown, { x0: w.x0 / tick, x1: w.x1 / tick }, row);
      last = shown[0]!;
      this.paintRow(pixels, y * width, y, row, paints);
    }
    this.paintGaps(pixels, width, height, paints.back);
    return image;
  }

  private paintRow(
    pixels: Uint32Array,
    start: number,
    y: number,
    row: PixelRow,
    paints: Paints,
  ): void {
    for (let x = 0; x < row.kind.length; ++x) {
      const kind = row.kind[x]!;
      if (kind === 255) continue;
      const stripe = (x + y) % 6 < 2;
      pixels[start + x] = paints.of(kind, row.cover[x]!, stripe ? row.waited[x]! : 0);
    }
  }

  // A line of background between ranks once they are high enough to be distinguished.
  private paintGaps(pixels: Uint32Array, width: number, height: number, back: number): void {
    const w = this.window2d;
    const each = height / (w.y1 - w.y0);
    if (each < 6) return;
    for (let rank = Math.ceil(w.y0); rank < w.y1; ++rank) {
      const y = Math.round((rank - w.y0) * each) - 1;
      if (y >= 0 && y < height) pixels.fill(back, y * width, (y + 1) * width);
    }
  }

  private tell(x: number, y: number, event: PointerEvent): void {
    const t = this.timeline;
    const rank = Math.floor(y);
    const w = this.window2d;
    if (
      !this.spans ||
      rank < 0 ||
      rank >= t.ranks ||
      x < w.x0 ||
      x > w.x1 ||
      y < w.y0 ||
      y > w.y1
    ) {
      hideTip();
      return;
    }
    const reach = ((w.x1 - w.x0) / this.area().width / t.tick_ps) * 2;
    const i = spanAt(this.spans, rank, x / t.tick_ps, reach);
    const name = `rank ${rank}`;
    if (i < 0) {
      showTip([name, `computing at ${time(x)}`], event.clientX, event.clientY);
      return;
    }
    const { begin, length, call, waited } = this.spans;
    showTip(
      [
        `${name}: ${t.calls[call[i]!]}`,
        `begins at ${time(begin[i]! * t.tick_ps)}`,
        `takes ${time(length[i]! * t.tick_ps)}`,
        `waits for ${percent(waited[i]! / 255)} of it`,
      ],
      event.clientX,
      event.clientY,
    );
  }
}

class TimelineView implements Shown {
  private readonly panels: TimelinePanel[];
  private readonly window2d: Window2D;
  private readonly legend = h("div", {});
  private left = false;

  constructor(host: HTMLElement, context: Context, runs: Run[]) {
    const ranks = Math.max(...runs.map((run) => run.timeline!.ranks));
    const tick = Math.min(...runs.map((run) => run.timeline!.tick_ps));
    const end = Math.max(1, ...runs.map((run) => run.timeline!.end * run.timeline!.tick_ps));
    this.window2d = new Window2D({ x0: 0, x1: end, y0: 0, y1: ranks }, { x: 20 * tick, y: 2 });
    const changed = () => this.panels.forEach((panel) => panel.ask());
    this.panels = runs.map(
      (run) =>
        new TimelinePanel(
          run,
          this.window2d,
          context.numbers,
          changed,
          runMark(context.index, run),
        ),
    );
    host.append(
      this.controls(changed),
      this.legend,
      h(
        "div",
        { className: `panels${runs.length > 1 ? " two" : ""}` },
        ...this.panels.map((panel) => panel.element),
      ),
    );
    this.drawLegend();
    void Promise.all(this.panels.map((panel) => panel.load())).then(() => {
      if (!this.left) host.dataset["ready"] = "true";
    });
    Object.assign(context.numbers, { window: this.window2d });
  }

  refresh(): void {
    this.drawLegend();
    this.panels.forEach((panel) => panel.paint());
  }

  destroy(): void {
    this.left = true;
    this.panels.forEach((panel) => panel.destroy());
  }

  private controls(changed: () => void): HTMLElement {
    const zoom = (fx: number, fy: number) => () => {
      this.window2d.zoom(fx, fy);
      changed();
    };
    const whole = () => {
      this.window2d.reset();
      changed();
    };
    return h(
      "div",
      { className: "controls" },
      h(
        "span",
        { className: "field" },
        h("span", {}, "Time"),
        button("+", "time-in", zoom(0.5, 1), "Nearer in time"),
        button("\u2212", "time-out", zoom(2, 1), "Farther in time"),
      ),
      h(
        "span",
        { className: "field" },
        h("span", {}, "Ranks"),
        button("+", "ranks-in", zoom(1, 0.5), "Fewer ranks"),
        button("\u2212", "ranks-out", zoom(1, 2), "More ranks"),
      ),
      button("Show all", "whole", whole),
      h(
        "span",
        { className: "soft" },
        "The wheel zooms in time, with Shift in ranks; drag to move.",
      ),
    );
  }

  private drawLegend(): void {
    const kinds = callKinds.map((text, i) => ({ text, colour: kindColour(i), hatched: false }));
    this.legend.replaceChildren(
      h(
        "div",
        { className: "legends" },
        kindLegend([
          ...kinds,
          { text: "hatched: waiting for the network", colour: "var(--line-strong)", hatched: true },
          { text: "empty: computing", colour: "var(--panel)", hatched: false },
        ]),
      ),
    );
  }
}

export const timelineView: View = {
  id: "timeline",
  title: "Timeline",
  compares: true,
  has: (run) => run.timeline !== undefined,
  show: (host, context, runs) => new TimelineView(host, context, runs),
};
