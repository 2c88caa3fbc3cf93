// SPDX-License-Identifier: Apache-2.0
// A view is one tab of the page: it fills an element and cleans up after itself.
import { h } from "./dom";
import type { State } from "./state";
import type { Index, Run } from "./types";

export interface Context {
  index: Index;
  state: State;
  announce(text: string): void;
  numbers: Record<string, unknown>; // read-only for others, as window.weftReport
}

export interface Shown {
  // Something outside changed: the theme, or a live run's data.
  refresh(): void;
  destroy(): void;
}

export interface View {
  id: string;
  title: string;
  has(run: Run): boolean;
  compares: boolean; // shows one run, or two beside each other
  show(host: HTMLElement, context: Context, runs: Run[]): Shown;
}

// A spot of the run's colour, for the place where it is named; nothing if there is but one run.
export function runMark(index: Index, run: Run): HTMLElement | null {
  if (index.runs.length < 2) return null;
  const colour = `background-color:var(--run-${index.runs.indexOf(run)})`;
  return h("i", { className: "run-mark", style: colour, "aria-hidden": "true" });
}

export function chosenRuns(view: View, context: Context): Run[] {
  const able = context.index.runs.filter((run) => view.has(run));
  if (!view.compares) return able;
  const named = (key: string) => able.find((run) => run.name === context.state.get(key));
  const first = named("run") ?? able[0];
  const second = named("with");
  if (!first) return [];
  return second && second !== first ? [first, second] : [first];
}
