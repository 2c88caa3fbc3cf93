// SPDX-License-Identifier: Apache-2.0
// Colours that the colour-blind can tell apart: viridis for amounts, Okabe and Ito's for kinds.
// More is always further from the background: viridis runs backwards on the light page.
import { interpolateViridis } from "d3-scale-chromatic";

export const nothing = 256; // index of "no value" in a ramp

export interface Ramp {
  css: string[]; // 257 entries
  words: Uint32Array; // the same for ImageData: R, G, B, A from the lowest byte
  bytes: Uint8Array; // the same as RGBA bytes, for a texture
}

export function parseColour(text: string): [number, number, number] {
  const hex = /^#(..)(..)(..)$/.exec(text);
  if (hex) return [1, 2, 3].map((i) => parseInt(hex[i]!, 16)) as [number, number, number];
  const parts = text.match(/\d+/g) ?? [];
  return [Number(parts[0] ?? 0), Number(parts[1] ?? 0), Number(parts[2] ?? 0)];
}

export const word = ([r, g, b]: [number, number, number], alpha = 255): number =>
  ((alpha << 24) | (b << 16) | (g << 8) | r) >>> 0;

function makeRamp(colour: (i: number) => string, empty: string): Ramp {
  const ramp: Ramp = {
    css: [],
    words: new Uint32Array(257),
    bytes: new Uint8Array(257 * 4),
  };
  for (let i = 0; i <= 256; ++i) {
    const rgb = parseColour(i === nothing ? empty : colour(i));
    ramp.css.push(`rgb(${rgb.join(",")})`);
    ramp.words[i] = word(rgb);
    ramp.bytes.set([...rgb, 255], i * 4);
  }
  return ramp;
}

export const isDark = (): boolean => document.documentElement.dataset["theme"] === "dark";

const idle = { light: "#e6e8ec", dark: "#2b303a" };
const ramps = new Map<string, Ramp>();

function cached(key: string, make: () => Ramp): Ramp {
  let ramp = ramps.get(key);
  if (!ramp) ramps.set(key, (ramp = make()));
  return ramp;
}

// Amounts: 0 means idle and has the colour of an empty position.
export function heatRamp(dark = isDark()): Ramp {
  return cached(`heat ${dark}`, () => {
    const empty = dark ? idle.dark : idle.light;
    const at = (i: number) => (dark ? 0.12 + (0.88 * i) / 255 : 0.9 - (0.9 * i) / 255);
    return makeRamp((i) => (i === 0 ? empty : interpolateViridis(at(i))), empty);
  });
}

// Positions in an order (ranks): every value is a colour, 256 is an empty position.
export function orderRamp(dark = isDark()): Ramp {
  return cached(`order ${dark}`, () =>
    makeRamp((i) => interpolateViridis(i / 255), dark ? idle.dark : idle.light),
  );
}

// Okabe and Ito's colours; yellow and sky are darker on the light page, to be visible on white.
const kindsLight = [
  "#0072b2",
  "#d55e00",
  "#009e73",
  "#b0468c",
  "#8f7a00",
  "#3aa5dd",
  "#858585",
  "#111111",
];
const kindsDark = [
  "#56b4e9",
  "#e69f00",
  "#2fbf95",
  "#e08fc0",
  "#f0e442",
  "#e2603a",
  "#8f8f8f",
  "#f8f8f8",
];
export const kindColours = kindsLight.length;

export function kindColour(i: number, dark = isDark()): string {
  const list = dark ? kindsDark : kindsLight;
  return list[i % list.length]!;
}

// A run has the colour of its place among the runs of the page, in every view. Elements use it as a
// variable of the style sheet, so that it follows the theme.
export function setRunColours(runs: number): void {
  for (let i = 0; i < runs; ++i)
    document.documentElement.style.setProperty(`--run-${i}`, kindColour(i));
}

export function pageColour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}
