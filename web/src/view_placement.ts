// SPDX-License-Identifier: Apache-2.0
// The positions of ranks before and after mapping; a selected rank is marked in both pictures.
import { wordsOf } from "./blocks";
import { orderRamp } from "./colour";
import { axesChoices, axesFor } from "./cube";
import { button, h, select } from "./dom";
import type { Drawing, Pick } from "./drawing";
import { LineDrawing } from "./draw_lines";
import { SliceDrawing } from "./draw_slices";
import { rampLegend } from "./legend";
import { netModel, nodesByRouter, routerName } from "./netmodel";
import type { NetModel } from "./netmodel";
import { listRanks, ranksByNode, shadeOf } from "./ranks";
import type { Where } from "./ranks";
import type { Run } from "./types";
import { runMark } from "./view";
import type { Context, Shown, View } from "./view";

class PlacementPanel {
  readonly element = h("section", { className: "panel" });
  private readonly text = h("p", { className: "note", "data-testid": "rank-text" });
  private readonly where: Where;
  private readonly nodes: { first: Uint32Array; nodes: Uint32Array };
  private drawing: Drawing | undefined;

  constructor(
    title: HTMLElement,
    private readonly model: NetModel,
    private readonly nodeOf: Uint32Array,
    private readonly announce: (text: string) => void,
    private readonly choose: (rank: number) => void,
  ) {
    this.where = ranksByNode(nodeOf, model.net.nodes);
    this.nodes = nodesByRouter(model);
    this.element.append(title, h("div", {}), this.text);
  }

  show(wanted: readonly number[], rank: number, height: number): void {
    this.drawing?.destroy();
    const { family, radix } = this.model.net;
    const axes = axesFor(radix ?? [], wanted);
    const options = {
      model: this.model,
      label: this.element.querySelector("h3")!.textContent ?? "",
      height,
      describe: (pick: Pick) => this.describe(pick),
      announce: this.announce,
      choose: (pick: Pick) => {
        const first = this.ranksOf(pick)[0];
        if (first !== undefined) this.choose(first);
      },
    };
    this.drawing =
      family === "cube"
        ? new SliceDrawing(options, axes[0], axes[1])
        : new LineDrawing(options, true);
    this.element.children[1]!.replaceChildren(this.drawing.element);
    this.draw();
    this.mark(rank);
  }

  draw(): void {
    const { net, nodeRouter } = this.model;
    const router = nodeRouter
      ? (node: number) => nodeRouter[node] ?? net.routers
      : (node: number) => node;
    this.drawing?.draw({
      ramp: orderRamp(),
      router: shadeOf(this.nodeOf, router, net.routers),
      node: shadeOf(this.nodeOf, (node) => node, net.nodes),
    });
  }

  mark(rank: number): void {
    const node = this.nodeOf[rank];
    if (node === undefined) {
      this.drawing?.mark([], []);
      this.text.textContent = "";
      return;
    }
    const router = this.model.nodeRouter?.[node] ?? node;
    this.drawing?.mark([router], [node]);
    this.text.textContent = `rank ${rank}: node ${node}, ${routerName(this.model.net, router)}`;
  }

  destroy(): void {
    this.drawing?.destroy();
  }

  private ranksOf(pick: Pick): number[] {
    if ("node" in pick)
      return [
        ...this.where.ranks.subarray(this.where.first[pick.node], this.where.first[pick.node + 1]),
      ];
    if (!("router" in pick)) return [];
    const { first, nodes } = this.nodes;
    return [...nodes.subarray(first[pick.router], first[pick.router + 1])].flatMap((node) =>
      this.ranksOf({ node }),
    );
  }

  private describe(pick: Pick): string[] {
    if ("node" in pick) return [listRanks(this.ranksOf(pick)), `node ${pick.node}`];
    if (!("router" in pick)) return [];
    const { first, nodes } = this.nodes;
    const own = nodes.subarray(first[pick.router], first[pick.router + 1]);
    const lines = [listRanks(this.ranksOf(pick)), routerName(this.model.net, pick.router)];
    if (own.length === 1) lines.push(`node ${own[0]}`);
    if (own.length > 1) lines.push(`nodes ${own[0]} to ${own[own.length - 1]}`);
    return lines;
  }
}

