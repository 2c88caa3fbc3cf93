// SPDX-License-Identifier: Apache-2.0
// The part of a plane that a plot shows, with zooming and panning. Does not know the screen.

export interface Extent {
  x0: number;
  x1: number;
  y0: number;
  y1: number;
}

function clampSpan(low: number, high: number, least: number, greatest: number, slack: number) {
  const whole = greatest - least;
  const span = Math.min(high - low, whole * (1 + 2 * slack));
  const room = whole * slack;
  let start = low;
  if (start < least - room) start = least - room;
  if (start + span > greatest + room) start = greatest + room - span;
  return [start, start + span] as const;
}

export class Window2D implements Extent {
  x0 = 0;
  x1 = 1;
  y0 = 0;
  y1 = 1;

  // `slack`: how far beyond the whole one may look, as a share of it.
  constructor(
    public whole: Extent,
    private least: { x: number; y: number },
    private slack = 0,
  ) {
    this.reset();
  }

  reset(): void {
    Object.assign(this, {
      x0: this.whole.x0,
      x1: this.whole.x1,
      y0: this.whole.y0,
      y1: this.whole.y1,
    });
  }

  isWhole(): boolean {
    const w = this.whole;
    return this.x0 === w.x0 && this.x1 === w.x1 && this.y0 === w.y0 && this.y1 === w.y1;
  }

  // A factor below 1 zooms in; the point (x, y) stays fixed.
  zoom(fx: number, fy: number, x = (this.x0 + this.x1) / 2, y = (this.y0 + this.y1) / 2): void {
    const wx = this.whole.x1 - this.whole.x0;
    const wy = this.whole.y1 - this.whole.y0;
    const limit = (f: number, span: number, least: number, whole: number) =>
      Math.min(Math.max(span * f, Math.min(least, whole)), whole) / span;
    const gx = limit(fx, this.x1 - this.x0, this.least.x, wx);
    const gy = limit(fy, this.y1 - this.y0, this.least.y, wy);
    this.set(
      x - (x - this.x0) * gx,
      x + (this.x1 - x) * gx,
      y - (y - this.y0) * gy,
      y + (this.y1 - y) * gy,
    );
  }

  pan(dx: number, dy: number): void {
    this.set(this.x0 + dx, this.x1 + dx, this.y0 + dy, this.y1 + dy);
  }

  set(x0: number, x1: number, y0: number, y1: number): void {
    [this.x0, this.x1] = clampSpan(x0, x1, this.whole.x0, this.whole.x1, this.slack);
    [this.y0, this.y1] = clampSpan(y0, y1, this.whole.y0, this.whole.y1, this.slack);
  }
}
