// SPDX-License-Identifier: Apache-2.0
// Which ranks are on which node and router, and the colour of each position.
import { nothing } from "./colour";

export interface Where {
  first: Uint32Array; // ranks of node n: ranks[first[n]] .. ranks[first[n + 1] - 1]
  ranks: Uint32Array;
}

export function ranksByNode(nodeOf: Uint32Array, nodes: number): Where {
  const first = new Uint32Array(nodes + 1);
  for (const n of nodeOf) if (n < nodes) ++first[n + 1]!;
  for (let n = 0; n < nodes; ++n) first[n + 1]! += first[n]!;
  const next = first.slice();
  const ranks = new Uint32Array(first[nodes]!);
  nodeOf.forEach((n, rank) => {
    if (n < nodes) ranks[next[n]!++] = rank;
  });
  return { first, ranks };
}

// The lowest rank gives a position its colour: its index among all ranks, as a step of a ramp.
export function shadeOf(
  nodeOf: Uint32Array,
  place: (node: number) => number,
  places: number,
): Uint16Array {
  const shade = new Uint16Array(places).fill(nothing);
  const last = Math.max(1, nodeOf.length - 1);
  for (let rank = nodeOf.length - 1; rank >= 0; --rank) {
    const at = place(nodeOf[rank]!);
    if (at < places) shade[at] = Math.round((255 * rank) / last);
  }
  return shade;
}

export function listRanks(ranks: Uint32Array | number[]): string {
  const list = [...ranks];
  if (list.length === 0) return "no rank";
  const shown = list.slice(0, 8).join(", ");
  const more = list.length > 8 ? ` and ${list.length - 8} more` : "";
  return `${list.length === 1 ? "rank" : "ranks"} ${shown}${more}`;
}
