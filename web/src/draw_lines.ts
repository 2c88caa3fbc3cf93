// SPDX-License-Identifier: Apache-2.0
// Trees and graphs: switches as points, links as lines, the busiest on top. Zoom and pan.
import { pageColour } from "./colour";
import { h, pen, sizeCanvas } from "./dom";
import { onWidth, Teller } from "./drawing";
import type { Drawing, DrawingOptions, Pick, Shade } from "./drawing";
import { bindGestures } from "./gestures";
import { graphPlaces, groupPlaces, treePlaces } from "./layout";
import type { Places } from "./layout";
import { linkName, nodesByRouter, routerName } from "./netmodel";
import { busiest, nearestLine, nearestPoint } from "./pick";
import { Window2D } from "./window2d";

export const linksDrawnMost = 10_000;
const margin = 26;

export class LineDrawing implements Drawing {
  readonly element = h("div", { className: "drawing" });
  readonly note = h("p", { className: "note" });
  private readonly canvas = h("canvas", { role: "img", "data-testid": "lines" });
  private readonly teller: Teller;
  private readonly observer: ResizeObserver;
  private readonly window = new Window2D(
    { x0: 0, x1: 1, y0: 0, y1: 1 },
    { x: 0.002, y: 0.002 },
    0.2,
  );
  private places: Places;
  private nodes: (Places & { of: Uint32Array }) | undefined;
  private readonly tree: boolean;
  private groups: Places | undefined; // their centres
  private widest = 1;
  private width = 0;
  private shade: Shade | undefined;
  private order = new Uint32Array(0);
  private marked: readonly number[] = [];
  private markedNodes: readonly number[] = [];
  private cursor = -1;
  private stopped = false;

  constructor(
    private readonly options: DrawingOptions,
    private readonly showNodes: boolean,
  ) {
    const { model } = options;
    this.tree = model.net.family === "tree" && model.level !== undefined;
    this.teller = new Teller(options);
    this.canvas.setAttribute(
      "aria-label",
      `${options.label}; plus and minus zoom, arrow keys move, ` +
        "n and p go to the next and previous router",
    );
    this.element.append(this.canvas, this.note);
    if (this.tree) {
      const places = treePlaces(model.level!);
      this.places = places;
      this.widest = places.widest;
      if (showNodes) this.placeNodes();
    } else if (model.group) {
      const places = groupPlaces(model.group);
      this.places = places;
      this.groups = places.centre;
      this.element.dataset["settled"] = "true";
    } else {
      const steps = graphPlaces(model.links, model.net.routers);
      this.places = steps.next().value as Places;
      this.refine(steps);
    }
    this.bind();
    this.observer = onWidth(this.element, (width) => {
      this.width = width;
      this.paint();
    });
  }

  draw(shade: Shade): void {
    this.shade = shade;
    const link = shade.link;
    this.order = link ? busiest(link, linksDrawnMost) : this.firstLinks();
    const left = (link?.length ?? this.options.model.links.from.length) - this.order.length;
    this.note.textContent =
      left > 0 ? `The ${linksDrawnMost.toLocaleString("en-GB")} busiest links are drawn.` : "";
    this.paint();
  }

  mark(routers: readonly number[], nodes: readonly number[] = []): void {
    this.marked = routers;
    this.markedNodes = nodes;
    this.paint();
  }

  destroy(): void {
    this.stopped = true;
    this.observer.disconnect();
    this.teller.at(undefined, 0, 0);
  }

  private firstLinks(): Uint32Array<ArrayBuffer> {
    const count = Math.min(this.options.model.links.from.length, linksDrawnMost);
    return Uint32Array.from({ length: count }, (_, i) => i);
  }

  // Draws nodes as a row of their own under the lowest switches, in their order.
  private placeNodes(): void {
    const { nodes } = nodesByRouter(this.options.model);
    const x = new Float32Array(nodes.length);
    const y = new Float32Array(nodes.length).fill(1);
    nodes.forEach((_, i) => (x[i] = (i + 0.5) / nodes.length));
    this.nodes = { x, y, of: nodes };
    this.places.y = this.places.y.map((v) => v * 0.78);
  }

  private refine(steps: Generator<Places>): void {
    const work = () => {
      if (this.stopped) return;
      const until = performance.now() + 25;
      let step = steps.next();
      while (!step.done && performance.now() < until) {
        this.places = step.value;
        step = steps.next();
      }
      if (!step.done) this.places = step.value;
      this.element.dataset["settled"] = String(step.done === true);
      this.paint();
      if (!step.done) setTimeout(work, 0);
    };
    setTimeout(work, 0);
  }

  private area() {
    return {
      left: margin,
      top: margin,
      width: Math.max(10, this.width - 2 * margin),
      height: this.height() - 2 * margin,
    };
  }

  private height(): number {
    return this.tree ? Math.min(this.options.height, 460) : this.options.height;
  }

  private toScreen(places: Places): Places {
    const a = this.area();
    const w = this.window;
    const fx = a.width / (w.x1 - w.x0);
    const fy = a.height / (w.y1 - w.y0);
    return {
      x: places.x.map((v) => a.left + (v - w.x0) * fx),
      y: places.y.map((v) => a.top + (v - w.y0) * fy),
    };
  }

