// SPDX-License-Identifier: Apache-2.0
import type { Ramp } from "./colour";
import { h } from "./dom";

// A bar with the ramp's colours and labels at its ends and middle.
export function rampLegend(ramp: Ramp, marks: string[], title: string, empty: string): HTMLElement {
  const stops = Array.from({ length: 17 }, (_, i) => ramp.css[Math.min(255, Math.max(1, i * 16))]);
  const bar = h("div", {
    className: "ramp",
    style: `background:linear-gradient(to right,${stops.join(",")})`,
  });
  return h(
    "div",
    {
      className: "legend",
      "data-testid": "legend",
      role: "group",
      "aria-label": `Colours: ${title}`,
    },
    h("span", { className: "legend-title" }, title),
    h(
      "div",
      { className: "ramp-box" },
      bar,
      h("div", { className: "ramp-marks" }, ...marks.map((text) => h("span", {}, text))),
    ),
    h(
      "span",
      { className: "kind" },
      h("i", { style: `background-color:${ramp.css[256]}`, "aria-hidden": "true" }),
      empty,
    ),
  );
}

export function kindLegend(
  kinds: { text: string; colour: string; hatched?: boolean }[],
): HTMLElement {
  return h(
    "div",
    { className: "legend kinds", "data-testid": "legend" },
    ...kinds.map((kind) =>
      h(
        "span",
        { className: "kind" },
        h("i", {
          className: kind.hatched ? "hatched" : "",
          style: `background-color:${kind.colour}`,
          "aria-hidden": "true",
        }),
        kind.text,
      ),
    ),
  );
}
