// SPDX-License-Identifier: Apache-2.0
// Positions of routers in the unit square: trees by level, groups (as of a dragonfly) on circles,
// other graphs by their distances. The same
// network always gets the same positions.
import { forceLink, forceManyBody, forceSimulation, forceX, forceY } from "d3-force";
import type { LinkEnds } from "./heat";

export interface Places {
  x: Float32Array;
  y: Float32Array;
}

// Level 0 is at the bottom; each level is spread evenly, in the order of numbers.
export function treePlaces(level: Uint8Array): Places & { levels: number; widest: number } {
  const counts: number[] = [];
  for (const l of level) counts[l] = (counts[l] ?? 0) + 1;
  const levels = counts.length;
  const seen = new Array<number>(levels).fill(0);
  const x = new Float32Array(level.length);
  const y = new Float32Array(level.length);
  level.forEach((l, r) => {
    x[r] = (seen[l]!++ + 0.5) / counts[l]!;
    y[r] = levels > 1 ? 1 - l / (levels - 1) : 0.5;
  });
  return { x, y, levels, widest: Math.max(...counts.map((c) => c ?? 0)) };
}

// Groups on an ellipse, the routers of each on a circle around its centre.
export function groupPlaces(group: Uint32Array): Places & { centre: Places; radius: number } {
  const counts: number[] = [];
  for (const g of group) counts[g] = (counts[g] ?? 0) + 1;
  const groups = counts.length;
  const seen = new Array<number>(groups).fill(0);
  const ring = 0.38;
  const radius = Math.min((0.36 * 2 * Math.PI * ring) / groups, 0.12);
  const on = (r: number, share: number): [number, number] => [
    r * Math.sin(2 * Math.PI * share),
    -r * Math.cos(2 * Math.PI * share),
  ];
  const centre = { x: new Float32Array(groups), y: new Float32Array(groups) };
  for (let g = 0; g < groups; ++g) {
    const [x, y] = on(ring, g / groups);
    centre.x[g] = 0.5 + x;
    centre.y[g] = 0.5 + y;
  }
  const x = new Float32Array(group.length);
  const y = new Float32Array(group.length);
  group.forEach((g, r) => {
    const [dx, dy] = on(radius, (seen[g]!++ + 0.5) / counts[g]!);
    x[r] = centre.x[g]! + dx;
    y[r] = centre.y[g]! + dy;
  });
  return { x, y, centre, radius };
}

interface Neighbours {
  first: Uint32Array;
  to: Uint32Array;
}

function neighbours(links: LinkEnds, routers: number): Neighbours {
  const first = new Uint32Array(routers + 1);
  for (const r of links.from) ++first[r + 1]!;
  for (let r = 0; r < routers; ++r) first[r + 1]! += first[r]!;
  const next = first.slice();
  const to = new Uint32Array(links.to.length);
  links.from.forEach((r, i) => (to[next[r]!++] = links.to[i]!));
  return { first, to };
}

function distancesFrom(start: number, n: Neighbours): Float64Array {
  const routers = n.first.length - 1;
  const distance = new Float64Array(routers).fill(-1);
  const queue = new Uint32Array(routers);
  let head = 0;
  let tail = 0;
  queue[tail++] = start;
  distance[start] = 0;
  let farthest = 0;
  while (head < tail) {
    const r = queue[head++]!;
    farthest = distance[r]!;
    for (let i = n.first[r]!; i < n.first[r + 1]!; ++i) {
      const other = n.to[i]!;
      if (distance[other]! >= 0) continue;
      distance[other] = distance[r]! + 1;
      queue[tail++] = other;
    }
  }
  for (let r = 0; r < routers; ++r) if (distance[r]! < 0) distance[r] = farthest + 2;
  return distance;
}

