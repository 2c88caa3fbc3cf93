// SPDX-License-Identifier: Apache-2.0
// One chart: lines over common axes; drag to zoom, point to read, legend to hide.
import { scaleLinear, scaleLog } from "d3-scale";
import { curveLinear, curveStepAfter, line } from "d3-shape";
import { axisTicks } from "./chart_axis";
import type { Scale } from "./chart_axis";
import { domain, headroom, lineOf, marksOf, nearestX } from "./chart_model";
import type { Mark, MergedChart, Span } from "./chart_model";
import { kindColour } from "./colour";
import { button, check, h, hideTip, pen, showTip, svg } from "./dom";
import { onWidth } from "./drawing";
import { withUnit } from "./format";
import { cutText, placeLabels } from "./labels";
import type { Axis } from "./types";

const plotHeight = 240;
const ticksUp = 5;
const room = { right: 14, top: 16, bottom: 44 };
const labelRow = 15;
const secondAxis = { below: 44, right: 52 };
const dashes = ["", "7 4", "2 3", "10 3 2 3", "14 4", "5 2 1 2 1 2", "1 5", "12 3 5 3"];

const labelFont = "12px system-ui, sans-serif";
let ruler: CanvasRenderingContext2D | undefined;

function textWidth(text: string): number {
  ruler ??= pen(h("canvas", {}));
  ruler.font = labelFont;
  return ruler.measureText(text).width;
}

export class ChartCard {
  readonly element = h("section", { className: "card" });
  private readonly picture = svg("svg", { class: "chart", tabindex: 0, role: "img" });
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
  private top = room.top; // of the plot, below the labels of vertical lines
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

  private get bottom(): number {
    return this.top + plotHeight;
  }

  private get height(): number {
    return this.bottom + room.bottom + (this.chart.x.second ? secondAxis.below : 0);
  }

  private get right(): number {
    return this.width - room.right - (this.chart.y.second ? secondAxis.right : 0);
  }

  private stroke(i: number, width: number): Record<string, string | number> {
    const { colour, dash, thin } = this.chart.styles[i]!;
    return {
      stroke: kindColour(colour),
      "stroke-width": thin ? width / 2 : width,
      "stroke-dasharray": dashes[dash % dashes.length]!,
    };
  }

  private marks(i: number): Mark[] {
    return this.hidden.has(i) ? [] : marksOf(this.chart.series[i]!, this.logX, this.logY);
  }

  private paint(): void {
    if (this.width <= 0) return;
    const lists = this.chart.series.map((_, i) => this.marks(i));
    const points = lists.map((list) => list.map(({ x, y }) => [x, y] as [number, number]));
    const finite = points.map((list) => list.filter(([, y]) => Number.isFinite(y)));
    const xs = this.zoomed?.x ?? domain(points, 0, this.logX);
    const above = points.flat().some(([, y]) => y === Infinity);
    const ys = this.zoomed?.y ?? headroom(domain(finite, 1, this.logY), above);
    this.y = (this.logY ? scaleLog() : scaleLinear()).domain(ys);
    const { ticks, text } = axisTicks(this.y, this.chart.y, this.logY, ticksUp);
    this.left = 38 + 7 * Math.max(2, ...ticks.map((v) => text(v).length));
    this.x = (this.logX ? scaleLog() : scaleLinear())
      .domain(xs)
      .range([this.left, this.right]);
    const rules = this.paintRules();
    this.y.range([this.bottom, this.top]);
    this.picture.setAttribute("viewBox", `0 0 ${this.width} ${this.height}`);
    this.picture.setAttribute("height", String(this.height));
    this.resetButton.hidden = this.zoomed === undefined;
    const clip = `clip-${this.chart.id}`;
    const lines = svg("g", { "clip-path": `url(#${clip})` });
    const marks = svg("g");
    lists.forEach((list, i) => this.paintSeries(lines, marks, list, i));
    this.picture.replaceChildren(
      svg(
        "clipPath",
        { id: clip },
        svg("rect", {
          x: this.left,
          y: this.top - 6,
          width: Math.max(1, this.right - this.left),
          height: plotHeight + 12,
        }),
      ),
      this.paintAxis("x", this.x, this.chart.x, this.logX),
      this.paintAxis("y", this.y, this.chart.y, this.logY),
      this.paintSecond(),
      lines,
      marks,
      this.paintLevels(),
      rules,
    );
    this.paintButtons();
  }

