// SPDX-License-Identifier: Apache-2.0
// The traffic matrix: a density picture with logarithmic colours.
import { paintAxes } from "./axes";
import type { Area } from "./axes";
import { floatsOf, wordsOf } from "./blocks";
import { heatRamp } from "./colour";
import { binPairs, cellsAlong, logStep, rangeOf } from "./density";
import type { Grid, Pairs } from "./density";
import { button, h, hideTip, pen, select, showTip, sizeCanvas } from "./dom";
import { onWidth } from "./drawing";
import { plain, withUnit } from "./format";
import { bindGestures } from "./gestures";
import { rampLegend } from "./legend";
import type { Matrix, Run } from "./types";
import { runMark } from "./view";
import type { Context, Shown, View } from "./view";
import { Window2D } from "./window2d";
import type { Extent } from "./window2d";

type What = "bytes" | "messages";

class MatrixPanel {
  readonly element = h("section", { className: "panel" });
  grid: Grid | undefined;
  private readonly canvas = h("canvas", { role: "img", "data-testid": "matrix" });
  private readonly observer: ResizeObserver;
  private pairs: Pairs | undefined;
  private view: Extent = { x0: 0, x1: 1, y0: 0, y1: 1 };
  private width = 0;

  constructor(
    readonly run: Run,
    private readonly ranks: Window2D,
    changed: () => void,
    mark: HTMLElement | null,
  ) {
    this.canvas.setAttribute(
      "aria-label",
      `Traffic of ${run.name}: rows send, columns receive; ` +
        "plus and minus zoom, arrow keys move, 0 shows all",
    );
    this.element.append(
      h("h3", {}, mark, mark ? run.name : `${this.matrix.ranks.toLocaleString("en-GB")} ranks`),
      this.canvas,
    );
    if (this.matrix.bin > 1) {
      this.element.append(
        h("p", { className: "note" }, `Each row and column stands for ${this.matrix.bin} ranks.`),
      );
    }
    bindGestures(this.canvas, {
      window: ranks,
      wheel: "both",
      area: () => this.area(),
      changed,
      leave: hideTip,
      hover: (x, y, event) => this.tell(x, y, event),
    });
    this.observer = onWidth(this.element, (width) => {
      this.width = width;
      changed();
    });
  }

  get matrix(): Matrix {
    return this.run.matrix!;
  }

  async load(): Promise<void> {
    const m = this.matrix;
    this.pairs = {
      from: await wordsOf(m.from),
      to: await wordsOf(m.to),
      bytes: await floatsOf(m.bytes),
      messages: await floatsOf(m.messages),
    };
  }

  destroy(): void {
    this.observer.disconnect();
  }

  private area(): Area {
    const size = Math.max(120, Math.min(this.width - 80, window.innerHeight - 260, 760));
    return { left: 62, top: 8, width: size, height: size };
  }

  // Sums the pairs in the visible cells; false if there is no room yet.
  bin(): boolean {
    if (!this.pairs || this.width <= 0) return false;
    const area = this.area();
    const k = this.matrix.bin;
    const x = cellsAlong(this.ranks.x0 / k, this.ranks.x1 / k, area.width);
    const y = cellsAlong(this.ranks.y0 / k, this.ranks.y1 / k, area.height);
    this.view = { x0: x.first, x1: x.last, y0: y.first, y1: y.last };
    this.grid = binPairs(this.pairs, this.view, x.count, y.count);
    return true;
  }

  paint(what: What, range: { least: number; most: number }): void {
    const grid = this.grid;
    if (!grid) return;
    const area = this.area();
    const height = area.height + 50;
    const ratio = sizeCanvas(this.canvas, area.left + area.width + 16, height);
    const p = pen(this.canvas);
    p.setTransform(ratio, 0, 0, ratio, 0, 0);
    p.clearRect(0, 0, this.canvas.width, height);
    const small = document.createElement("canvas");
    small.width = grid.columns;
    small.height = grid.rows;
    const image = new ImageData(grid.columns, grid.rows);
    const pixels = new Uint32Array(image.data.buffer);
    const { words } = heatRamp();
    const values = grid[what];
    for (let i = 0; i < values.length; ++i) pixels[i] = words[logStep(values[i]!, range)]!;
    pen(small).putImageData(image, 0, 0);
    this.paintImage(p, small, area);
    paintAxes(p, area, this.ranks, {
      x: { label: "to rank", whole: true },
      y: { label: "from rank", whole: true },
    });
  }

  // The grid covers whole rows, so it may extend beyond the window by parts of one.
  private paintImage(p: CanvasRenderingContext2D, image: HTMLCanvasElement, area: Area): void {
    const k = this.matrix.bin;
    const w = this.ranks;
    const fx = area.width / (w.x1 - w.x0);
    const fy = area.height / (w.y1 - w.y0);
    p.save();
    p.beginPath();
    p.rect(area.left, area.top, area.width, area.height);
    p.clip();
    p.imageSmoothingEnabled = false;
    p.drawImage(
      image,
      area.left + (this.view.x0 * k - w.x0) * fx,
      area.top + (this.view.y0 * k - w.y0) * fy,
      (this.view.x1 - this.view.x0) * k * fx,
      (this.view.y1 - this.view.y0) * k * fy,
    );
    p.restore();
  }

