// SPDX-License-Identifier: Apache-2.0
// Numbers with units, in the format of the command line: 138.7 us, 2.5 GB/s, 12.3 %.
import type { Unit } from "./types";

const timeUnits: [number, string][] = [
  [1e12, "s"],
  [1e9, "ms"],
  [1e6, "us"],
  [1e3, "ns"],
  [1, "ps"],
];
const decimal: [number, string][] = [
  [1e12, "T"],
  [1e9, "G"],
  [1e6, "M"],
  [1e3, "k"],
  [1, ""],
];

// At most `digits` significant digits, no exponent for ordinary sizes, no trailing zeros.
export function plain(value: number, digits = 4): string {
  if (!Number.isFinite(value)) return "-";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e15 || size < 1e-4) return value.toExponential(Math.max(0, digits - 1));
  if (size >= 10 ** digits) return Math.round(value).toLocaleString("en-GB");
  return String(Number(value.toPrecision(digits)));
}

function scaled(value: number, units: [number, string][], digits: number): [string, string] {
  const size = Math.abs(value);
  // 999.96 ns rounded to four digits is 1 us.
  const rounded = Number(size.toPrecision(digits));
  const [factor, name] = units.find(([f]) => rounded >= f) ?? units[units.length - 1]!;
  return [plain(value / factor, digits), name];
}

export function time(ps: number, digits = 4): string {
  if (ps === 0) return "0 s";
  return scaled(ps, timeUnits, digits).join(" ");
}

// 1.95 G, 1.5 M, 20 k: for rates that change while one reads them.
export function short(value: number, digits = 3): string {
  return scaled(value, decimal, digits).join(" ").trim();
}

export function withUnit(value: number, unit?: Unit, digits = 4): string {
  switch (unit) {
    case "ps":
      return time(value, digits);
    case "B":
    case "B/s":
    case "b/s": {
      const [number, prefix] = scaled(value, decimal, digits);
      return `${number} ${prefix}${unit}`;
    }
    case "share":
      return `${plain(value * 100, digits)} %`;
    case "cycles":
      return `${plain(value, digits)} cycles`;
    default:
      return plain(value, digits);
  }
}

// Ticks of one axis share a unit, chosen from the largest, so that they can be compared.
export function tickFormat(
  largest: number,
  unit?: Unit,
): { name: string; text: (v: number) => string } {
  const size = Math.abs(largest) || 1;
  if (unit === "share") return { name: "%", text: (v) => plain(v * 100) };
  if (unit === "cycles") return { name: "cycles", text: (v) => plain(v) };
  if (unit === undefined || unit === "1") {
    return {
      name: "",
      text: (v) => (Math.abs(v) >= 1e6 ? scaled(v, decimal, 4).join("") : plain(v)),
    };
  }
  const units = unit === "ps" ? timeUnits : decimal;
  const [factor, name] = units.find(([f]) => size >= f) ?? units[units.length - 1]!;
  return { name: unit === "ps" ? name : `${name}${unit}`, text: (v) => plain(v / factor) };
}

// Relative difference to the first run; undefined if that is zero.
export function difference(value: number, first: number): number | undefined {
  if (first === 0) return value === 0 ? 0 : undefined;
  return (value - first) / Math.abs(first);
}

export function differenceText(value: number, first: number, better?: "less" | "more"): string {
  const share = difference(value, first);
  if (share === undefined) return "";
  if (share === 0) return "same";
  const percent = `${share > 0 ? "+" : "\u2212"}${plain(Math.abs(share) * 100, 3)} %`;
  if (!better) return percent;
  return `${percent} ${share < 0 === (better === "less") ? "better" : "worse"}`;
}

export function csv(rows: (string | number | null)[][]): string {
  const cell = (v: string | number | null) => {
    const text = v === null ? "" : String(v);
    return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return rows.map((row) => row.map(cell).join(",")).join("\n") + "\n";
}
