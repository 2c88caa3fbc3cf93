// SPDX-License-Identifier: Apache-2.0
// The network: heat over time and space, one run or two side by side.
import { heatRamp, kindColour } from "./colour";
import { axesChoices, axesFor, dimensionName } from "./cube";
import { button, check, h, select } from "./dom";
import type { Option } from "./dom";
import { webglWorks } from "./draw_solid";
import { unionOfTimes } from "./heat";
import type { Choice } from "./heat";
import { kindLegend, rampLegend } from "./legend";
import { framesOf, netModel, routerName } from "./netmodel";
import { NetPanel } from "./netpanel";
import type { Look } from "./netpanel";
import { Player } from "./player";
import { percent, Strip } from "./strip";
import type { Layer, Run } from "./types";
import { runMark } from "./view";
import type { Context, Shown, View } from "./view";

class NetworkView implements Shown {
  private readonly controls = h("div", { className: "controls" });
  private readonly legend = h("div", {});
  private readonly panels = h("div", { className: "panels" });
  private readonly player: Player;
  private readonly strip: Strip;
  private list: NetPanel[] = [];
  private asked = 0;
  private left = false;
  private readonly unwatch: () => void;

  constructor(
    private readonly host: HTMLElement,
    private readonly context: Context,
    private readonly runs: Run[],
  ) {
    this.player = new Player((ps, playing) => this.moved(ps, playing));
    this.strip = new Strip((ps) => this.player.goTo(ps));
    host.append(this.controls, this.player.element, this.legend, this.panels, this.strip.element);
    this.unwatch = context.state.watch((key) => {
      if (["layer", "view", "axes", "scale", "average"].includes(key)) this.rebuild();
    });
    void this.load();
  }

  destroy(): void {
    this.left = true;
    cancelAnimationFrame(this.asked);
    this.unwatch();
    this.player.destroy();
    this.strip.destroy();
    for (const panel of this.list) panel.destroy();
  }

  refresh(): void {
    if (this.list.length === 0) return;
    this.player.setTimes(this.times(), this.player.count > 0 ? this.player.ps : undefined);
    this.setStrip();
    this.drawLegend();
    this.draw();
  }

  private layers(): Layer[] {
    return this.list.flatMap((panel) => panel.run.heat?.layers ?? []);
  }

  private async load(): Promise<void> {
    for (const run of this.runs) {
      const [model, frames] = await Promise.all([netModel(run.network!), framesOf(run)]);
      if (this.left) return;
      this.list.push(
        new NetPanel(
          run,
          model,
          frames,
          this.context.announce,
          runMark(this.context.index, run),
        ),
      );
    }
    this.panels.classList.toggle("two", this.list.length > 1);
    this.panels.replaceChildren(...this.list.map((panel) => panel.element));
    const times = this.times();
    this.player.setTimes(times, this.context.state.number("t", times[this.busiest(times)] ?? 0));
    this.rebuild();
    this.host.dataset["ready"] = "true";
  }

  private times(): number[] {
    return unionOfTimes(this.list.map((panel) => panel.frames.endPs));
  }

  // A page opens at the busiest moment, where there is something to see.
  private busiest(times: number[]): number {
    const frames = (this.list.find((panel) => panel.frames.count > 0) ?? this.list[0]!).frames;
    const { mean } = frames.stats(this.choice());
    let best = 0;
    mean.forEach((v, t) => (best = v > mean[best]! ? t : best));
    return this.context.index.live
      ? times.length - 1
      : Math.max(0, times.indexOf(frames.endPs[best]!));
  }

  private choice(): Choice {
    const [layer, dimension] = this.context.state.get("layer").split(".");
    const known = this.layers().some((l) => l.id === layer);
    return {
      layer: known ? layer! : (this.layers()[0]?.id ?? ""),
      dimension: known && dimension !== undefined ? Number(dimension) : -1,
    };
  }

  // Of the cube with the most dimensions.
  private radix(): number[] {
    return this.list
      .map(({ model }) => (model.net.family === "cube" ? (model.net.radix ?? []) : []))
      .reduce((most, radix) => (radix.length > most.length ? radix : most), []);
  }

  private look(): Look {
    const { state } = this.context;
    const choice = this.choice();
    const average = state.get("average") === "yes";
    return {
      choice,
      average,
      scale: state.get("scale") === "max" ? this.fitted(choice, average) : 255,
      least: state.number("least", 0) / 100,
      solid: state.get("view") === "solid" && this.canBeSolid(),
      axes: axesFor(this.radix(), state.get("axes", "0,1").split(",").map(Number)),
    };
  }

  private fitted(choice: Choice, average: boolean): number {
    const most = this.list.map((panel) => {
      if (!average) return panel.frames.most(choice);
      const peak = (list?: Uint8Array) => list?.reduce((a, b) => Math.max(a, b), 0) ?? 0;
      const { frames } = panel;
      return Math.max(peak(frames.average(choice.layer)), peak(frames.nodeLinks(choice, -1)));
    });
    return Math.max(1, ...most);
  }

  private canBeSolid(): boolean {
    const cubes = this.list.every(
      (p) => p.model.net.family === "cube" && p.model.net.radix!.length === 3,
    );
    return cubes && webglWorks();
  }