  private tell(x: number, y: number, event: PointerEvent): void {
    const { grid, view, matrix } = this;
    const w = this.ranks;
    if (!grid || x < w.x0 || y < w.y0 || x >= w.x1 || y >= w.y1) {
      hideTip();
      return;
    }
    const k = matrix.bin;
    const across = (view.x1 - view.x0) / grid.columns;
    const down = (view.y1 - view.y0) / grid.rows;
    const i = Math.floor((x / k - view.x0) / across);
    const j = Math.floor((y / k - view.y0) / down);
    const ranks = (cell: number, step: number, start: number) => {
      // Rows whose middle lies in the cell.
      const first = Math.ceil(start + cell * step - 0.5) * k;
      const last = Math.min(matrix.ranks, Math.ceil(start + (cell + 1) * step - 0.5) * k) - 1;
      return last > first ? `ranks ${first} to ${last}` : `rank ${first}`;
    };
    const at = j * grid.columns + i;
    const from = ranks(j, down, view.y0);
    showTip(
      [
        `from ${from}`,
        `to ${ranks(i, across, view.x0)}`,
        withUnit(grid.bytes[at] ?? 0, "B"),
        `${plain(grid.messages[at] ?? 0)} messages`,
      ],
      event.clientX,
      event.clientY,
    );
  }
}

class MatrixView implements Shown {
  private readonly panels: MatrixPanel[];
  private readonly window2d: Window2D;
  private readonly legend = h("div", {});
  private asked = 0;
  private left = false;

  constructor(
    host: HTMLElement,
    private readonly context: Context,
    runs: Run[],
  ) {
    const ranks = Math.max(...runs.map((run) => run.matrix!.ranks));
    this.window2d = new Window2D({ x0: 0, x1: ranks, y0: 0, y1: ranks }, { x: 4, y: 4 });
    const changed = () => this.ask();
    this.panels = runs.map(
      (run) => new MatrixPanel(run, this.window2d, changed, runMark(context.index, run)),
    );
    const act = (change: () => void) => () => {
      change();
      changed();
    };
    host.append(
      h(
        "div",
        { className: "controls" },
        select(
          "Show",
          "what",
          [
            { value: "bytes", text: "bytes" },
            { value: "messages", text: "messages" },
          ],
          this.what(),
          (value) => {
            context.state.set("what", value === "bytes" ? "" : value);
            changed();
          },
        ),
        button(
          "+",
          "near",
          act(() => this.window2d.zoom(0.5, 0.5)),
          "Nearer",
        ),
        button(
          "\u2212",
          "far",
          act(() => this.window2d.zoom(2, 2)),
          "Farther",
        ),
        button(
          "Show all",
          "whole",
          act(() => this.window2d.reset()),
        ),
        h("span", { className: "soft" }, "The wheel zooms; drag to move."),
      ),
      this.legend,
      h(
        "div",
        { className: `panels${runs.length > 1 ? " two" : ""}` },
        ...this.panels.map((panel) => panel.element),
      ),
    );
    void Promise.all(this.panels.map((panel) => panel.load())).then(() => {
      if (this.left) return;
      this.refresh();
      host.dataset["ready"] = "true";
    });
  }

  refresh(): void {
    if (!this.panels.map((panel) => panel.bin()).some((ok) => ok)) return;
    const what = this.what();
    const ranges = this.panels
      .map((panel) => (panel.grid ? rangeOf(panel.grid[what]) : { least: 0, most: 0 }))
      .filter((range) => range.most > 0);
    const range =
      ranges.length === 0
        ? { least: 0, most: 0 }
        : {
            least: Math.min(...ranges.map((r) => r.least)),
            most: Math.max(...ranges.map((r) => r.most)),
          };
    this.panels.forEach((panel) => panel.paint(what, range));
    const text = (v: number) => (what === "bytes" ? withUnit(v, "B", 3) : plain(v, 3));
    this.legend.replaceChildren(
      h(
        "div",
        { className: "legends" },
        rampLegend(
          heatRamp(),
          [text(range.least), text(Math.sqrt(range.least * range.most)), text(range.most)],
          `${what} per cell, logarithmic`,
          "nothing",
        ),
      ),
    );
    Object.assign(this.context.numbers, { window: this.window2d, range });
  }

  destroy(): void {
    this.left = true;
    cancelAnimationFrame(this.asked);
    this.panels.forEach((panel) => panel.destroy());
  }

  private what(): What {
    return this.context.state.get("what") === "messages" ? "messages" : "bytes";
  }

  private ask(): void {
    if (this.asked) return;
    this.asked = requestAnimationFrame(() => {
      this.asked = 0;
      this.refresh();
    });
  }
}

export const matrixView: View = {
  id: "matrix",
  title: "Traffic",
  compares: true,
  has: (run) => run.matrix !== undefined,
  show: (host, context, runs) => new MatrixView(host, context, runs),
};
