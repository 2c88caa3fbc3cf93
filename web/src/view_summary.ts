// SPDX-License-Identifier: Apache-2.0
// The key figures of each run; with several runs, the difference to the first.
import { h } from "./dom";
import { difference, differenceText } from "./format";
import type { Run, SummaryItem } from "./types";
import type { View } from "./view";

function labels(runs: Run[]): { key: string; label: string }[] {
  const list: { key: string; label: string }[] = [];
  for (const item of runs.flatMap((run) => run.summary ?? [])) {
    if (!list.some(({ key }) => key === item.key)) list.push({ key: item.key, label: item.label });
  }
  return list;
}

function cell(
  item: SummaryItem | undefined,
  first: SummaryItem | undefined,
  isFirst: boolean,
): HTMLElement {
  if (!item) return h("td", { className: "soft" }, "\u2013");
  const out = h("td", {}, item.text);
  if (isFirst || item.number === undefined || first?.number === undefined) return out;
  const text = differenceText(item.number, first.number, item.better);
  const share = difference(item.number, first.number) ?? 0;
  const good =
    item.better && share !== 0 ? (share < 0 === (item.better === "less") ? "good" : "bad") : "soft";
  if (text) out.append(h("div", { className: `difference ${good}` }, text));
  return out;
}

function table(runs: Run[]): HTMLElement {
  const find = (run: Run, key: string) => run.summary?.find((item) => item.key === key);
  const head = h(
    "tr",
    {},
    h("th", { scope: "col" }, ""),
    ...runs.map((run, i) =>
      h(
        "th",
        { scope: "col" },
        run.name,
        h(
          "div",
          { className: "kind-name" },
          runs.length > 1 && i === 0 ? `${run.kind}, compared with` : run.kind,
        ),
      ),
    ),
  );
  const body = labels(runs).map(({ key, label }) =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, label),
      ...runs.map((run, i) => cell(find(run, key), find(runs[0]!, key), i === 0)),
    ),
  );
  return h(
    "div",
    { className: "scroll fit", tabIndex: 0, role: "region", "aria-label": "Summary" },
    h(
      "table",
      { className: "summary", "data-testid": "summary" },
      h("thead", {}, head),
      h("tbody", {}, ...body),
    ),
  );
}

export const summaryView: View = {
  id: "summary",
  title: "Summary",
  compares: false,
  has: () => true,
  show: (host, _context, runs) => {
    host.append(table(runs));
    const remarks = runs.filter((run) => run.remarks?.length);
    if (remarks.length > 0) host.append(h("h3", {}, "Remarks"));
    for (const run of remarks) {
      host.append(
        runs.length > 1 ? h("h4", {}, run.name) : "",
        h(
          "ul",
          { className: "remarks", "data-testid": "remarks" },
          ...run.remarks!.map((text) => h("li", {}, text)),
        ),
      );
    }
    return { refresh: () => undefined, destroy: () => undefined };
  },
};
