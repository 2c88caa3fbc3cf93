// SPDX-License-Identifier: Apache-2.0
// Creates elements and the few controls that all views share.

type Child = Node | string | null | undefined | false;
type Props = Record<string, unknown>;

function apply(element: Element, props: Props): void {
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on") && typeof value === "function") {
      element.addEventListener(name.slice(2), value as EventListener);
    } else if (name === "style" || name.includes("-") || !(name in element)) {
      element.setAttribute(name, value === true ? "" : String(value));
    } else {
      (element as unknown as Props)[name] = value;
    }
  }
}

export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  props: Props = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  apply(element, props);
  for (const child of children) if (child) element.append(child);
  return element;
}

export function svg<K extends keyof SVGElementTagNameMap>(
  tag: K,
  props: Record<string, string | number> = {},
  ...children: (Node | string)[]
): SVGElementTagNameMap[K] {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(props)) element.setAttribute(name, String(value));
  element.append(...children);
  return element;
}

export interface Option {
  value: string;
  text: string;
}

export function select(
  label: string,
  id: string,
  options: Option[],
  value: string,
  change: (value: string) => void,
): HTMLLabelElement {
  const box = h(
    "select",
    {
      "data-testid": id,
      onchange: () => change(box.value),
    },
    ...options.map((o) => h("option", { value: o.value, selected: o.value === value }, o.text)),
  );
  return h("label", { className: "field" }, h("span", {}, label), box);
}

export function check(
  label: string,
  id: string,
  value: boolean,
  change: (value: boolean) => void,
): HTMLLabelElement {
  const box = h("input", {
    type: "checkbox",
    checked: value,
    "data-testid": id,
    onchange: () => change(box.checked),
  });
  return h("label", { className: "tick" }, box, label);
}

export function button(text: string, id: string, click: () => void, label = ""): HTMLButtonElement {
  return h(
    "button",
    {
      type: "button",
      "data-testid": id,
      "aria-label": label || undefined,
      title: label || undefined,
      onclick: click,
    },
    text,
  );
}

// A canvas with one pixel per device pixel; drawing uses CSS pixels.
export function sizeCanvas(canvas: HTMLCanvasElement, width: number, height: number): number {
  const ratio = Math.min(window.devicePixelRatio || 1, 2);
  const w = Math.max(1, Math.round(width * ratio));
  const t = Math.max(1, Math.round(height * ratio));
  if (canvas.width !== w || canvas.height !== t) {
    canvas.width = w;
    canvas.height = t;
  }
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  return ratio;
}

export function pen(canvas: HTMLCanvasElement): CanvasRenderingContext2D {
  return canvas.getContext("2d")!;
}

export function saveFile(name: string, type: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = h("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

// The single tooltip that follows the pointer; on request its text also reaches screen readers.
let tip: HTMLElement | undefined;

export function showTip(lines: string[], x: number, y: number): void {
  if (!tip) {
    tip = h("div", { className: "tip", "data-testid": "tip", role: "tooltip" });
    document.body.append(tip);
  }
  tip.replaceChildren(...lines.map((line, i) => h("div", { className: i ? "" : "first" }, line)));
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  const left = x + 14 + box.width > window.innerWidth - 4 ? x - 14 - box.width : x + 14;
  const top = y + 14 + box.height > window.innerHeight - 4 ? y - 14 - box.height : y + 14;
  tip.style.left = `${Math.max(4, left)}px`;
  tip.style.top = `${Math.max(4, top)}px`;
}

export function hideTip(): void {
  if (tip) tip.hidden = true;
}
