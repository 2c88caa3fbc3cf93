// SPDX-License-Identifier: Apache-2.0
// A run's network, decoded: ends of links, levels, positions of nodes, and names of routers.
import { bytesOf, wordsOf } from "./blocks";
import { coordinates, dimensionName } from "./cube";
import { Frames } from "./heat";
import type { LinkEnds } from "./heat";
import type { Network, Run } from "./types";

export interface NetModel {
  net: Network;
  links: LinkEnds;
  level?: Uint8Array;
  group?: Uint32Array;
  nodeRouter?: Uint32Array;
}

const models = new WeakMap<Network, Promise<NetModel>>();
const frames = new WeakMap<Run, Promise<Frames>>();

async function load(net: Network): Promise<NetModel> {
  const links: LinkEnds = { from: await wordsOf(net.links.from), to: await wordsOf(net.links.to) };
  if (net.links.direction) links.direction = await bytesOf(net.links.direction);
  const model: NetModel = { net, links };
  if (net.level) model.level = await bytesOf(net.level);
  if (net.group) model.group = await wordsOf(net.group);
  if (net.node_router) model.nodeRouter = await wordsOf(net.node_router);
  return model;
}

export function netModel(net: Network): Promise<NetModel> {
  let model = models.get(net);
  if (!model) models.set(net, (model = load(net)));
  return model;
}

export function framesOf(run: Run): Promise<Frames> {
  let promise = frames.get(run);
  if (!promise) {
    const heat = run.heat ?? { begin_ps: 0, end_ps: [], layers: [] };
    promise = netModel(run.network!).then((m) => Frames.load(heat, m.links, m.net.routers));
    frames.set(run, promise);
  }
  return promise;
}

export function routerName(net: Network, router: number): string {
  if (net.names?.[router] !== undefined) return net.names[router]!;
  if (!net.radix) return `router ${router}`;
  return `(${coordinates(router, net.radix).join(", ")})`;
}

export function linkName(model: NetModel, link: number): string {
  const { net, links } = model;
  const from = routerName(net, links.from[link]!);
  const to = routerName(net, links.to[link]!);
  const direction = links.direction?.[link];
  if (direction === undefined) return `${from} to ${to}`;
  return `${from} to ${to}, ${direction & 1 ? "\u2212" : "+"}${dimensionName(direction >> 1)}`;
}

// Nodes of each router: nodes[first[r]] .. nodes[first[r + 1] - 1], in order.
export function nodesByRouter(model: NetModel): { first: Uint32Array; nodes: Uint32Array } {
  const count = model.net.routers;
  const of = model.nodeRouter ?? Uint32Array.from({ length: model.net.nodes }, (_, i) => i % count);
  const first = new Uint32Array(count + 1);
  for (const r of of) ++first[r + 1]!;
  for (let r = 0; r < count; ++r) first[r + 1]! += first[r]!;
  const next = first.slice();
  const nodes = new Uint32Array(of.length);
  of.forEach((r, node) => (nodes[next[r]!++] = node));
  return { first, nodes };
}
