// SPDX-License-Identifier: Apache-2.0
// Every table: sorted by any column, filtered by text, saved as CSV; the whole index as JSON.
import { button, h, saveFile } from "./dom";
import { csv, withUnit } from "./format";
import { filterRows, sortRows } from "./rows";
import type { Order } from "./rows";
import type { Cell, Table } from "./types";
import { runMark } from "./view";
import type { View } from "./view";

const rowsAtOnce = 200;

class TableCard {
  readonly element = h("section", { className: "card" });
  private readonly head = h("tr", {});
  private readonly body = h("tbody", {});
  private readonly note = h("p", { className: "note" });
  private readonly more: HTMLButtonElement;
  private order: Order | undefined;
  private filter = "";
  private limit = rowsAtOnce;

  constructor(
    private readonly table: Table,
    private readonly name: string,
    heading: HTMLElement,
  ) {
    const box = h("input", {
      type: "search",
      placeholder: "filter",
      "aria-label": `Filter ${table.title}`,
      "data-testid": "filter",
      oninput: () => {
        this.filter = box.value;
        this.limit = rowsAtOnce;
        this.draw();
      },
    });
    this.more = button("Show more rows", "more", () => {
      this.limit *= 4;
      this.draw();
    });
    this.element.dataset["testid"] = `table-${table.id}`;
    this.element.append(
      heading,
      h(
        "div",
        { className: "controls" },
        box,
        button("Save as CSV", "csv", () => this.save()),
      ),
      h(
        "div",
        { className: "scroll", tabIndex: 0, role: "region", "aria-label": table.title },
        h("table", { className: "table" }, h("thead", {}, this.head), this.body),
      ),
      this.note,
      this.more,
    );
    this.draw();
  }

  private rows(): Cell[][] {
    return sortRows(filterRows(this.table.rows, this.filter), this.order);
  }

  private numeric(column: number): boolean {
    return this.table.rows.some((row) => typeof row[column] === "number");
  }

  private draw(): void {
    const focus = (document.activeElement as HTMLElement | null)?.dataset["column"];
    const rows = this.rows();
    this.head.replaceChildren(
      ...this.table.columns.map((column, i) =>
        h(
          "th",
          {
            scope: "col",
            className: this.numeric(i) ? "number" : "",
            "aria-sort":
              this.order?.column === i ? (this.order.down ? "descending" : "ascending") : "none",
          },
          h(
            "button",
            {
              type: "button",
              "data-column": `${this.table.id}-${i}`,
              onclick: () => this.sortBy(i),
            },
            column.name,
          ),
        ),
      ),
    );
    this.body.replaceChildren(
      ...rows
        .slice(0, this.limit)
        .map((row) =>
          h(
            "tr",
            {},
            ...row.map((value, i) =>
              h("td", { className: this.numeric(i) ? "number" : "" }, this.text(value, i)),
            ),
          ),
        ),
    );
    const parts = [];
    if (rows.length === 0 && this.filter !== "") parts.push("No row has this text: clear the filter");
    else if (this.table.rows.length === 0) parts.push("The record has no rows of this kind");
    else if (rows.length !== this.table.rows.length)
      parts.push(`${rows.length} of ${this.table.rows.length} rows`);
    if (this.table.cut)
      parts.push(`${this.table.cut.toLocaleString("en-GB")} more rows are in the record only`);
    this.note.textContent = parts.join("; ");
    this.more.hidden = rows.length <= this.limit;
    if (focus) this.head.querySelector<HTMLElement>(`[data-column="${focus}"]`)?.focus();
  }

  private text(value: Cell, column: number): string {
    if (value === null) return "\u2013";
    return typeof value === "number" ? withUnit(value, this.table.columns[column]?.unit) : value;
  }

  // Numbers are sorted largest first, text from A.
  private sortBy(column: number): void {
    const down = this.order?.column === column ? !this.order.down : this.numeric(column);
    this.order = { column, down };
    this.draw();
  }

  private save(): void {
    const names = this.table.columns.map((c) =>
      c.unit && c.unit !== "1" ? `${c.name} (${c.unit})` : c.name,
    );
    saveFile(`${this.name}-${this.table.id}.csv`, "text/csv", csv([names, ...this.rows()]));
  }
}

export const tablesView: View = {
  id: "tables",
  title: "Tables",
  compares: false,
  has: (run) => (run.tables?.length ?? 0) > 0,
  show: (host, context, runs) => {
    const json = () =>
      saveFile("report.json", "application/json", JSON.stringify(context.index, null, 1));
    host.append(
      h(
        "div",
        { className: "controls" },
        button("Save all as JSON", "json", json),
        h("span", { className: "soft" }, "A column's name sorts by it."),
      ),
    );
    for (const run of runs) {
      for (const table of run.tables!) {
        const mark = runMark(context.index, run);
        const heading = h("h3", {}, mark, mark ? `${run.name}: ${table.title}` : table.title);
        host.append(new TableCard(table, run.name.replaceAll(/[^\w.-]+/g, "_"), heading).element);
      }
    }
    return { refresh: () => undefined, destroy: () => undefined };
  },
};