  // Where a mark stands; one above the chart stands at its upper edge.
  private place({ x, y }: { x: number; y: number }): { cx: number; cy: number } {
    return { cx: this.x(x), cy: y === Infinity ? this.top : this.y(y) };
  }

  private paintSeries(
    into: SVGGElement,
    marks: SVGGElement,
    list: readonly Mark[],
    i: number,
  ): void {
    const { steps, name } = this.chart.series[i]!;
    const path = line<[number, number]>(
      ([x, y]) => this.place({ x, y }).cx,
      ([x, y]) => this.place({ x, y }).cy,
    ).curve(steps ? curveStepAfter : curveLinear)(lineOf(list));
    if (path)
      into.append(
        svg("path", { d: path, fill: "none", ...this.stroke(i, 2), "data-series": name }),
      );
    if (steps) return;
    const colour = kindColour(this.chart.styles[i]!.colour);
    for (const mark of list) {
      const { cx, cy } = this.place(mark);
      if (mark.hollow && cx >= this.left && cx <= this.right && cy >= this.top && cy <= this.bottom)
        marks.append(
          svg("circle", { cx, cy, r: 4, class: "hollow", stroke: colour, "stroke-width": 1.5 }),
        );
      else if (!mark.hollow && list.length <= 40)
        into.append(svg("circle", { cx, cy, r: 2.5, fill: colour }));
    }
  }

  // The axes in their second units: below the first one, and to the right of the plot.
  private paintSecond(): SVGGElement {
    const group = svg("g", { class: "second" });
    const scaled = (scale: Scale, factor: number) =>
      scale.copy().domain((scale.domain() as Span).map((v) => v * factor));
    const { x, y } = this.chart;
    if (x.second) {
      const scale = scaled(this.x, x.second.factor);
      const base = this.bottom + 44;
      const count = Math.max(2, Math.floor(this.width / 95));
      const { ticks, text, name } = axisTicks(scale, x.second, this.logX, count);
      const ends = { x1: this.left, x2: this.right, y1: base, y2: base };
      group.append(svg("line", { class: "axis", ...ends }));
      for (const v of ticks) {
        const at = scale(v);
        group.append(
          svg("line", { class: "axis", x1: at, x2: at, y1: base, y2: base + 4 }),
          svg("text", { x: at, y: base + 17, "text-anchor": "middle" }, text(v)),
        );
      }
      const middle = (this.left + this.right) / 2;
      group.append(svg("text", { x: middle, y: this.height - 6, "text-anchor": "middle" }, name));
    }
    if (y.second) {
      const scale = scaled(this.y, y.second.factor);
      const { ticks, text, name } = axisTicks(scale, y.second, this.logY, ticksUp);
      const ends = { x1: this.right, x2: this.right, y1: this.top, y2: this.bottom };
      group.append(svg("line", { class: "axis", ...ends }));
      for (const v of ticks)
        group.append(svg("text", { x: this.right + 6, y: scale(v) + 4 }, text(v)));
      const turned = `translate(${this.width - 6} ${(this.top + this.bottom) / 2}) rotate(-90)`;
      group.append(svg("text", { transform: turned, "text-anchor": "middle" }, name));
    }
    return group;
  }

