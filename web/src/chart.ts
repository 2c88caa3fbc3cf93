// SPDX-License-Identifier: Apache-2.0
// One chart: lines over common axes; drag to zoom, point to read, legend to hide.
import { scaleLinear, scaleLog } from "d3-scale";
import { curveLinear, curveStepAfter, line } from "d3-shape";
import { axisTicks } from "./chart_axis";
import type { Scale } from "./chart_axis";
import { domain, nearestX, usable } from "./chart_model";
import type { MergedChart, Span } from "./chart_model";
import { kindColour } from "./colour";
import { button, check, h, hideTip, showTip, svg } from "./dom";
import { onWidth } from "./drawing";
import { withUnit } from "./format";
import type { Axis } from "./types";

const height = 300;
const ticksUp = 5;
const room = { right: 14, top: 16, bottom: 44 };
const dashes = ["", "7 4", "2 3", "10 3 2 3"];

export class ChartCard {
  readonly element = h("section", { className: "card" });
  private readonly picture = svg("svg", { class: "chart", height, tabindex: 0, role: "img" });
  private readonly buttons = h("div", {
    className: "series",
    role: "group",
    "aria-label": "Series",
  });
  private readonly resetButton: HTMLButtonElement;
  private readonly observer: ResizeObserver;
  private readonly hidden = new Set<number>();
  private logX: boolean;
  private logY: boolean;
  private zoomed: { x: Span; y: Span } | undefined;
  private width = 0;
  private left = 62;
  private x: Scale = scaleLinear();
  private y: Scale = scaleLinear();
  private cursor: number | undefined;

  constructor(
    private readonly chart: MergedChart,
    private readonly announce: (text: string) => void,
  ) {
    this.logX = chart.x.log ?? false;
    this.logY = chart.y.log ?? false;
    this.element.dataset["testid"] = `chart-${chart.id}`;
    this.picture.setAttribute(
      "aria-label",
      `${chart.title}: ${chart.y.label} over ${chart.x.label}; arrow keys read values`,
    );
    this.resetButton = button("Whole chart", "reset-zoom", () => this.zoomTo(undefined));
    this.element.append(
      h("h3", {}, chart.title),
      h(
        "div",
        { className: "controls" },
        check("log across", "log-x", this.logX, (on) => this.setLog(on, this.logY)),
        check("log up", "log-y", this.logY, (on) => this.setLog(this.logX, on)),
        this.resetButton,
      ),
      this.picture,
      this.buttons,
    );
    this.bind();
    this.observer = onWidth(this.element, (width) => {
      this.width = width;
      this.paint();
    });
  }

  refresh(): void {
    this.paint();
  }

  destroy(): void {
    this.observer.disconnect();
  }

  private setLog(x: boolean, y: boolean): void {
    this.logX = x;
    this.logY = y;
    this.zoomTo(undefined);
  }

  private zoomTo(spans: { x: Span; y: Span } | undefined): void {
    this.zoomed = spans;
    this.paint();
  }

  private colour(i: number): string {
    return kindColour(i);
  }

  private dash(i: number): string {
    const round = Math.floor(i / 7);
    return this.chart.series[i]!.dashed
      ? dashes[1 + (round % 3)]!
      : dashes[round === 0 ? 0 : 1 + (round % 3)]!;
  }

  private points(i: number): [number, number][] {
    return this.hidden.has(i) ? [] : usable(this.chart.series[i]!, this.logX, this.logY);
  }

  private paint(): void {
    if (this.width <= 0) return;
    const lists = this.chart.series.map((_, i) => this.points(i));
    const xs = this.zoomed?.x ?? domain(lists, 0, this.logX);
    const ys = this.zoomed?.y ?? domain(lists, 1, this.logY);
    this.y = (this.logY ? scaleLog() : scaleLinear())
      .domain(ys)
      .range([height - room.bottom, room.top]);
    const { ticks, text } = axisTicks(this.y, this.chart.y, this.logY, ticksUp);
    this.left = 38 + 7 * Math.max(2, ...ticks.map((v) => text(v).length));
    this.x = (this.logX ? scaleLog() : scaleLinear())
      .domain(xs)
      .range([this.left, this.width - room.right]);
    this.picture.setAttribute("viewBox", `0 0 ${this.width} ${height}`);
    this.resetButton.hidden = this.zoomed === undefined;
    const clip = `clip-${this.chart.id}`;
    const lines = svg("g", { "clip-path": `url(#${clip})` });
    lists.forEach((list, i) => this.paintSeries(lines, list, i));
    this.picture.replaceChildren(
      svg(
        "clipPath",
        { id: clip },
        svg("rect", {
          x: this.left,
          y: room.top - 6,
          width: Math.max(1, this.width - this.left - room.right),
          height: height - room.top - room.bottom + 12,
        }),
      ),
      this.paintAxis("x", this.x, this.chart.x, this.logX),
      this.paintAxis("y", this.y, this.chart.y, this.logY),
      this.paintRules(),
      lines,
    );
    this.paintButtons();
  }

