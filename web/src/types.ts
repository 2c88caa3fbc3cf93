// SPDX-License-Identifier: Apache-2.0
// The data of a page, "weft-report 1", as `weft report` writes it.

export interface Block {
  block: number;
  type: "u8" | "u16" | "u32" | "f32";
  shape: number[];
}

export type Unit = "ps" | "B" | "B/s" | "b/s" | "1" | "share" | "cycles";
export type Cell = string | number | null;

export interface SummaryItem {
  key: string;
  label: string;
  text: string;
  number?: number;
  better?: "less" | "more";
}

export interface Column {
  name: string;
  unit?: Unit;
}

export interface Table {
  id: string;
  title: string;
  columns: Column[];
  rows: Cell[][];
  cut?: number;
}

// The same axis in another unit: its value is that of the axis times the factor.
export interface SecondScale {
  label: string;
  unit?: Unit;
  factor: number;
}

export interface Axis {
  label: string;
  unit?: Unit;
  log?: boolean;
  second?: SecondScale;
}

export interface Series {
  name: string;
  points: [number, number | null][];
  hollow?: number[]; // points of lesser confidence; one without y lies above the chart
  steps?: boolean;
  dashed?: boolean;
}

export interface Rule {
  axis: "x" | "y";
  at: number;
  label: string;
}

export interface Chart {
  id: string;
  title: string;
  x: Axis;
  y: Axis;
  series: Series[];
  rules?: Rule[];
  hollow_means?: string;
}

export interface Network {
  name: string;
  family: "cube" | "tree" | "graph";
  routers: number;
  nodes: number;
  radix?: number[];
  wrap?: boolean[];
  names?: string[];
  level?: Block;
  group?: Block;
  links: { from: Block; to: Block; direction?: Block };
  node_router?: Block;
}

export interface Layer {
  id: string;
  title: string;
  per: "link" | "router";
  of: string;
  data: Block;
}

export interface Heat {
  begin_ps: number;
  end_ps: number[];
  layers: Layer[];
}

export interface Timeline {
  ranks: number;
  tick_ps: number;
  end: number;
  calls: string[];
  first: Block;
  begin: Block;
  length: Block;
  call: Block;
  waited: Block;
  exact?: boolean;
  bin_ticks?: number;
}

export interface Matrix {
  ranks: number;
  bin: number;
  from: Block;
  to: Block;
  bytes: Block;
  messages: Block;
}

export interface Placement {
  before: Block;
  after: Block;
  before_name: string;
  after_name: string;
}

export interface Run {
  name: string;
  kind: string;
  summary?: SummaryItem[];
  remarks?: string[];
  tables?: Table[];
  charts?: Chart[];
  network?: Network;
  heat?: Heat;
  timeline?: Timeline;
  matrix?: Matrix;
  placement?: Placement;
}

export interface Index {
  format: string;
  title: string;
  made_by: string;
  live?: boolean;
  runs: Run[];
}