class PlacementView implements Shown {
  private panels: PlacementPanel[] = [];
  private readonly controls = h("div", { className: "controls" });
  private readonly legend = h("div", {});
  private readonly grid = h("div", { className: "panels two" });
  private readonly rankBox = h("input", { type: "number", min: "0", "data-testid": "rank" });
  private radix: readonly number[] = []; // of the cube with the most dimensions
  private ranks = 1;
  private left = false;

  constructor(
    private readonly host: HTMLElement,
    private readonly context: Context,
    private readonly runs: Run[],
  ) {
    host.append(this.controls, this.legend, this.grid);
    void this.load();
  }

  refresh(): void {
    this.panels.forEach((panel) => panel.draw());
    this.drawLegend();
  }

  destroy(): void {
    this.left = true;
    this.panels.forEach((panel) => panel.destroy());
  }

  private async load(): Promise<void> {
    const choose = (rank: number) => this.choose(rank);
    for (const run of this.runs) {
      const model = await netModel(run.network!);
      const mark = () => runMark(this.context.index, run);
      const { placement } = run;
      for (const [block, name, when] of [
        [placement!.before, placement!.before_name, "before"],
        [placement!.after, placement!.after_name, "after"],
      ] as const) {
        const nodeOf = await wordsOf(block);
        if (this.left) return;
        this.ranks = Math.max(this.ranks, nodeOf.length);
        this.panels.push(
          new PlacementPanel(
            h("h3", {}, mark(), mark() ? `${run.name}, ` : "", `${when}: ${name}`),
            model,
            nodeOf,
            this.context.announce,
            choose,
          ),
        );
      }
      const radix = model.net.radix ?? [];
      if (radix.length > this.radix.length) this.radix = radix;
    }
    this.grid.replaceChildren(...this.panels.map((panel) => panel.element));
    this.fillControls();
    this.showAll();
    this.drawLegend();
    this.host.dataset["ready"] = "true";
  }

  private axes(): [number, number] {
    return axesFor(this.radix, this.context.state.get("axes", "0,1").split(",").map(Number));
  }

  private showAll(): void {
    const height = Math.max(300, Math.min(560, window.innerHeight - 280));
    this.panels.forEach((panel) => panel.show(this.axes(), this.chosen(), height));
  }

  private chosen(): number {
    return this.context.state.number("rank", -1);
  }

  private choose(rank: number): void {
    this.context.state.set("rank", rank >= 0 ? rank : "");
    this.rankBox.value = rank >= 0 ? String(rank) : "";
    this.panels.forEach((panel) => panel.mark(rank));
  }

  private fillControls(): void {
    const rank = this.chosen();
    Object.assign(this.rankBox, {
      max: String(this.ranks - 1),
      value: rank >= 0 ? String(rank) : "",
    });
    this.rankBox.addEventListener("input", () =>
      this.choose(this.rankBox.value === "" ? -1 : Number(this.rankBox.value)),
    );
    this.controls.append(
      h("label", { className: "field" }, h("span", {}, "Mark rank"), this.rankBox),
      button("None", "no-rank", () => this.choose(-1)),
    );
    if (this.radix.length < 3) return;
    const pairs = axesChoices(this.radix.length);
    this.controls.append(
      select("Tiles", "axes", pairs, this.axes().join(","), (value) => {
        this.context.state.set("axes", value);
        this.showAll();
      }),
    );
  }

  private drawLegend(): void {
    this.legend.replaceChildren(
      h(
        "div",
        { className: "legends" },
        rampLegend(
          orderRamp(),
          ["0", String(Math.round((this.ranks - 1) / 2)), String(this.ranks - 1)],
          "lowest rank at the place",
          "no rank",
        ),
      ),
    );
  }
}

export const placementView: View = {
  id: "placement",
  title: "Placement",
  compares: true,
  has: (run) => run.placement !== undefined && run.network !== undefined,
  show: (host, context, runs) => new PlacementView(host, context, runs),
};
