// SPDX-License-Identifier: Apache-2.0
// Places the labels of vertical lines in rows above a chart, so that no label covers another one or
// is crossed by another label's line.

export interface Label {
  at: number; // of its line
  width: number;
}

export interface Placed {
  x: number; // left end
  row: number; // 0 is nearest to the chart
}

const gap = 4;

// A label stands on the right of its line, on the left where the right has no room; where neither
// side has room it is moved inside.
function leftEnd({ at, width }: Label, low: number, high: number): number {
  if (at + gap + width <= high) return at + gap;
  if (at - gap - width >= low) return at - gap - width;
  return Math.max(low, high - width);
}

// From right to left: a label extends to the right of its line, over lines that are placed already.
export function placeLabels(labels: readonly Label[], low: number, high: number): Placed[] {
  const placed = labels.map((label) => ({ x: leftEnd(label, low, high), row: -1 }));
  const order = labels.map((_, i) => i).sort((a, b) => labels[b]!.at - labels[a]!.at || b - a);
  const covers = (i: number, at: number) =>
    at > placed[i]!.x - gap && at < placed[i]!.x + labels[i]!.width + gap;
  const meet = (i: number, j: number) =>
    placed[i]!.x < placed[j]!.x + labels[j]!.width + gap &&
    placed[j]!.x < placed[i]!.x + labels[i]!.width + gap;
  const fits = (i: number, row: number, lines: boolean) =>
    order.every((j) => {
      const other = placed[j]!.row;
      if (j === i || other < 0) return true;
      if (other === row) return !meet(i, j);
      if (!lines) return true;
      return other > row ? !covers(i, labels[j]!.at) : !covers(j, labels[i]!.at);
    });
  for (const i of order) {
    const rows = labels.map((_, row) => row);
    placed[i]!.row =
      rows.find((row) => fits(i, row, true)) ?? rows.find((row) => fits(i, row, false)) ?? 0;
  }
  return placed;
}

// Keeps the end of a text that is too wide: names of folders differ there, and "p99" stands there.
export function cutText(
  text: string,
  most: number,
  measure: (text: string) => number,
): string {
  if (measure(text) <= most) return text;
  for (let from = 1; from < text.length; ++from) {
    const cut = `\u2026${text.slice(from)}`;
    if (measure(cut) <= most) return cut;
  }
  return "\u2026";
}
