// SPDX-License-Identifier: Apache-2.0
// Sums pairs of ranks in the cells of a grid over a window.
import type { Extent } from "./window2d";

export interface Pairs {
  from: Uint32Array; // rows and columns of the matrix, `bin` ranks each
  to: Uint32Array;
  bytes: Float32Array;
  messages: Float32Array;
}

export interface Grid {
  columns: number;
  rows: number;
  bytes: Float64Array;
  messages: Float64Array;
}

// The window is in rows of the matrix: x receivers, y senders.
export function binPairs(pairs: Pairs, view: Extent, columns: number, rows: number): Grid {
  const grid: Grid = {
    columns,
    rows,
    bytes: new Float64Array(columns * rows),
    messages: new Float64Array(columns * rows),
  };
  const fx = columns / (view.x1 - view.x0);
  const fy = rows / (view.y1 - view.y0);
  const { from, to, bytes, messages } = pairs;
  for (let i = 0; i < from.length; ++i) {
    // The middle of a row decides, so that no cell gets half a row.
    const x = Math.floor((to[i]! + 0.5 - view.x0) * fx);
    const y = Math.floor((from[i]! + 0.5 - view.y0) * fy);
    if (x < 0 || y < 0 || x >= columns || y >= rows) continue;
    grid.bytes[y * columns + x]! += bytes[i]!;
    grid.messages[y * columns + x]! += messages[i]!;
  }
  return grid;
}

// Cells along one side: one per row while these are larger than a pixel, else one per pixel.
export function cellsAlong(
  low: number,
  high: number,
  pixels: number,
): { first: number; last: number; count: number } {
  const first = Math.floor(low);
  const last = Math.ceil(high);
  return { first, last, count: Math.max(1, Math.min(last - first, Math.floor(pixels))) };
}

// The smallest value above zero and the greatest.
export function rangeOf(values: Float64Array): { least: number; most: number } {
  let least = Infinity;
  let most = 0;
  for (const v of values) {
    if (v > most) most = v;
    if (v > 0 && v < least) least = v;
  }
  return { least: most > 0 ? least : 0, most };
}

// Position of a value between least and most on a logarithmic scale: 1..255, or 0 for zero.
export function logStep(value: number, range: { least: number; most: number }): number {
  if (value <= 0) return 0;
  if (range.most <= range.least) return 255;
  const share = Math.log(value / range.least) / Math.log(range.most / range.least);
  return 1 + Math.round(254 * Math.min(Math.max(share, 0), 1));
}