  private paintSeries(into: SVGGElement, list: [number, number][], i: number): void {
    const path = line<[number, number]>(
      (p) => this.x(p[0]),
      (p) => this.y(p[1]),
    ).curve(this.chart.series[i]!.steps ? curveStepAfter : curveLinear)(list);
    if (path) {
      into.append(
        svg("path", {
          d: path,
          fill: "none",
          stroke: this.colour(i),
          "stroke-width": 2,
          "stroke-dasharray": this.dash(i),
          "data-series": this.chart.series[i]!.name,
        }),
      );
    }
    if (list.length > 40 || this.chart.series[i]!.steps) return;
    for (const [x, y] of list) {
      into.append(svg("circle", { cx: this.x(x), cy: this.y(y), r: 2.5, fill: this.colour(i) }));
    }
  }

  private paintAxis(which: "x" | "y", scale: Scale, axis: Axis, log: boolean): SVGGElement {
    const group = svg("g");
    const across = which === "x";
    const count = across ? Math.max(2, Math.floor(this.width / 95)) : ticksUp;
    const { ticks, text, name } = axisTicks(scale, axis, log, count);
    const bottom = height - room.bottom;
    for (const v of ticks) {
      const at = scale(v);
      const ends = across
        ? { x1: at, x2: at, y1: room.top, y2: bottom }
        : { x1: this.left, x2: this.width - room.right, y1: at, y2: at };
      group.append(svg("line", { class: "grid", ...ends }));
      group.append(
        across
          ? svg("text", { x: at, y: bottom + 17, "text-anchor": "middle" }, text(v))
          : svg("text", { x: this.left - 8, y: at + 4, "text-anchor": "end" }, text(v)),
      );
    }
    group.append(
      across
        ? svg(
            "text",
            {
              x: (this.left + this.width - room.right) / 2,
              y: height - 6,
              "text-anchor": "middle",
            },
            name,
          )
        : svg(
            "text",
            {
              transform: `translate(14 ${(room.top + bottom) / 2}) rotate(-90)`,
              "text-anchor": "middle",
            },
            name,
          ),
    );
    const base = across
      ? { x1: this.left, x2: this.width - room.right, y1: bottom, y2: bottom }
      : { x1: this.left, x2: this.left, y1: room.top, y2: bottom };
    group.append(svg("line", { class: "axis", ...base }));
    return group;
  }

  private paintRules(): SVGGElement {
    const group = svg("g");
    (this.chart.rules ?? []).forEach((rule, i) => {
      const across = rule.axis === "x";
      const scale = across ? this.x : this.y;
      const [low, high] = scale.domain() as Span;
      if (rule.at < low || rule.at > high) return;
      const at = scale(rule.at);
      const right = at > this.width - 140;
      group.append(
        svg("line", {
          stroke: "var(--line-strong)",
          "stroke-dasharray": "4 3",
          ...(across
            ? { x1: at, x2: at, y1: room.top, y2: height - room.bottom }
            : { x1: this.left, x2: this.width - room.right, y1: at, y2: at }),
        }),
        across
          ? svg(
              "text",
              {
                x: at + (right ? -5 : 5),
                y: height - room.bottom - 8 - (i % 4) * 15,
                class: "rule",
                "text-anchor": right ? "end" : "start",
              },
              rule.label,
            )
          : svg(
              "text",
              { x: this.width - room.right - 4, y: at - 5, "text-anchor": "end", class: "rule" },
              rule.label,
            ),
      );
    });
    return group;
  }

