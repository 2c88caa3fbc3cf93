// SPDX-License-Identifier: Apache-2.0
// Whether the figures of two runs can be called better and worse.
import type { Run } from "./types";

// Key figures that say what was done. Runs that differ in one of them did different work.
const work = ["program", "settings.program.arguments", "ranks", "objective"];

// Not a prediction beside its measurement (their difference is an error of the prediction), and not
// runs of different programs or sizes.
export function comparable(run: Run, first: Run): boolean {
  const text = (of: Run, key: string) => of.summary?.find((item) => item.key === key)?.text;
  return run.kind === first.kind && work.every((key) => text(run, key) === text(first, key));
}
