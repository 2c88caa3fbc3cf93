// SPDX-License-Identifier: Apache-2.0
// Ticks of a chart's axis and their labels.
import type { ScaleContinuousNumeric } from "d3-scale";
import { tickFormat, withUnit } from "./format";
import type { Axis } from "./types";

export type Scale = ScaleContinuousNumeric<number, number>;

export interface Ticks {
  ticks: number[];
  text(value: number): string;
  name: string; // the label with its unit
}

// Of the ticks of a logarithmic axis those at 1, 2 and 5, or all if these are too few.
function roundOnes(ticks: number[], most: number): number[] {
  const first = (v: number) => Math.round(v / 10 ** Math.floor(Math.log10(v) + 1e-9));
  const round = ticks.filter((v) => [1, 2, 5].includes(first(v)));
  return round.length >= 3 || ticks.length > most + 3 ? round : ticks;
}

function logTicks(scale: Scale, low: number, high: number, count: number): number[] {
  const all = scale.ticks();
  if (Math.log10(high / low) < 2) return roundOnes(all, count);
  const powers = all.filter((v) => Math.abs(Math.log10(v) - Math.round(Math.log10(v))) < 1e-9);
  const step = Math.ceil(powers.length / count);
  return powers.filter((_, i) => i % step === 0);
}

// Over many powers of ten each tick has its own unit; otherwise the label has a common unit.
export function axisTicks(scale: Scale, axis: Axis, log: boolean, count: number): Ticks {
  const [low, high] = scale.domain() as [number, number];
  const wide = log && high / low >= 1e3;
  const format = tickFormat(high, axis.unit);
  return {
    ticks: log ? logTicks(scale, low, high, count) : scale.ticks(count),
    text: (v) => (wide ? withUnit(v, axis.unit, 3) : format.text(v)),
    name: wide || !format.name ? axis.label : `${axis.label} (${format.name})`,
  };
}
