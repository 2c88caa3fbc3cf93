// SPDX-License-Identifier: Apache-2.0
// Axes of canvas plots: one on the left and one at the bottom.
import { scaleLinear } from "d3-scale";
import { pageColour } from "./colour";
import { tickFormat } from "./format";
import type { Unit } from "./types";
import type { Extent } from "./window2d";

export interface Area {
  left: number;
  top: number;
  width: number;
  height: number;
}

export interface AxisText {
  label: string;
  unit?: Unit;
  whole?: boolean; // only whole numbers
}

export function paintAxes(
  p: CanvasRenderingContext2D,
  area: Area,
  view: Extent,
  text: { x: AxisText; y: AxisText },
): void {
  p.font = "12px system-ui, sans-serif";
  p.fillStyle = pageColour("soft");
  p.strokeStyle = pageColour("line-strong");
  p.lineWidth = 1;
  const bottom = area.top + area.height;
  p.strokeRect(area.left - 0.5, area.top - 0.5, area.width + 1, area.height + 1);
  const x = scaleLinear([view.x0, view.x1], [area.left, area.left + area.width]);
  const formatX = tickFormat(view.x1, text.x.unit);
  p.textAlign = "center";
  for (const v of ticks(x.ticks(Math.max(2, area.width / 110)), text.x)) {
    const at = x(v);
    line(p, at, bottom, at, bottom + 5);
    const half = p.measureText(formatX.text(v)).width / 2;
    p.fillText(formatX.text(v), Math.min(at, area.left + area.width + 10 - half), bottom + 18);
  }
  const nameX = formatX.name ? `${text.x.label} (${formatX.name})` : text.x.label;
  p.fillText(nameX, area.left + area.width / 2, bottom + 34);
  const y = scaleLinear([view.y0, view.y1], [area.top, bottom]);
  const formatY = tickFormat(view.y1, text.y.unit);
  p.textAlign = "right";
  for (const v of ticks(y.ticks(Math.max(2, area.height / 50)), text.y)) {
    line(p, area.left - 5, y(v), area.left, y(v));
    p.fillText(formatY.text(v), area.left - 8, y(v) + 4);
  }
  p.save();
  p.textAlign = "center";
  p.translate(12, area.top + area.height / 2);
  p.rotate(-Math.PI / 2);
  p.fillText(text.y.label, 0, 0);
  p.restore();
  p.textAlign = "left";
}

const ticks = (list: number[], text: AxisText) =>
  text.whole ? list.filter((v) => Number.isInteger(v)) : list;

function line(p: CanvasRenderingContext2D, x0: number, y0: number, x1: number, y1: number): void {
  p.beginPath();
  p.moveTo(x0, y0);
  p.lineTo(x1, y1);
  p.stroke();
}
