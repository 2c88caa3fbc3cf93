// SPDX-License-Identifier: Apache-2.0
// The key figures of each run; with several runs, the difference to the first, and which is better
// where that is known.
import { comparable } from "./comparable";
import { h } from "./dom";
import { difference, differenceText } from "./format";
import type { Index, Run, SummaryItem } from "./types";
import { runMark } from "./view";
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
  same: { run: boolean; work: boolean },
): HTMLElement {
  if (!item) return h("td", { className: "soft" }, "\u2013");
  const out = h("td", {}, item.text);
  if (same.run || item.number === undefined || first?.number === undefined) return out;
  const better = same.work ? item.better : undefined;
  const text = differenceText(item.number, first.number, better);
  const share = difference(item.number, first.number) ?? 0;
  const good = better && share !== 0 ? (share < 0 === (better === "less") ? "good" : "bad") : "soft";
  if (text) out.append(h("div", { className: `difference ${good}` }, text));
  return out;
}

function table(index: Index, runs: Run[]): HTMLElement {
  const find = (run: Run, key: string) => run.summary?.find((item) => item.key === key);
  const head = h(
    "tr",
    {},
    h("th", { scope: "col" }, ""),
    ...runs.map((run, i) =>
      h(
        "th",
        { scope: "col" },
        runMark(index, run),
        run.name,
        h(
          "div",
          { className: "kind-name" },
          runs.length > 1 && i === 0 ? `${run.kind}, the others are compared with it` : run.kind,
        ),
      ),
    ),
  );
  const body = labels(runs).map(({ key, label }) =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, label),
      ...runs.map((run) =>
        cell(find(run, key), find(runs[0]!, key), {
          run: run === runs[0],
          work: comparable(run, runs[0]!),
        }),
      ),
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

// A figure of which less or more is better, in both runs.
function judged(run: Run, first: Run): boolean {
  const keys = (of: Run) => (of.summary ?? []).filter((item) => item.better).map(({ key }) => key);
  return keys(run).some((key) => keys(first).includes(key));
}

export const summaryView: View = {
  id: "summary",
  title: "Summary",
  compares: false,
  has: () => true,
  show: (host, context, runs) => {
    host.append(table(context.index, runs));
    const other = runs.filter((run) => !comparable(run, runs[0]!) && judged(run, runs[0]!));
    if (other.length > 0) {
      host.append(
        h(
          "p",
          { className: "note", "data-testid": "other-work" },
          `Differences of ${other.map((run) => run.name).join(", ")} are not called better or ` +
            `worse: the kind of run, the program, its arguments or the number of ranks is not that of ` +
            `${runs[0]!.name}.`,
        ),
      );
    }
    const remarks = runs.filter((run) => run.remarks?.length);
    if (remarks.length > 0) host.append(h("h3", {}, "Remarks"));
    for (const run of remarks) {
      host.append(
        runs.length > 1 ? h("h4", {}, runMark(context.index, run), run.name) : "",
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
