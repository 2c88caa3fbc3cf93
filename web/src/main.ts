// SPDX-License-Identifier: Apache-2.0
// The page: header, selection of runs, tabs, and the view of the selected tab.
import { isDark, setRunColours } from "./colour";
import { button, h, hideTip, select } from "./dom";
import { startLive } from "./live";
import { State } from "./state";
import type { Index } from "./types";
import { chosenRuns } from "./view";
import type { Context, Shown, View } from "./view";
import { chartsView } from "./view_charts";
import { matrixView } from "./view_matrix";
import { networkView } from "./view_network";
import { placementView } from "./view_placement";
import { summaryView } from "./view_summary";
import { tablesView } from "./view_tables";
import { timelineView } from "./view_timeline";

const views: View[] = [
  summaryView,
  networkView,
  chartsView,
  timelineView,
  matrixView,
  placementView,
  tablesView,
];

// The texts follow the running script in the page, so they are read on demand.
function licences(): HTMLElement {
  const text = h("pre", { tabIndex: 0 });
  const fill = () => (text.textContent = document.getElementById("licences")?.textContent ?? "");
  return h(
    "details",
    { "data-testid": "licences", ontoggle: fill },
    h("summary", {}, "Licences of the libraries in this page"),
    text,
  );
}

class Page {
  private readonly tabs = h("div", { className: "tabs", role: "tablist", "aria-label": "Views" });
  private readonly runBar = h("div", { className: "controls runs" });
  private readonly host = h("main", { id: "view", role: "tabpanel", tabIndex: -1 });
  private readonly said = h("div", {
    className: "aside",
    role: "status",
    "aria-live": "polite",
    "data-testid": "said",
  });
  private readonly themeButton = button("", "theme", () => this.changeTheme());
  private readonly context: Context;
  private shown: Shown | undefined;

  constructor(
    private readonly index: Index,
    private readonly app: HTMLElement,
  ) {
    this.context = {
      index,
      state: new State(location.hash),
      numbers: {},
      announce: (text) => (this.said.textContent = text),
    };
    Object.defineProperty(window, "weftReport", { value: this.context.numbers });
  }

  start(): void {
    document.title = `${this.index.title} \u2013 weft`;
    this.applyTheme();
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.applyTheme());
    const live = h("div", {});
    this.app.replaceChildren(
      h(
        "header",
        {},
        h("span", { className: "name" }, "weft"),
        h("h1", { title: this.index.title }, this.index.title),
        this.themeButton,
      ),
      live,
      this.tabs,
      this.runBar,
      this.host,
      this.said,
      h("footer", {}, `Made by ${this.index.made_by}`, licences()),
    );
    this.context.state.watch((key) => {
      if (key === "tab" || key === "run" || key === "with") this.open();
    });
    window.addEventListener("hashchange", () => {
      if (!this.context.state.replace(location.hash)) return;
      this.applyTheme();
      this.open();
    });
    this.open();
    if (this.index.live) {
      startLive(this.context, live, {
        framesChanged: () => this.shown?.refresh(),
        runChanged: () => this.runChanged(),
      });
    }
  }

  // The end of a live run adds tables and charts; the network view stays as it is.
  private runChanged(): void {
    if (this.current().id === "network") this.drawTabs();
    else this.open();
  }

  private able(): View[] {
    return views.filter((view) => this.index.runs.some((run) => view.has(run)));
  }

  private current(): View {
    const able = this.able();
    const start = this.index.live ? "network" : "summary";
    return able.find((view) => view.id === this.context.state.get("tab", start)) ?? able[0]!;
  }

  private open(): void {
    this.shown?.destroy();
    hideTip();
    const view = this.current();
    const focused = document.activeElement?.getAttribute("role") === "tab";
    this.drawTabs();
    if (focused) this.tabs.querySelector<HTMLElement>('[aria-selected="true"]')?.focus();
    const runs = chosenRuns(view, this.context);
    this.drawRunBar(view);
    for (const key of Object.keys(this.context.numbers)) delete this.context.numbers[key];
    this.host.replaceChildren();
    this.host.dataset["view"] = view.id;
    this.host.dataset["ready"] = "false";
    this.host.setAttribute("aria-labelledby", `tab-${view.id}`);
    this.shown = view.show(this.host, this.context, runs);
    this.context.numbers["tab"] = view.id;
  }

  private drawTabs(): void {
    const able = this.able();
    const now = this.current();
    const move = (event: KeyboardEvent) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      event.preventDefault();
      event.stopPropagation();
      const next = able[(able.indexOf(now) + step + able.length) % able.length]!;
      this.context.state.set("tab", next.id);
    };
    this.tabs.replaceChildren(
      ...able.map((view) =>
        h(
          "button",
          {
            type: "button",
            role: "tab",
            id: `tab-${view.id}`,
            "data-testid": `tab-${view.id}`,
            "aria-selected": String(view === now),
            "aria-controls": "view",
            tabIndex: view === now ? 0 : -1,
            onclick: () => this.context.state.set("tab", view.id),
            onkeydown: move,
          },
          view.title,
        ),
      ),
    );
    // On a phone the tabs scroll sideways. scrollIntoView would move the page as well.
    const chosen = this.tabs.querySelector<HTMLElement>('[aria-selected="true"]');
    if (chosen)
      this.tabs.scrollLeft = chosen.offsetLeft - this.tabs.clientWidth / 2 + chosen.offsetWidth / 2;
  }

  private drawRunBar(view: View): void {
    const able = this.index.runs.filter((run) => view.has(run));
    this.runBar.replaceChildren();
    this.runBar.hidden = !view.compares || able.length < 2;
    if (this.runBar.hidden) return;
    const { state } = this.context;
    const [first, second] = chosenRuns(view, this.context);
    const names = able.map((run) => ({ value: run.name, text: run.name }));
    this.runBar.append(
      select("Run", "run", names, first!.name, (value) => state.set("run", value)),
      select(
        "Compare with",
        "with",
        [{ value: "", text: "nothing" }, ...names.filter(({ value }) => value !== first!.name)],
        second?.name ?? "",
        (value) => state.set("with", value),
      ),
    );
  }

  private applyTheme(): void {
    const system = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
    const theme = this.context.state.get("theme", system) === "dark" ? "dark" : "light";
    document.documentElement.dataset["theme"] = theme;
    setRunColours(this.index.runs.length);
    this.themeButton.textContent = theme === "dark" ? "Light" : "Dark";
    this.themeButton.setAttribute(
      "aria-label",
      `Change to ${theme === "dark" ? "light" : "dark"} colours`,
    );
    this.shown?.refresh();
  }

  private changeTheme(): void {
    this.context.state.set("theme", isDark() ? "light" : "dark");
    this.applyTheme();
  }
}

function start(): void {
  const app = document.getElementById("app")!;
  const text = document.getElementById("weft-data")?.textContent;
  if (!text) {
    app.textContent = "This page has no data; make one with: weft report RUN -o page.html";
    return;
  }
  const index = JSON.parse(text) as Index;
  if (index.format !== "weft-report 1") {
    app.textContent =
      `This page cannot show the format "${index.format}": it is of another version of weft. ` +
      "Make it again with: weft report RUN -o page.html";
    return;
  }
  new Page(index, app).start();
}

start();
