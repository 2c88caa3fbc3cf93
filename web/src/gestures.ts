// SPDX-License-Identifier: Apache-2.0
// Turns wheel, drag, pinch and keys on a canvas into changes of a Window2D.
import type { Window2D } from "./window2d";

export interface Plot {
  window: Window2D;
  // Where the window is drawn, in CSS pixels of the canvas.
  area(): { left: number; top: number; width: number; height: number };
  changed(): void;
  hover(x: number, y: number, event: PointerEvent): void; // window coordinates
  leave(): void;
  click?(x: number, y: number): void;
  // The wheel zooms in both directions, or only horizontally (then vertically with Shift).
  wheel: "both" | "across";
  up?: boolean; // y grows upwards
}

function toWindow(plot: Plot, canvas: HTMLCanvasElement, clientX: number, clientY: number) {
  const box = canvas.getBoundingClientRect();
  const area = plot.area();
  const w = plot.window;
  const u = (clientX - box.left - area.left) / area.width;
  const v = (clientY - box.top - area.top) / area.height;
  return { x: w.x0 + u * (w.x1 - w.x0), y: w.y0 + (plot.up ? 1 - v : v) * (w.y1 - w.y0) };
}

function bindWheel(canvas: HTMLCanvasElement, plot: Plot): void {
  canvas.addEventListener(
    "wheel",
    (event) => {
      event.preventDefault();
      const w = plot.window;
      if (Math.abs(event.deltaX) > Math.abs(event.deltaY) && !event.shiftKey) {
        w.pan((event.deltaX / plot.area().width) * (w.x1 - w.x0), 0);
      } else {
        const step = event.deltaY || event.deltaX;
        const factor = Math.exp(Math.max(-1, Math.min(1, step / 300)));
        const at = toWindow(plot, canvas, event.clientX, event.clientY);
        const across = plot.wheel === "both" || !event.shiftKey;
        const down = plot.wheel === "both" || event.shiftKey;
        w.zoom(across ? factor : 1, down ? factor : 1, at.x, at.y);
      }
      plot.changed();
    },
    { passive: false },
  );
}

function bindPointers(canvas: HTMLCanvasElement, plot: Plot): void {
  const down = new Map<number, { x: number; y: number }>();
  let moved = 0;
  const drag = (event: PointerEvent, before: { x: number; y: number }) => {
    const w = plot.window;
    const area = plot.area();
    const dx = (event.clientX - before.x) / area.width;
    const dy = ((event.clientY - before.y) / area.height) * (plot.up ? -1 : 1);
    if (down.size === 1) {
      w.pan(-dx * (w.x1 - w.x0), -dy * (w.y1 - w.y0));
      return;
    }
    const other = [...down].find(([id]) => id !== event.pointerId)![1];
    const was = Math.hypot(before.x - other.x, before.y - other.y);
    const is = Math.hypot(event.clientX - other.x, event.clientY - other.y);
    const middle = toWindow(
      plot,
      canvas,
      (event.clientX + other.x) / 2,
      (event.clientY + other.y) / 2,
    );
    const factor = was / Math.max(is, 1);
    w.zoom(factor, factor, middle.x, middle.y);
    w.pan((-dx / 2) * (w.x1 - w.x0), (-dy / 2) * (w.y1 - w.y0));
  };
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    down.set(event.pointerId, { x: event.clientX, y: event.clientY });
    if (down.size === 1) moved = 0;
  });
  canvas.addEventListener("pointermove", (event) => {
    const before = down.get(event.pointerId);
    if (before) {
      moved += Math.abs(event.clientX - before.x) + Math.abs(event.clientY - before.y);
      if (moved > 3 || down.size > 1) {
        drag(event, before);
        plot.changed();
      }
      down.set(event.pointerId, { x: event.clientX, y: event.clientY });
    }
    const at = toWindow(plot, canvas, event.clientX, event.clientY);
    plot.hover(at.x, at.y, event);
  });
  const up = (event: PointerEvent) => {
    if (!down.delete(event.pointerId) || event.type === "pointercancel") return;
    if (moved > 3) return;
    const at = toWindow(plot, canvas, event.clientX, event.clientY);
    plot.hover(at.x, at.y, event);
    plot.click?.(at.x, at.y);
  };
  canvas.addEventListener("pointerup", up);
  canvas.addEventListener("pointercancel", up);
  canvas.addEventListener("pointerleave", () => plot.leave());
}

function bindKeys(canvas: HTMLCanvasElement, plot: Plot): void {
  const sign = () => (plot.up ? -1 : 1);
  canvas.addEventListener("keydown", (event) => {
    const w = plot.window;
    const stepX = (w.x1 - w.x0) / 8;
    const stepY = ((w.y1 - w.y0) / 8) * sign();
    const near = (f: number, shift: boolean) =>
      plot.wheel === "both" ? w.zoom(f, f) : shift ? w.zoom(1, f) : w.zoom(f, 1);
    const actions: Record<string, () => void> = {
      ArrowLeft: () => w.pan(-stepX, 0),
      ArrowRight: () => w.pan(stepX, 0),
      ArrowUp: () => w.pan(0, -stepY),
      ArrowDown: () => w.pan(0, stepY),
      "+": () => near(1 / 1.5, false),
      "=": () => near(1 / 1.5, false),
      "-": () => near(1.5, false),
      PageDown: () => near(1 / 1.5, true),
      PageUp: () => near(1.5, true),
      "0": () => w.reset(),
      Home: () => w.reset(),
    };
    const action = actions[event.key];
    if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    action();
    plot.changed();
  });
}

export function bindGestures(canvas: HTMLCanvasElement, plot: Plot): void {
  canvas.tabIndex = 0;
  canvas.style.touchAction = "none";
  bindWheel(canvas, plot);
  bindPointers(canvas, plot);
  bindKeys(canvas, plot);
}
