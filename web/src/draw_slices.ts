// SPDX-License-Identifier: Apache-2.0
// A cube as tiles. All routers are drawn into one small image, a pixel each, which is then
// enlarged.
import { pageColour } from "./colour";
import { fitTiles, makeSlices } from "./cube";
import type { Slices } from "./cube";
import { h, pen, sizeCanvas } from "./dom";
import { onWidth, Teller } from "./drawing";
import type { Drawing, DrawingOptions, Shade } from "./drawing";

const gap = 10;
const labelHeight = 14;

export class SliceDrawing implements Drawing {
  readonly element = h("div", { className: "drawing" });
  private readonly canvas = h("canvas", { tabIndex: 0, role: "img", "data-testid": "slices" });
  private readonly small = document.createElement("canvas");
  private readonly teller: Teller;
  private readonly observer: ResizeObserver;
  private slices: Slices;
  private fit = { columns: 1, cell: 1 };
  private width = 0;
  private shade: Shade | undefined;
  private marked: readonly number[] = [];
  private cursor = -1;

  constructor(
    private readonly options: DrawingOptions,
    across: number,
    down: number,
  ) {
    this.slices = makeSlices(options.model.net.radix!, across, down);
    this.teller = new Teller(options);
    this.canvas.setAttribute(
      "aria-label",
      `${options.label}; arrow keys move from router to router`,
    );
    this.element.append(this.canvas);
    this.bind();
    this.observer = onWidth(this.element, (width) => {
      this.width = width;
      this.paint();
    });
  }

  draw(shade: Shade): void {
    this.shade = shade;
    this.paint();
  }

  mark(routers: readonly number[]): void {
    this.marked = routers;
    this.paint();
  }

  destroy(): void {
    this.observer.disconnect();
    this.teller.at(undefined, 0, 0);
  }

  private origin(tile: number): [number, number] {
    const { columns, cell } = this.fit;
    const column = tile % columns;
    const row = (tile - column) / columns;
    const top = this.slices.tiles > 1 ? labelHeight : 0;
    return [
      column * (this.slices.width * cell + gap),
      row * (this.slices.height * cell + gap + top) + top,
    ];
  }

  private paint(): void {
    if (!this.shade || this.width <= 0) return;
    const s = this.slices;
    const label = s.tiles > 1 ? labelHeight : 0;
    this.fit = fitTiles(s, this.width, this.options.height, gap, label);
    const rows = Math.ceil(s.tiles / this.fit.columns);
    const height = Math.ceil(rows * (s.height * this.fit.cell + gap + label));
    const ratio = sizeCanvas(this.canvas, this.width, height);
    const p = pen(this.canvas);
    p.setTransform(ratio, 0, 0, ratio, 0, 0);
    p.clearRect(0, 0, this.width, height);
    this.fillSmall(this.shade);
    this.paintTiles(p);
    this.paintMarks(p);
  }

  private fillSmall(shade: Shade): void {
    const s = this.slices;
    this.small.width = s.width;
    this.small.height = s.height * s.tiles;
    const image = pen(this.small).createImageData(s.width, s.height * s.tiles);
    const pixels = new Uint32Array(image.data.buffer);
    const words = shade.ramp.words;
    const { place } = s;
    for (let r = 0; r < place.length; ++r) pixels[place[r]!] = words[shade.router[r]!]!;
    pen(this.small).putImageData(image, 0, 0);
  }

  private paintTiles(p: CanvasRenderingContext2D): void {
    const s = this.slices;
    const { cell } = this.fit;
    const w = s.width * cell;
    const t = s.height * cell;
    p.imageSmoothingEnabled = false;
    p.font = "11px system-ui, sans-serif";
    p.textBaseline = "alphabetic";
    const page = pageColour("panel");
    const ink = pageColour("soft");
    for (let tile = 0; tile < s.tiles; ++tile) {
      const [x, y] = this.origin(tile);
      p.drawImage(this.small, 0, tile * s.height, s.width, s.height, x, y, w, t);
      if (cell >= 6) {
        p.fillStyle = page;
        for (let i = 1; i < s.width; ++i) p.fillRect(x + i * cell - 1, y, 1, t);
        for (let i = 1; i < s.height; ++i) p.fillRect(x, y + i * cell - 1, w, 1);
      }
      if (s.tiles === 1) continue;
      const full = s.tileName(tile);
      const short = full.replaceAll(/[a-z]\d* = /g, "").replaceAll(" ", "");
      const text = [full, short].find((name) => p.measureText(name).width <= w + gap - 3);
      p.fillStyle = ink;
      if (text) p.fillText(text, x, y - 3);
    }
  }

