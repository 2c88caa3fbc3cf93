// SPDX-License-Identifier: Apache-2.0
// A cube's routers as tiles: two dimensions span a tile, the others select the tile.

const letters = ["x", "y", "z", "a", "b", "c"];

export const dimensionName = (d: number): string => letters[d] ?? `d${d}`;

// The wanted dimensions across and down if the cube has both; `down` is -1 with one dimension.
export function axesFor(radix: readonly number[], wanted: readonly number[]): [number, number] {
  if (radix.length === 1) return [0, -1];
  const [across, down] = wanted;
  const has = (d: number | undefined) => Number.isInteger(d) && d! >= 0 && d! < radix.length;
  return across !== down && has(across) && has(down) ? [across!, down!] : [0, 1];
}

// The choices if there are more than two dimensions.
export function axesChoices(dimensions: number): { value: string; text: string }[] {
  const all = Array.from({ length: dimensions }, (_, d) => d);
  return all.flatMap((a) =>
    all
      .filter((b) => b !== a)
      .map((b) => ({
        value: `${a},${b}`,
        text: `${dimensionName(a)} across, ${dimensionName(b)} down`,
      })),
  );
}

export function coordinates(router: number, radix: readonly number[]): number[] {
  return radix.map((size) => {
    const at = router % size;
    router = (router - at) / size;
    return at;
  });
}

export function routerAt(at: readonly number[], radix: readonly number[]): number {
  let router = 0;
  for (let d = radix.length - 1; d >= 0; --d) router = router * radix[d]! + at[d]!;
  return router;
}

export interface Slices {
  width: number; // routers across a tile
  height: number;
  tiles: number;
  // place[router] = tile * width * height + row * width + column
  place: Uint32Array;
  router: Uint32Array; // the inverse
  tileName(tile: number): string;
}

// `across` and `down` are dimensions; with one dimension `down` is -1.
export function makeSlices(radix: readonly number[], across: number, down: number): Slices {
  const width = radix[across]!;
  const height = down >= 0 ? radix[down]! : 1;
  const others = radix.map((_, d) => d).filter((d) => d !== across && d !== down);
  const count = radix.reduce((a, b) => a * b, 1);
  const place = new Uint32Array(count);
  const router = new Uint32Array(count);
  const weight = new Array<number>(radix.length).fill(0);
  weight[across] = 1;
  if (down >= 0) weight[down] = width;
  let next = width * height;
  for (const d of others) {
    weight[d] = next;
    next *= radix[d]!;
  }
  const at = new Array<number>(radix.length).fill(0);
  let where = 0;
  for (let r = 0; r < count; ++r) {
    place[r] = where;
    router[where] = r;
    for (let d = 0; d < radix.length; ++d) {
      where += weight[d]!;
      if (++at[d]! < radix[d]!) break;
      where -= weight[d]! * radix[d]!;
      at[d] = 0;
    }
  }
  const tileName = (tile: number) =>
    others
      .map((d) => {
        const v = tile % radix[d]!;
        tile = (tile - v) / radix[d]!;
        return `${dimensionName(d)} = ${v}`;
      })
      .join(", ");
  return { width, height, tiles: count / (width * height), place, router, tileName };
}

// Columns of tiles and pixels per router, so that tiles are as large as fits `room` pixels of width
// and, if possible, `tall` pixels of height.
export function fitTiles(s: Slices, room: number, tall: number, gap: number, label: number) {
  let best = { columns: 1, cell: 0 };
  for (let columns = 1; columns <= s.tiles; ++columns) {
    const rows = Math.ceil(s.tiles / columns);
    const byWidth = (room - gap * (columns - 1)) / (columns * s.width);
    const byHeight = (tall - (gap + label) * rows) / (rows * s.height);
    let cell = Math.min(byWidth, byHeight, 48);
    if (cell >= 1) cell = Math.floor(cell);
    // Of equal sizes the one with fewer rows.
    if (cell >= best.cell - 1e-9) best = { columns, cell: Math.max(cell, best.cell) };
  }
  if (best.cell >= 2) return best;
  // Too many for one screen: let the page scroll rather than shrink routers below two pixels.
  const cell = 2;
  const columns = Math.max(1, Math.floor((room + gap) / (s.width * cell + gap)));
  const shrunk = Math.min(cell, room / s.width);
  return { columns: Math.min(columns, s.tiles), cell: shrunk };
}
