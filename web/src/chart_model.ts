// SPDX-License-Identifier: Apache-2.0
// Merges charts of the same id in several runs into one; domains and nearest points.
import { kindColours } from "./colour";
import type { Chart, Rule, Run, Series } from "./types";

// Numbers of a colour, of a pattern of dashes, and whether the line is thin.
export interface Style {
  colour: number;
  dash: number;
  thin: boolean;
}

export interface MergedRule extends Rule {
  colour?: number; // of the one run that it is of
}

export interface MergedChart extends Chart {
  rules: MergedRule[];
  styles: Style[]; // of each series
}

interface Origin {
  run: number; // its place among the runs of the page
  chart: Chart;
}

const round = (i: number) => Math.floor(i / kindColours);

// On a page of several runs a colour is a run and dashes are a series, the same in every run.
// On a page of one run a colour is a series.
function stylesOf(origins: readonly Origin[], several: boolean): Style[] {
  const names: string[] = [];
  const styles: Style[] = [];
  for (const { run, chart } of origins) {
    for (const { name } of chart.series) {
      if (!names.includes(name)) names.push(name);
      const place = names.indexOf(name);
      styles.push(
        several
          ? { colour: run % kindColours, dash: place, thin: round(run) > 0 }
          : { colour: place % kindColours, dash: round(place), thin: false },
      );
    }
  }
  return styles;
}

// Lines at one place become one line, which names its runs unless it is of all of them.
function rulesOf(origins: readonly Origin[], all: readonly Run[]): MergedRule[] {
  const places = new Map<string, { rule: Rule; runs: Map<string, number[]> }>();
  for (const { run, chart } of origins) {
    for (const rule of chart.rules ?? []) {
      const key = `${rule.axis} ${rule.at}`;
      const place = places.get(key) ?? { rule, runs: new Map<string, number[]>() };
      places.set(key, place);
      place.runs.set(rule.label, [...(place.runs.get(rule.label) ?? []), run]);
    }
  }
  return [...places.values()].map(({ rule, runs }) => {
    const labels = [...runs].map(([label, of]) =>
      all.length < 2 || (origins.length > 1 && of.length === origins.length)
        ? label
        : `${of.map((i) => all[i]!.name).join(", ")}: ${label}`,
    );
    const of = new Set([...runs.values()].flat());
    const colour = all.length > 1 && of.size === 1 ? [...of][0]! % kindColours : undefined;
    return {
      ...rule,
      label: labels.join("; "),
      ...(colour === undefined ? {} : { colour }),
    };
  });
}

// In the second unit of an axis.
function converted(chart: Chart, which: "x" | "y"): Chart {
  const { second, ...axis } = chart[which];
  if (!second) return chart;
  const at = which === "x" ? 0 : 1;
  const change = (v: number | null) => (v === null ? v : v * second.factor);
  return {
    ...chart,
    [which]: { ...axis, label: second.label, unit: second.unit },
    series: chart.series.map((series) => ({
      ...series,
      points: series.points.map(
        ([x, y]) => (at === 0 ? [change(x), y] : [x, change(y)]) as [number, number | null],
      ),
    })),
    rules: (chart.rules ?? []).map((rule) =>
      rule.axis === which ? { ...rule, at: rule.at * second.factor } : rule,
    ),
  };
}

// Charts whose second scales differ have only that unit in common.
function inOneUnit(origins: readonly Origin[]): readonly Origin[] {
  let list = origins;
  for (const which of ["x", "y"] as const) {
    const factors = new Set(list.map(({ chart }) => chart[which].second?.factor));
    if (factors.size > 1)
      list = list.map(({ run, chart }) => ({ run, chart: converted(chart, which) }));
  }
  return list;
}

// `all` are the runs of the page, of which `runs` have charts.
export function mergeCharts(runs: readonly Run[], all: readonly Run[] = runs): MergedChart[] {
  const groups = new Map<string, Origin[]>();
  for (const run of runs) {
    for (const chart of run.charts ?? []) {
      const group = groups.get(chart.id) ?? [];
      groups.set(chart.id, [...group, { run: all.indexOf(run), chart }]);
    }
  }
  const several = all.length > 1;
  return [...groups.values()].map(inOneUnit).map((origins) => ({
    ...origins[0]!.chart,
    series: origins.flatMap(({ run, chart }) =>
      chart.series.map((series) => ({
        ...series,
        name: several ? `${all[run]!.name}: ${series.name}` : series.name,
      })),
    ),
    styles: stylesOf(origins, several),
    rules: rulesOf(origins, all),
  }));
}

export type Span = [number, number];

export interface Mark {
  x: number;
  y: number; // Infinity: above the chart
  hollow: boolean;
}

// What is drawn of a series, in order. A logarithmic axis cannot show zero.
export function marksOf(series: Series, logX: boolean, logY: boolean): Mark[] {
  const hollow = new Set(series.hollow ?? []);
  return series.points
    .map(([x, y], i) => ({
      x,
      y: y ?? (hollow.has(i) ? Infinity : NaN),
      hollow: hollow.has(i),
    }))
    .filter(
      ({ x, y }) => Number.isFinite(x) && !Number.isNaN(y) && (!logX || x > 0) && (!logY || y > 0),
    );
}

export function usable(series: Series, logX: boolean, logY: boolean): [number, number][] {
  return marksOf(series, logX, logY)
    .filter(({ y }) => Number.isFinite(y))
    .map(({ x, y }) => [x, y]);
}

// The line ends where the first point lies above the chart.
export function lineOf(marks: readonly Mark[]): [number, number][] {
  const end = marks.findIndex(({ y }) => y === Infinity);
  return marks.slice(0, end < 0 ? marks.length : end + 1).map(({ x, y }) => [x, y]);
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

// Room for a line to the upper edge, which would look flat without it.
export const headroom = ([low, high]: Span, above: boolean): Span => [
  low,
  above && high > 0 ? high * 1.5 : high,
];

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