  private paintMarks(p: CanvasRenderingContext2D): void {
    const { cell } = this.fit;
    const frame = (router: number, colour: string) => {
      const [x, y] = this.corner(router);
      p.strokeStyle = pageColour("panel");
      p.lineWidth = 4;
      p.strokeRect(x - 1.5, y - 1.5, cell + 2, cell + 2);
      p.strokeStyle = colour;
      p.lineWidth = 2;
      p.strokeRect(x - 1.5, y - 1.5, cell + 2, cell + 2);
    };
    for (const router of this.marked) frame(router, pageColour("mark"));
    if (this.cursor >= 0) frame(this.cursor, pageColour("ink"));
  }

  private corner(router: number): [number, number] {
    const s = this.slices;
    const place = s.place[router]!;
    const tile = Math.floor(place / (s.width * s.height));
    const inTile = place % (s.width * s.height);
    const [x, y] = this.origin(tile);
    return [
      x + (inTile % s.width) * this.fit.cell,
      y + Math.floor(inTile / s.width) * this.fit.cell,
    ];
  }

  private pickAt(x: number, y: number): number {
    const s = this.slices;
    const { columns, cell } = this.fit;
    const label = s.tiles > 1 ? labelHeight : 0;
    const column = Math.floor(x / (s.width * cell + gap));
    const row = Math.floor(y / (s.height * cell + gap + label));
    const tile = row * columns + column;
    if (column < 0 || column >= columns || tile < 0 || tile >= s.tiles) return -1;
    const [left, top] = this.origin(tile);
    const i = Math.floor((x - left) / cell);
    const j = Math.floor((y - top) / cell);
    if (i < 0 || j < 0 || i >= s.width || j >= s.height) return -1;
    return s.router[(tile * s.height + j) * s.width + i]!;
  }

  private bind(): void {
    const at = (event: PointerEvent) => {
      const box = this.canvas.getBoundingClientRect();
      return this.pickAt(event.clientX - box.left, event.clientY - box.top);
    };
    const hover = (event: PointerEvent) => {
      const router = at(event);
      this.teller.at(router >= 0 ? { router } : undefined, event.clientX, event.clientY);
    };
    this.canvas.addEventListener("pointermove", hover);
    this.canvas.addEventListener("pointerleave", () => this.teller.at(undefined, 0, 0));
    this.canvas.addEventListener("pointerup", (event) => {
      hover(event);
      const router = at(event);
      if (router >= 0) this.options.choose?.({ router });
    });
    this.canvas.addEventListener("keydown", (event) => this.key(event));
    this.canvas.addEventListener("blur", () => {
      this.cursor = -1;
      this.teller.at(undefined, 0, 0);
      this.paint();
    });
  }

  private key(event: KeyboardEvent): void {
    if (event.key === "Enter" && this.cursor >= 0) {
      this.options.choose?.({ router: this.cursor });
      return;
    }
    const steps: Record<string, [number, number]> = {
      ArrowLeft: [-1, 0],
      ArrowRight: [1, 0],
      ArrowUp: [0, -1],
      ArrowDown: [0, 1],
    };
    const step = steps[event.key];
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    this.cursor = this.cursor < 0 ? this.slices.router[0]! : this.moved(step);
    this.paint();
    const box = this.canvas.getBoundingClientRect();
    const [x, y] = this.corner(this.cursor);
    this.teller.say(
      { router: this.cursor },
      box.left + x + this.fit.cell,
      box.top + y + this.fit.cell,
    );
  }

  // At a tile's edge the cursor moves on to the next tile.
  private moved([dx, dy]: [number, number]): number {
    const s = this.slices;
    const place = s.place[this.cursor]!;
    let tile = Math.floor(place / (s.width * s.height));
    let column = (place % s.width) + dx;
    let row = (Math.floor(place / s.width) % s.height) + dy;
    const to =
      tile +
      (column < 0 ? -1 : column >= s.width ? 1 : 0) +
      (row < 0 ? -this.fit.columns : row >= s.height ? this.fit.columns : 0);
    if (to < 0 || to >= s.tiles) return this.cursor;
    tile = to;
    column = (column + s.width) % s.width;
    row = (row + s.height) % s.height;
    return s.router[(tile * s.height + row) * s.width + column]!;
  }
}
