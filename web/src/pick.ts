// SPDX-License-Identifier: Apache-2.0
// Finds the point or line under the pointer, and the busiest links.
import type { LinkEnds } from "./heat";
import type { Places } from "./layout";

export function nearestPoint(at: Places, x: number, y: number, reach: number): number {
  let best = -1;
  let least = reach * reach;
  for (let i = 0; i < at.x.length; ++i) {
    const dx = at.x[i]! - x;
    const dy = at.y[i]! - y;
    const distance = dx * dx + dy * dy;
    if (distance <= least) {
      least = distance;
      best = i;
    }
  }
  return best;
}

// Of equally near lines (both directions of a cable) the later in `order`, which is on top.
export function nearestLine(
  at: Places,
  links: LinkEnds,
  order: Uint32Array,
  place: { x: number; y: number; reach: number },
): number {
  let best = -1;
  let least = place.reach * place.reach;
  for (const i of order) {
    const ax = at.x[links.from[i]!]!;
    const ay = at.y[links.from[i]!]!;
    const dx = at.x[links.to[i]!]! - ax;
    const dy = at.y[links.to[i]!]! - ay;
    const length = dx * dx + dy * dy;
    const along = length > 0 ? ((place.x - ax) * dx + (place.y - ay) * dy) / length : 0;
    const t = Math.min(Math.max(along, 0), 1);
    const ex = ax + t * dx - place.x;
    const ey = ay + t * dy - place.y;
    const distance = ex * ex + ey * ey;
    if (distance <= least + 1e-6) {
      least = Math.min(least, distance);
      best = i;
    }
  }
  return best;
}

// Indices of the `most` largest values, the smallest of them first.
export function busiest(values: Uint8Array, most: number): Uint32Array<ArrayBuffer> {
  const counts = new Uint32Array(257);
  for (const v of values) ++counts[v + 1]!;
  for (let v = 0; v < 256; ++v) counts[v + 1]! += counts[v]!;
  const order = new Uint32Array(values.length);
  values.forEach((v, i) => (order[counts[v]!++] = i));
  return order.slice(Math.max(0, order.length - most));
}
