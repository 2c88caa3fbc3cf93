// SPDX-License-Identifier: Apache-2.0
// Mean and maximum over time, with the shown moment marked; a click selects another.
import { kindColour, pageColour } from "./colour";
import { h, hideTip, pen, showTip, sizeCanvas } from "./dom";
import { onWidth } from "./drawing";
import { time } from "./format";
import type { Stats } from "./heat";

export interface StripRun {
  name: string;
  colour: number; // place among the runs of the page
  beginPs: number;
  endPs: readonly number[];
  stats: Stats;
}

const height = 92;
const left = 44;
const bottom = 18;
const top = 8;

export class Strip {
  readonly element = h("div", { className: "strip" });
  private readonly canvas = h("canvas", { "data-testid": "strip", role: "img" });
  private readonly observer: ResizeObserver;
  private runs: StripRun[] = [];
  private now = 0;
  private width = 0;
  private most = 1;

  constructor(go: (ps: number) => void) {
    this.canvas.setAttribute(
      "aria-label",
      "Mean and maximum over time; a click goes to that moment",
    );
    this.element.append(this.canvas);
    this.observer = onWidth(this.element, (width) => {
      this.width = width;
      this.paint();
    });
    const psAt = (event: PointerEvent) => {
      const box = this.canvas.getBoundingClientRect();
      const share = (event.clientX - box.left - left) / (this.width - left - 4);
      return Math.min(Math.max(share, 0), 1) * this.end();
    };
    this.canvas.style.touchAction = "pan-y";
    this.canvas.addEventListener("pointerdown", (event) => go(psAt(event)));
    this.canvas.addEventListener("pointermove", (event) => {
      if (event.buttons & 1) go(psAt(event));
      this.tell(event, psAt(event));
    });
    this.canvas.addEventListener("pointerleave", hideTip);
  }

  set(runs: StripRun[], now: number): void {
    this.runs = runs;
    this.now = now;
    this.most = Math.max(
      1e-9,
      ...runs.map((r) => r.stats.most.reduce((a, b) => Math.max(a, b), 0)),
    );
    this.paint();
  }

  moveTo(now: number): void {
    this.now = now;
    this.paint();
  }

  destroy(): void {
    this.observer.disconnect();
  }

  private end(): number {
    return Math.max(1, ...this.runs.map((run) => run.endPs[run.endPs.length - 1] ?? 0));
  }

  private tell(event: PointerEvent, ps: number): void {
    const lines = [time(ps)];
    for (const run of this.runs) {
      const t = run.endPs.findIndex((end) => end >= ps);
      if (t < 0) continue;
      const values = `mean ${percent(run.stats.mean[t]!)}, max ${percent(run.stats.most[t]!)}`;
      lines.push(this.runs.length > 1 ? `${run.name}: ${values}` : values);
    }
    showTip(lines, event.clientX, event.clientY);
  }

  private paint(): void {
    if (this.width <= 0) return;
    const ratio = sizeCanvas(this.canvas, this.width, height);
    const p = pen(this.canvas);
    p.setTransform(ratio, 0, 0, ratio, 0, 0);
    p.clearRect(0, 0, this.width, height);
    const x = (ps: number) => left + (ps / this.end()) * (this.width - left - 4);
    const y = (v: number) => height - bottom - (v / this.most) * (height - bottom - top);
    this.paintAxes(p, x, y);
    for (const run of this.runs) {
      const colour = kindColour(run.colour);
      this.paintLine(p, run, run.stats.most, { x, y, colour, dash: [5, 3] });
      this.paintLine(p, run, run.stats.mean, { x, y, colour, dash: [] });
    }
    this.paintNow(p, x);
  }

  // The shown frame as a band, its end as a line.
  private paintNow(p: CanvasRenderingContext2D, x: (v: number) => number): void {
    const begins = this.runs.map(
      (run) => run.endPs.filter((end) => end < this.now).at(-1) ?? run.beginPs,
    );
    const begin = Math.max(0, ...begins);
    p.fillStyle = pageColour("mark");
    p.globalAlpha = 0.1;
    p.fillRect(x(begin), top, x(this.now) - x(begin), height - bottom - top);
    p.globalAlpha = 1;
    p.fillRect(x(this.now) - 1, 0, 2, height - bottom);
  }

  private paintAxes(
    p: CanvasRenderingContext2D,
    x: (v: number) => number,
    y: (v: number) => number,
  ): void {
    p.font = "11px system-ui, sans-serif";
    p.fillStyle = pageColour("soft");
    p.strokeStyle = pageColour("line");
    p.lineWidth = 1;
    p.textAlign = "right";
    for (const v of [0, this.most]) {
      p.fillText(percent(v), left - 6, y(v) + 4);
      p.beginPath();
      p.moveTo(left, y(v));
      p.lineTo(this.width - 4, y(v));
      p.stroke();
    }
    const count = this.width < 500 ? 2 : 4;
    for (let i = 0; i <= count; ++i) {
      p.textAlign = i === 0 ? "left" : i === count ? "right" : "center";
      p.fillText(time((this.end() * i) / count, 3), x((this.end() * i) / count), height - 4);
    }
    p.textAlign = "left";
  }

  // Steps: a value holds for its whole frame.
  private paintLine(
    p: CanvasRenderingContext2D,
    run: StripRun,
    values: readonly number[],
    how: { x: (v: number) => number; y: (v: number) => number; colour: string; dash: number[] },
  ): void {
    p.strokeStyle = how.colour;
    p.lineWidth = 1.5;
    p.setLineDash(how.dash);
    p.beginPath();
    let from = run.beginPs;
    values.forEach((value, t) => {
      p.lineTo(how.x(from), how.y(value));
      from = run.endPs[t]!;
      p.lineTo(how.x(from), how.y(value));
    });
    p.stroke();
    p.setLineDash([]);
  }
}

export const percent = (share: number): string =>
  `${share === 0 ? 0 : (share * 100).toFixed(share < 0.0995 ? 1 : 0)} %`;
