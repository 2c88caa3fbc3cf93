// SPDX-License-Identifier: Apache-2.0
import type { Cell } from "./types";

export interface Order {
  column: number;
  down: boolean;
}

// Sorts numbers by size, text naturally ("r2" before "r10"), and empty cells last.
export function sortRows(rows: readonly Cell[][], order: Order | undefined): Cell[][] {
  if (!order) return [...rows];
  const collator = new Intl.Collator("en", { numeric: true });
  const sign = order.down ? -1 : 1;
  return [...rows].sort((a, b) => {
    const u = a[order.column] ?? null;
    const v = b[order.column] ?? null;
    if (u === null || v === null) return Number(u === null) - Number(v === null);
    if (typeof u === "number" && typeof v === "number") return sign * (u - v);
    return sign * collator.compare(String(u), String(v));
  });
}

export function filterRows(rows: readonly Cell[][], text: string): Cell[][] {
  const words = text
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "");
  return rows.filter((row) => {
    const all = row.map((v) => (v === null ? "" : String(v).toLowerCase())).join(" ");
    return words.every((word) => all.includes(word));
  });
}