  private paint(): void {
    if (!this.shade || this.width <= 0) return;
    const ratio = sizeCanvas(this.canvas, this.width, this.height());
    const p = pen(this.canvas);
    p.setTransform(ratio, 0, 0, ratio, 0, 0);
    p.clearRect(0, 0, this.width, this.height());
    const at = this.toScreen(this.places);
    this.paintLinks(p, at);
    this.paintRouters(p, at);
    this.paintNames(p, at);
    if (this.nodes) this.paintNodes(p, this.toScreen(this.nodes));
    this.paintMarks(p, at);
  }

  private paintLinks(p: CanvasRenderingContext2D, at: Places): void {
    const { from, to } = this.options.model.links;
    const { link, ramp } = this.shade!;
    const dense = Math.min(1, 3000 / Math.max(this.order.length, 1));
    const idle = pageColour("line-strong");
    const thin = Math.max(0.3, Math.min(1, Math.sqrt(500 / Math.max(this.order.length, 1))));
    let last = -1;
    for (const i of this.order) {
      const value = link ? link[i]! : 0;
      const step = value === 0 ? 0 : (value >> 3) + 1;
      if (step !== last) {
        if (last >= 0) p.stroke();
        p.beginPath();
        p.strokeStyle = value > 0 ? ramp.css[value]! : idle;
        p.lineWidth = Math.max(0.6, (0.7 + (2.3 * value) / 255) * thin);
        // Among many links the emptier ones must not hide the others.
        p.globalAlpha = value > 0 ? dense + (1 - dense) * (value / 255) ** 2 : 0.05 + 0.3 * dense;
        last = step;
      }
      p.moveTo(at.x[from[i]!]!, at.y[from[i]!]!);
      p.lineTo(at.x[to[i]!]!, at.y[to[i]!]!);
    }
    if (last >= 0) p.stroke();
    p.globalAlpha = 1;
  }

  private size(): number {
    const zoom = 1 / (this.window.x1 - this.window.x0);
    if (this.tree) return Math.max(1, Math.min(16, (this.area().width * zoom) / this.widest - 1));
    const share = Math.sqrt((this.area().width * this.height()) / this.options.model.net.routers);
    return Math.max(2, Math.min(14, share * 0.3 * Math.sqrt(zoom)));
  }

  private paintRouters(p: CanvasRenderingContext2D, at: Places): void {
    const { router, ramp } = this.shade!;
    const size = this.size();
    const ring = size >= 5;
    p.lineWidth = 1;
    p.strokeStyle = pageColour("line-strong");
    for (let r = 0; r < router.length; ++r) {
      const x = at.x[r]!;
      const y = at.y[r]!;
      if (x < -20 || y < -20 || x > this.width + 20 || y > this.height() + 20) continue;
      p.fillStyle = ramp.css[this.nodes ? 256 : router[r]!]!;
      if (this.tree) {
        p.fillRect(x - size / 2, y - 6, size, 12);
        if (ring) p.strokeRect(x - size / 2, y - 6, size, 12);
      } else {
        p.beginPath();
        p.arc(x, y, size / 2 + 1, 0, 2 * Math.PI);
        p.fill();
        if (ring) p.stroke();
      }
    }
  }

  // What is named, most important first: the busiest link, groups, and routers if few are in view.
  private names(at: Places): [string, number, number][] {
    const { model } = this.options;
    const names: [string, number, number][] = [];
    const link = this.shade!.link;
    const most = link?.[this.order.at(-1) ?? 0] ?? 0; // The busiest link is drawn last.
    if (link && most > 0) {
      const busy = link.indexOf(most);
      const a = model.links.from[busy]!;
      const b = model.links.to[busy]!;
      const text = `busiest: ${linkName(model, busy)}`;
      names.push([text, (at.x[a]! + at.x[b]!) / 2, (at.y[a]! + at.y[b]!) / 2 + 4]);
    }
    if (this.groups) {
      const centre = this.toScreen(this.groups);
      centre.x.forEach((x, g) => names.push([`group ${g}`, x, centre.y[g]! + 4]));
    }
    for (const r of this.namedRouters(at))
      names.push([routerName(model.net, r), at.x[r]!, at.y[r]! + this.nameBelow(r)]);
    return names;
  }

  private namedRouters(at: Places): number[] {
    const { net } = this.options.model;
    const inView: number[] = [];
    for (let r = 0; r < net.routers && inView.length <= 120; ++r) {
      if (at.x[r]! > 0 && at.x[r]! < this.width && at.y[r]! > 0 && at.y[r]! < this.height())
        inView.push(r);
    }
    return inView.length > 120 ? [] : inView;
  }