// Distances to a few far-apart pivots, centred, and the two directions in which they differ most
// (power iteration): pivot MDS.
function pivotPlaces(n: Neighbours, pivots: number): Places {
  const routers = n.first.length - 1;
  const nearest = new Float64Array(routers).fill(Infinity);
  const columns: Float64Array[] = [];
  let pivot = 0;
  for (let k = 0; k < Math.min(pivots, routers); ++k) {
    const distance = distancesFrom(pivot, n);
    let far = -1;
    for (let r = 0; r < routers; ++r) {
      if (distance[r]! < nearest[r]!) nearest[r] = distance[r]!;
      if (nearest[r]! > far) {
        far = nearest[r]!;
        pivot = r;
      }
    }
    const column = distance.map((d) => d * d);
    const mean = column.reduce((a, b) => a + b, 0) / routers;
    columns.push(column.map((d) => d - mean));
  }
  const axes: Float64Array[] = [];
  for (let k = 0; k < 2; ++k) axes.push(strongest(columns, axes));
  return { x: Float32Array.from(axes[0]!), y: Float32Array.from(axes[1]!) };
}

function strongest(columns: Float64Array[], without: Float64Array[]): Float64Array {
  const routers = columns[0]!.length;
  let axis = Float64Array.from(
    { length: routers },
    (_, i) => ((i * 2654435761) % 1000) / 1000 - 0.5,
  );
  for (let round = 0; round < 30; ++round) {
    const next = new Float64Array(routers);
    for (const column of columns) {
      let dot = 0;
      for (let r = 0; r < routers; ++r) dot += column[r]! * axis[r]!;
      for (let r = 0; r < routers; ++r) next[r]! += dot * column[r]!;
    }
    for (const other of without) {
      let dot = 0;
      for (let r = 0; r < routers; ++r) dot += other[r]! * next[r]!;
      for (let r = 0; r < routers; ++r) next[r]! -= dot * other[r]!;
    }
    const length = Math.hypot(Math.sqrt(next.reduce((a, b) => a + b * b, 0)), 1e-30);
    axis = next.map((v) => v / length);
  }
  return axis;
}

function toUnitSquare(places: Places): Places {
  const scale = (values: Float32Array) => {
    const least = values.reduce((a, b) => Math.min(a, b), Infinity);
    const most = values.reduce((a, b) => Math.max(a, b), -Infinity);
    return values.map((v) => (most > least ? (v - least) / (most - least) : 0.5));
  };
  return { x: scale(places.x), y: scale(places.y) };
}

// Steps of the force model: fewer for larger networks, none for the largest. Only the size decides,
// never the clock.
export function forceSteps(routers: number): number {
  if (routers <= 500) return 250;
  if (routers <= 3000) return Math.round(125_000 / routers);
  return routers <= 12_000 ? Math.round(60_000 / routers) : 0;
}

interface Body {
  index?: number;
  x: number;
  y: number;
}

// Yields now and then, so that a caller can keep the page responsive; the last value is the result.
export function* graphPlaces(links: LinkEnds, routers: number): Generator<Places> {
  const start = toUnitSquare(pivotPlaces(neighbours(links, routers), routers > 3000 ? 24 : 50));
  yield start;
  const spread = 30 * Math.sqrt(routers);
  const bodies: Body[] = Array.from({ length: routers }, (_, r) => ({
    // Routers with the same distances to all pivots must not coincide.
    x: (start.x[r]! + 0.02 * Math.cos(r)) * spread,
    y: (start.y[r]! + 0.02 * Math.sin(r)) * spread,
  }));
  const lines: { source: number; target: number }[] = [];
  const once = new Set<number>();
  links.from.forEach((from, i) => {
    const to = links.to[i]!;
    const key = Math.min(from, to) * routers + Math.max(from, to);
    if (from === to || once.has(key)) return;
    once.add(key);
    lines.push({ source: from, target: to });
  });
  const steps = forceSteps(routers);
  const model = forceSimulation(bodies)
    .stop()
    .alpha(0.7)
    .alphaDecay(1 - 0.01 ** (1 / Math.max(steps, 1)))
    .force("charge", forceManyBody().strength(-60).theta(1.1))
    .force("link", forceLink(lines).distance(30))
    .force("x", forceX(spread / 2).strength(0.02))
    .force("y", forceY(spread / 2).strength(0.02));
  const now = () =>
    toUnitSquare({
      x: Float32Array.from(bodies, (b) => b.x),
      y: Float32Array.from(bodies, (b) => b.y),
    });
  const perYield = Math.max(1, Math.round(4000 / routers));
  for (let i = 0; i < steps; ++i) {
    model.tick();
    if (i % perYield === perYield - 1) yield now();
  }
  yield now();
}
