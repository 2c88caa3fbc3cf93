// SPDX-License-Identifier: Apache-2.0
// One run's network with its heat map at one moment.
import { heatRamp } from "./colour";
import { axesFor, dimensionName } from "./cube";
import { h } from "./dom";
import type { Drawing, Pick } from "./drawing";
import { LineDrawing } from "./draw_lines";
import { SliceDrawing } from "./draw_slices";
import { SolidDrawing } from "./draw_solid";
import { time } from "./format";
import { frameAt } from "./heat";
import type { Choice, Frames } from "./heat";
import { linkName, routerName } from "./netmodel";
import type { NetModel } from "./netmodel";
import type { Layer, Run } from "./types";
import { percent } from "./strip";

export interface Look {
  choice: Choice;
  average: boolean;
  scale: number; // value that has the last colour, 1..255
  least: number; // 3-D: hide below, 0..1
  solid: boolean;
  axes: [number, number]; // of the cube with the most dimensions
}

export class NetPanel {
  readonly element = h("section", { className: "panel" });
  private readonly title = h("h3", {});
  private readonly status = h("p", { className: "note", "data-testid": "router-text" });
  private readonly caption = h("p", { className: "note", "data-testid": "busiest" });
  private readonly body = h("div", {});
  private readonly values: Uint8Array;
  private readonly scaled: Uint8Array;
  private readonly scaledLinks: Uint8Array;
  private drawing: Drawing | undefined;
  private drawn = "";
  private look: Look | undefined;
  private frame = 0;
  private selected = -1;

  constructor(
    readonly run: Run,
    readonly model: NetModel,
    readonly frames: Frames,
    private readonly announce: (text: string) => void,
    mark: HTMLElement | null,
  ) {
    this.values = new Uint8Array(model.net.routers);
    this.scaled = new Uint8Array(model.net.routers);
    this.scaledLinks = new Uint8Array(model.links.from.length);
    if (mark) this.title.append(mark, `${run.name}: `);
    this.title.append(model.net.name);
    this.element.append(this.title, this.body, this.caption, this.status);
    this.element.dataset["testid"] = `network-${run.name}`;
  }

  layer(): Layer | undefined {
    return this.run.heat?.layers.find((layer) => layer.id === this.look?.choice.layer);
  }

  show(look: Look, ps: number): { least: number; most: number } {
    this.look = look;
    this.prepare(look);
    const ended = this.frames.count > 0 && ps > this.frames.endPs[this.frames.count - 1]!;
    this.frame = look.average ? -1 : frameAt(this.frames.endPs, ps);
    if (this.frames.count === 0 || (ended && !look.average)) this.values.fill(0);
    else this.frames.values(look.choice, this.frame, this.values);
    const idle = ended && !look.average;
    const factor = 255 / look.scale;
    const range = { least: 255, most: 0 };
    for (let r = 0; r < this.values.length; ++r) {
      const value = this.values[r]!;
      range.least = Math.min(range.least, value);
      range.most = Math.max(range.most, value);
      this.scaled[r] = value === 0 ? 0 : Math.max(1, Math.min(255, value * factor));
    }
    const raw =
      idle || this.frames.count === 0 ? undefined : this.frames.linkValues(look.choice, this.frame);
    this.drawing!.draw({
      ramp: heatRamp(),
      router: this.scaled,
      link: raw && this.scaleLinks(raw, factor),
    });
    this.say(ended && !look.average);
    return range;
  }

  destroy(): void {
    this.drawing?.destroy();
  }

  // Selects a router by its number or name; false if there is none.
  find(text: string): boolean {
    const wanted = text
      .trim()
      .toLowerCase()
      .replaceAll(/[\s()]/g, "");
    const { net } = this.model;
    let router = /^\d+$/.test(wanted) ? Number(wanted) : -1;
    for (let r = 0; router < 0 && r < net.routers; ++r) {
      if (
        routerName(net, r)
          .toLowerCase()
          .replaceAll(/[\s()]/g, "") === wanted
      )
        router = r;
    }
    if (router < 0 || router >= net.routers) return false;
    this.selected = -1; // A click on the selected router deselects it; a search never does.
    this.choose({ router });
    this.announce(this.status.textContent ?? "");
    return true;
  }

  private scaleLinks(raw: Uint8Array, factor: number): Uint8Array {
    const { direction } = this.model.links;
    const dimension = this.look!.choice.dimension;
    for (let i = 0; i < raw.length; ++i) {
      const value = dimension >= 0 && direction && direction[i]! >> 1 !== dimension ? 0 : raw[i]!;
      this.scaledLinks[i] = value === 0 ? 0 : Math.max(1, Math.min(255, value * factor));
    }
    return this.scaledLinks;
  }