  private paintNames(p: CanvasRenderingContext2D, at: Places): void {
    p.font = "11px system-ui, sans-serif";
    p.textAlign = "center";
    p.fillStyle = pageColour("soft");
    p.strokeStyle = pageColour("panel");
    p.lineWidth = 3;
    p.lineJoin = "round";
    const taken: [number, number, number][] = [];
    for (const [text, wanted, y] of this.names(at)) {
      const half = p.measureText(text).width / 2 + 3;
      const x = Math.min(Math.max(wanted, half), this.width - half);
      if (taken.some(([tx, ty, th]) => Math.abs(tx - x) < th + half && Math.abs(ty - y) < 13))
        continue;
      taken.push([x, y, half]);
      p.strokeText(text, x, y);
      p.fillText(text, x, y);
    }
    p.textAlign = "left";
  }

  // Names are drawn where there are no links: above a tree's upper rows, below its lowest.
  private nameBelow(router: number): number {
    if (!this.tree) return -this.size() / 2 - 5;
    return this.options.model.level![router] === 0 && !this.nodes ? 20 : -10;
  }

  private paintNodes(p: CanvasRenderingContext2D, at: Places): void {
    const { node, ramp } = this.shade!;
    const of = this.nodes!.of;
    const zoom = 1 / (this.window.x1 - this.window.x0);
    const size = Math.max(1, Math.min(16, (this.area().width * zoom) / of.length - 0.5));
    this.paintHosts(p, at);
    of.forEach((n, i) => {
      p.fillStyle = ramp.css[node?.[n] ?? 256]!;
      p.fillRect(at.x[i]! - size / 2, at.y[i]! - 8, size, 16);
      if (!this.markedNodes.includes(n)) return;
      p.strokeStyle = pageColour("mark");
      p.lineWidth = 2;
      p.strokeRect(at.x[i]! - size / 2 - 2, at.y[i]! - 10, size + 4, 20);
    });
  }

  private paintHosts(p: CanvasRenderingContext2D, at: Places): void {
    const router = this.options.model.nodeRouter;
    if (!router || this.nodes!.of.length > linksDrawnMost) return;
    const up = this.toScreen(this.places);
    p.strokeStyle = this.shade!.ramp.css[256]!;
    p.lineWidth = 1;
    p.beginPath();
    this.nodes!.of.forEach((n, i) => {
      p.moveTo(up.x[router[n]!]!, up.y[router[n]!]! + 6);
      p.lineTo(at.x[i]!, at.y[i]!);
    });
    p.stroke();
  }

  private paintMarks(p: CanvasRenderingContext2D, at: Places): void {
    const ring = (r: number, colour: string) => {
      p.strokeStyle = colour;
      p.lineWidth = 2.5;
      p.beginPath();
      p.arc(at.x[r]!, at.y[r]!, Math.max(9, this.size() / 2 + 4), 0, 2 * Math.PI);
      p.stroke();
    };
    for (const r of this.marked) ring(r, pageColour("mark"));
    if (this.cursor >= 0) ring(this.cursor, pageColour("ink"));
  }

  private pickAt(x: number, y: number): Pick | undefined {
    const at = this.toScreen(this.places);
    if (this.nodes) {
      const i = nearestPoint(this.toScreen(this.nodes), x, y, 10);
      if (i >= 0) return { node: this.nodes.of[i]! };
    }
    const router = nearestPoint(at, x, y, Math.max(9, this.size() / 2 + 3));
    if (router >= 0) return { router };
    if (!this.shade?.link || this.showNodes) return undefined;
    const link = nearestLine(at, this.options.model.links, this.order, { x, y, reach: 5 });
    return link >= 0 ? { link } : undefined;
  }

  private bind(): void {
    const pick = (x: number, y: number) => {
      const a = this.area();
      const w = this.window;
      return this.pickAt(
        a.left + ((x - w.x0) / (w.x1 - w.x0)) * a.width,
        a.top + ((y - w.y0) / (w.y1 - w.y0)) * a.height,
      );
    };
    bindGestures(this.canvas, {
      window: this.window,
      wheel: "both",
      area: () => this.area(),
      changed: () => this.paint(),
      hover: (x, y, event) => this.teller.at(pick(x, y), event.clientX, event.clientY),
      leave: () => this.teller.at(undefined, 0, 0),
      click: (x, y) => {
        const found = pick(x, y);
        if (found) this.options.choose?.(found);
      },
    });
    this.canvas.addEventListener("keydown", (event) => this.key(event));
    this.canvas.addEventListener("blur", () => {
      this.cursor = -1;
      this.teller.at(undefined, 0, 0);
      this.paint();
    });
  }

  private key(event: KeyboardEvent): void {
    const count = this.options.model.net.routers;
    if (event.key === "Enter" && this.cursor >= 0) this.options.choose?.({ router: this.cursor });
    if (event.key !== "n" && event.key !== "p") return;
    event.preventDefault();
    const step = event.key === "n" ? 1 : -1;
    this.cursor = this.cursor < 0 ? 0 : (this.cursor + step + count) % count;
    this.paint();
    const at = this.toScreen(this.places);
    const box = this.canvas.getBoundingClientRect();
    this.teller.say(
      { router: this.cursor },
      box.left + at.x[this.cursor]!,
      box.top + at.y[this.cursor]!,
    );
  }
}
