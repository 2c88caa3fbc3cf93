// SPDX-License-Identifier: Apache-2.0
// Merges charts of the same id in several runs into one; domains and nearest points.
import type { Chart, Run, Series } from "./types";

export interface MergedChart extends Chart {
  origin: number[]; // index of the run of each series
}

export function mergeCharts(runs: readonly Run[]): MergedChart[] {
  const merged: MergedChart[] = [];
  const several = runs.filter((run) => run.charts?.length).length > 1;
  runs.forEach((run, r) => {
    for (const chart of run.charts ?? []) {
      let into = merged.find((m) => m.id === chart.id);
      if (!into) merged.push((into = { ...chart, series: [], rules: [], origin: [] }));
      for (const series of chart.series) {
        into.series.push({
          ...series,
          name: several ? `${run.name}: ${series.name}` : series.name,
        });
        into.origin.push(r);
      }
      for (const rule of chart.rules ?? []) {
        const same = into.rules!.find((o) => o.axis === rule.axis && o.at === rule.at);
        if (same) same.label = rule.label;
        else
          into.rules!.push({ ...rule, label: several ? `${run.name}: ${rule.label}` : rule.label });
      }
    }
  });
  return merged;
}

export type Span = [number, number];

// A logarithmic axis cannot show zero.
export function usable(series: Series, logX: boolean, logY: boolean): [number, number][] {
  return series.points.filter(
    ([x, y]) => Number.isFinite(x) && Number.isFinite(y) && (!logX || x > 0) && (!logY || y > 0),
  );
}

export function domain(lists: readonly [number, number][][], which: 0 | 1, log: boolean): Span {
  let least = Infinity;
  let most = -Infinity;
  for (const list of lists) {
    for (const point of list) {
      least = Math.min(least, point[which]);
      most = Math.max(most, point[which]);
    }
  }
  if (least > most) return log ? [1, 10] : [0, 1];
  if (log) return least === most ? [least / 2, most * 2] : [least, most];
  // Axes start at zero unless all values lie far away from it.
  const start = least >= 0 && least < most * 0.6 ? 0 : least;
  if (start === most) return [start - 1, most + 1];
  return [start, most + (which === 1 ? (most - start) * 0.04 : 0)];
}

// Index of the point with the nearest x; points are in order of x. -1 if there is none.
export function nearestX(points: readonly [number, number][], x: number): number {
  if (points.length === 0) return -1;
  let low = 0;
  let high = points.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (points[middle]![0] < x) low = middle + 1;
    else high = middle;
  }
  if (low > 0 && x - points[low - 1]![0] <= points[low]![0] - x) return low - 1;
  return low;
}
