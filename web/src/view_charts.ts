// SPDX-License-Identifier: Apache-2.0
// All charts; those of the same kind from several runs are overlaid.
import { ChartCard } from "./chart";
import { mergeCharts } from "./chart_model";
import { h } from "./dom";
import type { View } from "./view";

export const chartsView: View = {
  id: "charts",
  title: "Charts",
  compares: false,
  has: (run) => (run.charts?.length ?? 0) > 0,
  show: (host, context, runs) => {
    const cards = mergeCharts(runs, context.index.runs).map(
      (chart) => new ChartCard(chart, context.announce),
    );
    host.append(
      h(
        "p",
        { className: "soft" },
        "Drag over a chart to zoom; a series is hidden and shown by its name." +
          (context.index.runs.length > 1 ? " A colour is a run, in all charts." : ""),
      ),
      h("div", { className: "charts" }, ...cards.map((card) => card.element)),
    );
    return {
      refresh: () => cards.forEach((card) => card.refresh()),
      destroy: () => cards.forEach((card) => card.destroy()),
    };
  },
};
