// SPDX-License-Identifier: Apache-2.0
// How full links and buffers were, frame by frame: 255 is full. Values per router are made from
// those of its outgoing links and of the links to and from its nodes.
import { bytesOf } from "./blocks";
import type { Heat } from "./types";

export interface LinkEnds {
  from: Uint32Array;
  to: Uint32Array;
  direction?: Uint8Array;
}

// What is shown: a layer, and for a cube's links optionally only those along one dimension.
export interface Choice {
  layer: string;
  dimension: number; // -1: all
}

export function routerValues(
  frame: Uint8Array,
  links: LinkEnds,
  dimension: number,
  out: Uint8Array,
): Uint8Array {
  out.fill(0);
  const { from, direction } = links;
  for (let i = 0; i < frame.length; ++i) {
    const value = frame[i]!;
    if (value === 0) continue;
    if (dimension >= 0 && direction && direction[i]! >> 1 !== dimension) continue;
    const router = from[i]!;
    if (value > out[router]!) out[router] = value;
  }
  return out;
}

// The frame that covers `ps`: the first that ends there or later; the last one for all later times.
export function frameAt(endPs: readonly number[], ps: number): number {
  let low = 0;
  let high = endPs.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (endPs[middle]! >= ps) high = middle;
    else low = middle + 1;
  }
  return Math.max(low, 0);
}

// The end times of all runs' frames, in order, without duplicates.
export function unionOfTimes(lists: readonly (readonly number[])[]): number[] {
  const all = lists.flat().sort((a, b) => a - b);
  return all.filter((value, i) => i === 0 || value !== all[i - 1]);
}

export interface Stats {
  mean: number[]; // 0..1 per frame
  most: number[];
}

interface Sum {
  values: Float64Array;
  frames: number; // how many are in it
  ps: number;
}

// Frames of one run; a live run adds to them.
export class Frames {
  readonly beginPs: number;
  readonly endPs: number[];
  private readonly layers = new Map<string, Uint8Array[]>();
  private readonly perRouter = new Set<string>();
  private readonly statsCache = new Map<string, Stats>();
  private readonly sums = new Map<string, Sum>();

  constructor(
    heat: Heat,
    private readonly links: LinkEnds,
    private readonly routers: number,
  ) {
    this.beginPs = heat.begin_ps;
    this.endPs = [...heat.end_ps];
    for (const layer of heat.layers) {
      this.layers.set(layer.id, []);
      if (layer.per === "router") this.perRouter.add(layer.id);
    }
  }

  static async load(heat: Heat, links: LinkEnds, routers: number): Promise<Frames> {
    const frames = new Frames(heat, links, routers);
    for (const layer of heat.layers) {
      const data = await bytesOf(layer.data);
      const width = layer.per === "router" ? routers : links.from.length;
      const list = frames.layers.get(layer.id)!;
      for (let t = 0; t < heat.end_ps.length; ++t)
        list.push(data.subarray(t * width, (t + 1) * width));
    }
    return frames;
  }

  get count(): number {
    return this.endPs.length;
  }

  isPerRouter(layer: string): boolean {
    return this.perRouter.has(layer);
  }

  raw(layer: string, frame: number): Uint8Array | undefined {
    return this.layers.get(layer)?.[frame];
  }

  durationPs(frame: number): number {
    return this.endPs[frame]! - (frame > 0 ? this.endPs[frame - 1]! : this.beginPs);
  }

  // Per router; frame -1 is the average over all time.
  values(choice: Choice, frame: number, out: Uint8Array): Uint8Array {
    const raw = frame < 0 ? this.average(choice.layer) : this.raw(choice.layer, frame);
    if (!raw) return out.fill(0);
    if (this.perRouter.has(choice.layer)) {
      out.set(raw);
      return out;
    }
    routerValues(raw, this.links, choice.dimension, out);
    this.nodeLinks(choice, frame)?.forEach((value, r) => {
      if (value > out[r]!) out[r] = value;
    });
    return out;
  }

  // Per router, its busiest link to or from a node; none where such links are not shown.
  nodeLinks(choice: Choice, frame: number): Uint8Array | undefined {
    if (choice.layer !== "links" || choice.dimension >= 0) return undefined;
    return frame < 0 ? this.average("node-links") : this.raw("node-links", frame);
  }

  linkValues(choice: Choice, frame: number): Uint8Array | undefined {
    if (this.perRouter.has(choice.layer)) return undefined;
    return frame < 0 ? this.average(choice.layer) : this.raw(choice.layer, frame);
  }

  average(layer: string): Uint8Array | undefined {
    const list = this.layers.get(layer);
    if (!list || list.length === 0) return undefined;
    let sum = this.sums.get(layer);
    if (!sum)
      this.sums.set(layer, (sum = { values: new Float64Array(list[0]!.length), frames: 0, ps: 0 }));
    for (; sum.frames < list.length; ++sum.frames) {
      const weight = this.durationPs(sum.frames);
      const values = list[sum.frames]!;
      sum.ps += weight;
      for (let i = 0; i < values.length; ++i) sum.values[i]! += values[i]! * weight;
    }
    const { values, ps } = sum;
    return Uint8Array.from(values, (v) => (ps > 0 ? Math.round(v / ps) : 0));
  }

  // Mean and maximum of the counted items (links of the dimension, or routers) for each frame.
  stats(choice: Choice): Stats {
    const key = `${choice.layer}/${choice.dimension}`;
    let known = this.statsCache.get(key);
    if (!known) this.statsCache.set(key, (known = { mean: [], most: [] }));
    for (let t = known.mean.length; t < this.count; ++t) {
      const [mean, most] = this.statsOf(this.raw(choice.layer, t), choice);
      const ofNodes = this.nodeLinks(choice, t)?.reduce((a, b) => Math.max(a, b), 0) ?? 0;
      known.mean.push(mean);
      known.most.push(Math.max(most, ofNodes / 255));
    }
    return known;
  }

  private statsOf(values: Uint8Array | undefined, choice: Choice): [number, number] {
    if (!values) return [0, 0];
    const direction = this.perRouter.has(choice.layer) ? undefined : this.links.direction;
    let sum = 0;
    let most = 0;
    let count = 0;
    for (let i = 0; i < values.length; ++i) {
      if (choice.dimension >= 0 && direction && direction[i]! >> 1 !== choice.dimension) continue;
      const value = values[i]!;
      sum += value;
      if (value > most) most = value;
      ++count;
    }
    return [count > 0 ? sum / count / 255 : 0, most / 255];
  }

  // Maximum over all frames, 0..255.
  most(choice: Choice): number {
    return Math.round(255 * this.stats(choice).most.reduce((a, b) => Math.max(a, b), 0));
  }

  append(endPs: number, data: Map<string, Uint8Array>, limit: number): void {
    this.endPs.push(endPs);
    for (const [id, list] of this.layers)
      list.push(data.get(id) ?? new Uint8Array(this.widthOf(id)));
    if (this.count > limit) this.thin();
  }

  private widthOf(layer: string): number {
    return this.perRouter.has(layer) ? this.routers : this.links.from.length;
  }

  // Drops every second frame; the one that stays takes over the time of the one before it.
  private thin(): void {
    const keep = (_: unknown, i: number) => (this.count - 1 - i) % 2 === 0;
    for (const [id, list] of this.layers) this.layers.set(id, list.filter(keep));
    const ends = this.endPs.filter(keep);
    this.endPs.splice(0, this.endPs.length, ...ends);
    this.sums.clear();
    this.statsCache.clear();
  }
}