  private prepare(look: Look): void {
    const { family, radix } = this.model.net;
    const axes = axesFor(radix ?? [], look.axes);
    const kind = family !== "cube" ? "lines" : look.solid ? "solid" : `slices ${axes}`;
    if (kind !== this.drawn) {
      this.drawing?.destroy();
      this.drawing = this.make(kind, axes);
      this.body.replaceChildren(this.drawing.element);
      this.drawn = kind;
      if (this.selected >= 0) this.drawing.mark([this.selected]);
    }
    if (this.drawing instanceof SolidDrawing) this.drawing.setLeast(Math.ceil(look.least * 255));
  }

  private make(kind: string, axes: [number, number]): Drawing {
    const options = {
      model: this.model,
      label: `Network of ${this.run.name}`,
      height: Math.max(320, Math.min(620, window.innerHeight - 330)),
      describe: (pick: Pick) => this.describe(pick),
      announce: this.announce,
      choose: (pick: Pick) => this.choose(pick),
    };
    if (kind === "lines") return new LineDrawing(options, false);
    if (kind === "solid") return new SolidDrawing(options);
    return new SliceDrawing(options, axes[0], axes[1]);
  }

  private choose(pick: Pick): void {
    if (!("router" in pick)) return;
    this.selected = this.selected === pick.router ? -1 : pick.router;
    this.drawing?.mark(this.selected >= 0 ? [this.selected] : []);
    this.say(false);
  }

  private say(ended: boolean): void {
    const parts: string[] = [];
    if (ended) parts.push(`This run ended at ${time(this.frames.endPs[this.frames.count - 1]!)}.`);
    if (this.selected >= 0) parts.push(this.describe({ router: this.selected }).join(", "));
    this.status.textContent = parts.join(" ");
    const busiest = ended ? -1 : this.busiestLink();
    const value = busiest < 0 ? 0 : this.frames.linkValues(this.look!.choice, this.frame)![busiest]!;
    this.caption.textContent =
      value > 0
        ? `Busiest link between routers: ${linkName(this.model, busiest)}: ${percent(value / 255)}.`
        : "";
  }

  private describe(pick: Pick): string[] {
    const { choice } = this.look!;
    const of = this.layer()?.of ?? "";
    if ("link" in pick) {
      const value = this.frames.linkValues(choice, this.frame)?.[pick.link] ?? 0;
      return [
        linkName(this.model, pick.link),
        `${percent(value / 255)} of ${of.replace(/^share of /, "")}`,
      ];
    }
    if ("node" in pick) return [`node ${pick.node}`];
    const share = this.values[pick.router]! / 255;
    const lines = [routerName(this.model.net, pick.router)];
    if (this.frames.count === 0) return [...lines, ...this.nodesText(pick.router)];
    if (this.layer()?.per === "router") {
      lines.push(`${percent(share)} of ${of.replace(/^share of /, "")}`);
    } else {
      const which = choice.dimension >= 0 ? ` along ${dimensionName(choice.dimension)}` : "";
      lines.push(`busiest link${which}: ${percent(share)}`);
      const link = this.busiestLink(pick.router);
      const ofLink = link < 0 ? 0 : this.frames.linkValues(choice, this.frame)![link]!;
      if (this.values[pick.router]! > ofLink) lines.push("to or from a node");
      else if (link >= 0 && share > 0) lines.push(linkName(this.model, link));
    }
    return lines;
  }

  private nodesText(router: number): string[] {
    const { nodeRouter, net } = this.model;
    const nodes: number[] = [];
    nodeRouter?.forEach((r, node) => r === router && nodes.push(node));
    if (nodes.length === 0 || net.nodes === 0) return [];
    return [nodes.length === 1 ? `node ${nodes[0]}` : `nodes ${nodes[0]} to ${nodes.at(-1)}`];
  }

  // Of a router, or of all.
  private busiestLink(router?: number): number {
    const raw = this.frames.linkValues(this.look!.choice, this.frame);
    const { from, direction } = this.model.links;
    const { dimension } = this.look!.choice;
    let best = -1;
    for (let i = 0; raw && i < raw.length; ++i) {
      const other = router !== undefined && from[i] !== router;
      if (other || (dimension >= 0 && direction && direction[i]! >> 1 !== dimension))
        continue;
      if (best < 0 || raw[i]! > raw[best]!) best = i;
    }
    return best;
  }
}