  private paintButtons(): void {
    const focus = (document.activeElement as HTMLElement | null)?.dataset["series"];
    this.buttons.replaceChildren(
      ...this.chart.series.map((series, i) => {
        const sample = svg(
          "svg",
          { viewBox: "0 0 26 10", "aria-hidden": "true" },
          svg("line", {
            x1: 0,
            x2: 26,
            y1: 5,
            y2: 5,
            stroke: this.colour(i),
            "stroke-width": 3,
            "stroke-dasharray": this.dash(i),
          }),
        );
        return h(
          "button",
          {
            type: "button",
            "aria-pressed": String(!this.hidden.has(i)),
            "data-series": String(i),
            onclick: () => {
              if (!this.hidden.delete(i)) this.hidden.add(i);
              this.paint();
            },
          },
          sample,
          series.name,
        );
      }),
    );
    if (focus) this.buttons.querySelector<HTMLElement>(`[data-series="${focus}"]`)?.focus();
  }

  private valuesAt(x: number): string[] {
    const lines: string[] = [];
    this.chart.series.forEach((series, i) => {
      const points = this.points(i);
      const at = points[nearestX(points, x)];
      if (!at || lines.length >= 12) return;
      lines.push(
        `${series.name}: ${withUnit(at[1], this.chart.y.unit)} ` +
          `at ${withUnit(at[0], this.chart.x.unit)}`,
      );
    });
    return lines;
  }

  private bind(): void {
    let start: { x: number; y: number } | undefined;
    const box = svg("rect", {
      fill: "var(--accent)",
      "fill-opacity": 0.18,
      stroke: "var(--accent)",
    });
    const at = (event: PointerEvent) => {
      const frame = this.picture.getBoundingClientRect();
      const clamp = (v: number, low: number, high: number) => Math.min(Math.max(v, low), high);
      return {
        x: clamp(
          ((event.clientX - frame.left) / frame.width) * this.width,
          this.left,
          this.width - room.right,
        ),
        y: clamp(
          ((event.clientY - frame.top) / frame.height) * height,
          room.top,
          height - room.bottom,
        ),
      };
    };
    this.picture.addEventListener("pointerdown", (event) => {
      start = at(event);
      this.picture.setPointerCapture(event.pointerId);
    });
    this.picture.addEventListener("pointermove", (event) => {
      const now = at(event);
      showTip(this.valuesAt(this.x.invert(now.x)), event.clientX, event.clientY);
      if (!start) return;
      for (const [name, value] of Object.entries({
        x: Math.min(start.x, now.x),
        y: Math.min(start.y, now.y),
        width: Math.abs(start.x - now.x),
        height: Math.abs(start.y - now.y),
      }))
        box.setAttribute(name, String(value));
      this.picture.append(box);
    });
    const end = (event: PointerEvent) => {
      const now = at(event);
      box.remove();
      if (start && event.type === "pointerup" && Math.abs(now.x - start.x) > 8)
        this.zoomBox(start, now);
      start = undefined;
    };
    this.picture.addEventListener("pointerup", end);
    this.picture.addEventListener("pointercancel", end);
    this.picture.addEventListener("pointerleave", hideTip);
    this.picture.addEventListener("dblclick", () => this.zoomTo(undefined));
    this.picture.addEventListener("keydown", (event) => this.key(event));
    this.picture.addEventListener("blur", hideTip);
  }

  // A flat box zooms horizontally only.
  private zoomBox(a: { x: number; y: number }, b: { x: number; y: number }): void {
    const flat = Math.abs(a.y - b.y) < 12;
    const span = (scale: Scale, u: number, v: number): Span =>
      [scale.invert(u), scale.invert(v)].sort((p, q) => p - q) as Span;
    this.zoomTo({
      x: span(this.x, a.x, b.x),
      y: flat ? (this.y.domain() as Span) : span(this.y, a.y, b.y),
    });
  }

  private key(event: KeyboardEvent): void {
    if (event.key === "Escape" || event.key === "0") this.zoomTo(undefined);
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const first = this.chart.series.findIndex((_, i) => this.points(i).length > 0);
    if (first < 0) return;
    const points = this.points(first);
    this.cursor = Math.min(Math.max((this.cursor ?? -1) + step, 0), points.length - 1);
    const [x, y] = points[this.cursor]!;
    const frame = this.picture.getBoundingClientRect();
    const lines = this.valuesAt(x);
    showTip(lines, frame.left + (this.x(x) * frame.width) / this.width, frame.top + this.y(y));
    this.announce(lines.join("; "));
  }
}
