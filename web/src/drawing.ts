// SPDX-License-Identifier: Apache-2.0
// What all drawings of a network share.
import type { Ramp } from "./colour";
import { hideTip, showTip } from "./dom";
import type { NetModel } from "./netmodel";

export type Pick = { router: number } | { link: number } | { node: number };

// Values index a ramp of 257 colours; 256 means "nothing here".
export interface Shade {
  ramp: Ramp;
  router: Uint8Array | Uint16Array;
  link?: Uint8Array | undefined; // drawings of links; index as above
  node?: Uint16Array | undefined;
}

export interface DrawingOptions {
  model: NetModel;
  label: string;
  height: number;
  describe(pick: Pick): string[];
  announce(text: string): void;
  choose?(pick: Pick): void;
}

export interface Drawing {
  element: HTMLElement;
  draw(shade: Shade): void;
  mark(routers: readonly number[], nodes?: readonly number[]): void;
  destroy(): void;
}

export class Teller {
  private last = "";

  constructor(private readonly options: DrawingOptions) {}

  at(pick: Pick | undefined, x: number, y: number): void {
    if (!pick) {
      this.last = "";
      hideTip();
      return;
    }
    showTip(this.options.describe(pick), x, y);
  }

  // For the keyboard: also read aloud, once per position.
  say(pick: Pick, x: number, y: number): void {
    const lines = this.options.describe(pick);
    showTip(lines, x, y);
    const text = lines.join(", ");
    if (text !== this.last) this.options.announce(text);
    this.last = text;
  }
}

export function onWidth(element: HTMLElement, act: (width: number) => void): ResizeObserver {
  let last = -1;
  const observer = new ResizeObserver((entries) => {
    const width = Math.floor(entries[0]!.contentRect.width);
    if (width <= 0 || width === last) return;
    last = width;
    act(width);
  });
  observer.observe(element);
  return observer;
}