  private paintAxis(which: "x" | "y", scale: Scale, axis: Axis, log: boolean): SVGGElement {
    const group = svg("g");
    const across = which === "x";
    const count = across ? Math.max(2, Math.floor(this.width / 95)) : ticksUp;
    const { ticks, text, name } = axisTicks(scale, axis, log, count);
    const bottom = this.bottom;
    for (const v of ticks) {
      const at = scale(v);
      const ends = across
        ? { x1: at, x2: at, y1: this.top, y2: bottom }
        : { x1: this.left, x2: this.right, y1: at, y2: at };
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
              x: (this.left + this.right) / 2,
              y: this.bottom + room.bottom - 6,
              "text-anchor": "middle",
            },
            name,
          )
        : svg(
            "text",
            {
              transform: `translate(14 ${(this.top + bottom) / 2}) rotate(-90)`,
              "text-anchor": "middle",
            },
            name,
          ),
    );
    const base = across
      ? { x1: this.left, x2: this.right, y1: bottom, y2: bottom }
      : { x1: this.left, x2: this.left, y1: this.top, y2: bottom };
    group.append(svg("line", { class: "axis", ...base }));
    return group;
  }

  // Vertical lines, with their labels in rows above the plot; makes room for as many as it needs.
  private paintRules(): SVGGElement {
    const [low, high] = this.x.domain() as Span;
    const { right } = this;
    const rules = this.chart.rules
      .filter(({ axis, at }) => axis === "x" && at >= low && at <= high)
      .map((rule) => {
        const at = this.x(rule.at);
        const side = Math.max(right - at, at - this.left) - 5;
        const text = cutText(rule.label, side, textWidth);
        return { rule, text, at, width: textWidth(text) };
      });
    const places = placeLabels(rules, this.left, right);
    const rows = 1 + Math.max(-1, ...places.map(({ row }) => row));
    this.top = room.top + labelRow * rows;
    const group = svg("g", { "data-rules": rules.length });
    rules.forEach(({ rule, text, at }, i) => {
      const { x, row } = places[i]!;
      const y = this.top - 7 - labelRow * row;
      const stroke = rule.colour === undefined ? "var(--line-strong)" : kindColour(rule.colour);
      group.append(
        svg("line", { stroke, "stroke-dasharray": "4 3", x1: at, x2: at, y1: y - 9, y2: this.bottom }),
        svg("text", { x, y, class: "rule" }, text, svg("title", {}, rule.label)),
      );
    });
    return group;
  }

  // Horizontal lines. A label that would cover the one below it moves up.
  private paintLevels(): SVGGElement {
    const group = svg("g");
    const [low, high] = this.y.domain() as Span;
    let free = this.bottom;
    const rules = this.chart.rules.filter(
      ({ axis, at }) => axis === "y" && at >= low && at <= high,
    );
    for (const rule of rules.sort((a, b) => a.at - b.at)) {
      const at = this.y(rule.at);
      const y = Math.min(at - 5, free);
      free = y - labelRow;
      const stroke = rule.colour === undefined ? "var(--line-strong)" : kindColour(rule.colour);
      group.append(
        svg("line", {
          stroke,
          "stroke-dasharray": "4 3",
          x1: this.left,
          x2: this.right,
          y1: at,
          y2: at,
        }),
        svg(
          "text",
          { x: this.right - 4, y, "text-anchor": "end", class: "rule" },
          cutText(rule.label, this.right - 4 - this.left, textWidth),
          svg("title", {}, rule.label),
        ),
      );
    }
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
            ...this.stroke(i, 3),
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
    if (this.chart.hollow_means && this.chart.series.some((s) => s.hollow?.length)) {
      const sample = svg(
        "svg",
        { viewBox: "0 0 10 10", "aria-hidden": "true" },
        svg("circle", { cx: 5, cy: 5, r: 3.5, class: "hollow", stroke: "currentColor" }),
      );
      this.buttons.append(h("span", { className: "hollow-note" }, sample, this.chart.hollow_means));
    }
    if (focus) this.buttons.querySelector<HTMLElement>(`[data-series="${focus}"]`)?.focus();
  }

  private valuesAt(x: number): string[] {
    const lines: string[] = [];
    const value = (v: number, axis: Axis) =>
      withUnit(v, axis.unit) +
      (axis.second ? ` (${withUnit(v * axis.second.factor, axis.second.unit)})` : "");
    this.chart.series.forEach((series, i) => {
      const marks = this.marks(i);
      const mark = marks[nearestX(marks.map(({ x: at, y }) => [at, y]), x)];
      if (!mark || lines.length >= 12) return;
      const parts = Number.isFinite(mark.y) ? [value(mark.y, this.chart.y)] : [];
      if (mark.hollow && this.chart.hollow_means) parts.push(this.chart.hollow_means);
      lines.push(`${series.name}: ${parts.join(", ")} at ${value(mark.x, this.chart.x)}`);
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
          this.right,
        ),
        y: clamp(
          ((event.clientY - frame.top) / frame.height) * this.height,
          this.top,
          this.bottom,
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
    const first = this.chart.series.findIndex((_, i) => this.marks(i).length > 0);
    if (first < 0) return;
    const marks = this.marks(first);
    this.cursor = Math.min(Math.max((this.cursor ?? -1) + step, 0), marks.length - 1);
    const mark = marks[this.cursor]!;
    const { cx, cy } = this.place(mark);
    const frame = this.picture.getBoundingClientRect();
    const lines = this.valuesAt(mark.x);
    showTip(lines, frame.left + (cx * frame.width) / this.width, frame.top + cy);
    this.announce(lines.join("; "));
  }
}
