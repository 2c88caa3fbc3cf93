// SPDX-License-Identifier: Apache-2.0
// A timeline's spans: which one lies at a moment, and what a row of pixels shows of them.
import type { Extent } from "./window2d";

export interface Spans {
  first: Uint32Array; // spans of rank r: first[r] .. first[r + 1] - 1, in order of time
  begin: Uint32Array;
  length: Uint32Array;
  kind: Uint8Array; // per span
  waited: Uint8Array;
}

export const kindsCount = 5;

// First span of the rank that ends after `tick`.
export function spanAfter(s: Spans, rank: number, tick: number): number {
  let low = s.first[rank]!;
  let high = s.first[rank + 1]!;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (s.begin[middle]! + s.length[middle]! > tick) high = middle;
    else low = middle + 1;
  }
  return low;
}

// The span at this moment, or within `reach` ticks of it; -1 if the rank computes.
export function spanAt(s: Spans, rank: number, tick: number, reach: number): number {
  const last = s.first[rank + 1]!;
  const i = spanAfter(s, rank, tick - reach);
  let best = -1;
  let least = Infinity;
  for (let k = i; k < last && k < i + 64 && s.begin[k]! <= tick + reach; ++k) {
    const end = s.begin[k]! + s.length[k]!;
    const away = tick < s.begin[k]! ? s.begin[k]! - tick : tick > end ? tick - end : 0;
    if (away < least) {
      least = away;
      best = k;
    }
  }
  return best;
}

export interface PixelRow {
  kind: Uint8Array; // dominant kind, 255 = none
  cover: Float32Array; // share of the pixel inside of calls
  waited: Float32Array; // share of that which was waiting
}

export const makeRow = (width: number): PixelRow => ({
  kind: new Uint8Array(width),
  cover: new Float32Array(width),
  waited: new Float32Array(width),
});

const sums = { width: 0, time: new Float32Array(0), wait: new Float32Array(0) };

// Draws some ranks as one row of pixels from tick x0 to x1. A pixel shows the kind with most time.
export function fillRow(
  s: Spans,
  ranks: readonly number[],
  x: { x0: number; x1: number },
  row: PixelRow,
): void {
  const width = row.kind.length;
  if (sums.width !== width) {
    Object.assign(sums, {
      width,
      time: new Float32Array(width * kindsCount),
      wait: new Float32Array(width),
    });
  }
  sums.time.fill(0);
  sums.wait.fill(0);
  for (const rank of ranks) addRank(s, rank, x, width);
  settle(row, ranks.length);
}

function addRank(s: Spans, rank: number, x: { x0: number; x1: number }, width: number): void {
  const { time, wait } = sums;
  const perTick = width / (x.x1 - x.x0);
  const from = spanAfter(s, rank, x.x0);
  const last = s.first[rank + 1]!;
  // Far more spans than pixels: sample some of each pixel.
  const until = spanAfter(s, rank, x.x1);
  const skip = until - from > width * 16 ? Math.floor((until - from) / (width * 8)) : 1;
  for (let i = from; i < last && s.begin[i]! < x.x1; i += skip) {
    const a = Math.max(0, (s.begin[i]! - x.x0) * perTick);
    const b = Math.min(width, (s.begin[i]! + s.length[i]! - x.x0) * perTick);
    const kind = s.kind[i]!;
    const share = s.waited[i]! / 255;
    for (let p = Math.floor(a); p < b && p < width; ++p) {
      const part = (Math.min(b, p + 1) - Math.max(a, p)) * skip;
      time[p * kindsCount + kind]! += part;
      wait[p]! += part * share;
    }
  }
}

function settle(row: PixelRow, ranks: number): void {
  const { time, wait, width } = sums;
  for (let p = 0; p < width; ++p) {
    let best = 255;
    let most = 0;
    let all = 0;
    for (let k = 0; k < kindsCount; ++k) {
      const t = time[p * kindsCount + k]!;
      all += t;
      if (t > most) {
        most = t;
        best = k;
      }
    }
    row.kind[p] = best;
    row.cover[p] = Math.min(1, all / ranks);
    row.waited[p] = all > 0 ? Math.min(1, wait[p]! / all) : 0;
  }
}

const ranksPerRow = 3;

// The ranks that a row of pixels shows: a few of those that fall on it, evenly spread.
export function ranksOfRow(row: number, rows: number, view: Extent, ranks: number): number[] {
  const each = (view.y1 - view.y0) / rows;
  const count = Math.max(1, Math.min(ranksPerRow, Math.floor(each)));
  return Array.from({ length: count }, (_, k) => {
    const rank = Math.floor(view.y0 + (row + (k + 0.5) / count) * each);
    return Math.min(Math.max(rank, 0), ranks - 1);
  });
}