  private rebuild(): void {
    if (this.list.length === 0) return;
    const { state } = this.context;
    const focus = (document.activeElement as HTMLElement | null)?.dataset["testid"];
    const look = this.look();
    const fields: HTMLElement[] = [];
    const heated = this.layers().length > 0;
    const { layer, dimension } = look.choice;
    if (heated) {
      fields.push(
        select(
          "Show",
          "layer",
          this.layerOptions(),
          dimension >= 0 ? `${layer}.${dimension}` : layer,
          (value) => state.set("layer", value),
        ),
      );
    }
    if (this.canBeSolid()) {
      fields.push(
        select(
          "As",
          "view",
          [
            { value: "", text: "slices" },
            { value: "solid", text: "3-D" },
          ],
          look.solid ? "solid" : "",
          (value) => state.set("view", value),
        ),
      );
    }
    if (this.radix().length > 2 && !look.solid) fields.push(this.axesField(look));
    if (look.solid) fields.push(this.leastField(look));
    if (heated) {
      const scales = [
        { value: "", text: "100 %" },
        { value: "max", text: "the maximum" },
      ];
      fields.push(
        select("Colours up to", "scale", scales, state.get("scale"), (value) =>
          state.set("scale", value),
        ),
        check("average over all time", "average", look.average, (on) =>
          state.set("average", on ? "yes" : ""),
        ),
      );
    }
    fields.push(this.findField());
    this.controls.replaceChildren(...fields);
    if (focus) this.controls.querySelector<HTMLElement>(`[data-testid="${focus}"]`)?.focus();
    for (const part of [this.player.element, this.legend, this.strip.element])
      part.hidden = !heated;
    this.player.enable(!look.average && heated);
    this.setStrip();
    this.drawLegend();
    this.draw();
  }

  private layerOptions(): Option[] {
    const options: Option[] = [];
    for (const layer of this.layers()) {
      if (options.some((o) => o.value === layer.id)) continue;
      const links = layer.per === "link";
      options.push({
        value: layer.id,
        text: links && layer.id === "links" ? "busiest link" : layer.title,
      });
      if (!links || !this.list.every((panel) => panel.model.links.direction)) continue;
      this.radix().forEach((_, d) =>
        options.push({ value: `${layer.id}.${d}`, text: `links along ${dimensionName(d)}` }),
      );
    }
    return options;
  }

  private axesField(look: Look): HTMLElement {
    const pairs = axesChoices(this.radix().length);
    return select("Tiles", "axes", pairs, look.axes.join(","), (value) =>
      this.context.state.set("axes", value),
    );
  }

  private leastField(look: Look): HTMLElement {
    const slider = h("input", {
      type: "range",
      min: "0",
      max: "100",
      value: String(Math.round(look.least * 100)),
      "data-testid": "least",
    });
    const text = h("span", {}, `Hide below ${slider.value} %`);
    slider.addEventListener("input", () => {
      this.context.state.set("least", slider.value === "0" ? "" : slider.value);
      text.textContent = `Hide below ${slider.value} %`;
      this.draw();
    });
    return h("label", { className: "field" }, text, slider);
  }

  private findField(): HTMLElement {
    const box = h("input", {
      type: "search",
      size: 15,
      "data-testid": "find",
      placeholder: "name or number",
    });
    const find = () => {
      if (box.value.trim() === "") return;
      const found = this.list.map((panel) => panel.find(box.value)).some((ok) => ok);
      box.setAttribute("aria-invalid", String(!found));
      if (!found) this.context.announce(`no router ${box.value}; ${this.nameHelp()}`);
    };
    box.addEventListener("keydown", (event) => {
      if (event.key === "Enter") find();
    });
    return h(
      "span",
      { className: "field" },
      h("label", { className: "field" }, h("span", {}, "Router"), box),
      button("Find", "find-button", find),
    );
  }

  private nameHelp(): string {
    const { net } = this.list[0]!.model;
    return `routers have numbers from 0 to ${net.routers - 1} and names as ${routerName(net, 0)}`;
  }

  private moved(ps: number, playing: boolean): void {
    if (!playing) this.context.state.set("t", ps);
    if (this.asked) return;
    this.asked = requestAnimationFrame(() => {
      this.asked = 0;
      this.strip.moveTo(this.player.ps);
      this.draw();
    });
  }

  private draw(): void {
    if (this.list.length === 0) return;
    const look = this.look();
    const ranges = this.list.map((panel) => panel.show(look, this.player.ps));
    Object.assign(this.context.numbers, {
      frame: this.player.index,
      frames: this.player.count,
      ps: this.player.ps,
      runs: this.list.map((panel) => panel.run.name),
      least: ranges.map((r) => r.least / 255),
      most: ranges.map((r) => r.most / 255),
      scale: look.scale / 255,
    });
  }

  private setStrip(): void {
    const choice = this.choice();
    this.strip.set(
      this.list.map(({ run, frames }) => ({
        name: run.name,
        colour: this.context.index.runs.indexOf(run),
        beginPs: frames.beginPs,
        endPs: frames.endPs,
        stats: frames.stats(choice),
      })),
      this.player.ps,
    );
  }

  private drawLegend(): void {
    const look = this.look();
    const top = look.scale / 255;
    const layer = this.layers().find((l) => l.id === look.choice.layer);
    const lines = kindLegend(
      this.list.map(({ run }) => ({
        text:
          this.list.length > 1
            ? `${run.name}: mean (full), max (dashed)`
            : "below: mean (full), max (dashed)",
        colour: kindColour(this.context.index.runs.indexOf(run)),
      })),
    );
    this.legend.replaceChildren(
      h(
        "div",
        { className: "legends" },
        rampLegend(heatRamp(), ["0", percent(top / 2), percent(top)], layer?.of ?? "", "idle"),
        lines,
      ),
    );
  }
}

export const networkView: View = {
  id: "network",
  title: "Network",
  compares: true,
  has: (run) => run.network !== undefined,
  show: (host, context, runs) => new NetworkView(host, context, runs),
};
