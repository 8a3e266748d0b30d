// What Python writes into a page: the contract is in src/footfall/pages/page.py.

export const FORMAT = 1;

export interface Place {
  name: string;
  dtype: "float64" | "float32" | "int32" | "bool";
  shape: number[];
  offset: number;
}

export interface Layout {
  inputs: Place[];
  outputs: Place[];
  start?: string;
}

export interface Module {
  code: string;
  layout: Layout;
}

export interface Bounds {
  gt: number | null;
  ge: number | null;
  lt: number | null;
  le: number | null;
}

export interface Parameter {
  key: string;
  table: string;
  name: string;
  value: number | string | (number | string)[];
  unit: string;
  doc: string;
  kind: "number" | "switch" | "text";
  bounds?: Bounds;
  low?: number;
  high?: number;
}

/** A plain number, or one of those that the start module computes. */
export type Num = number | { n: number };
export type Point = [Num, Num, Num];

export type Shape =
  | { shape: "bar"; body: string; start: Point; end: Point; color: string; radius: Num }
  | { shape: "link"; start: string; end: string; color: string; radius: Num }
  | { shape: "disc"; body: string; centre: Point; radius: Num; color: string }
  | { shape: "ball"; body: string; centre: Point; radius: Num; color: string }
  | { shape: "arrow"; at: string; metres_per_newton: Num; color: string };

export interface Ground {
  points: [number, number][];
  color: string;
  water: boolean;
}

export interface Signal {
  name: string;
  unit: string;
  doc: string;
}

export interface Chart {
  title: string;
  signals: string[];
  style: "lines" | "whole" | "carpet";
  rows: string;
}

export interface Entry {
  name: string;
  doc: string;
  kind: string;
}

export interface Travel {
  distance: string;
  counters: string[];
  contacts: string[];
  legs: string;
  heading: string | null;
  weight: number;
}

export interface Ledger {
  stores: Entry[];
  works: Entry[];
  jump_works: Entry[];
  limit: number;
}

export interface Live {
  step: number;
  method: string;
  kernel: Module;
  start: Module;
  ground: Module | null;
  push: Module | null;
}

/** What pages/gait.py writes. */
export interface Mode {
  words: string;
  multiplier: [number, number];
  by: number[];
  told: [number[], number[]];
}

export interface Gait {
  event: string;
  period: number;
  verdict: string;
  numbers: { name: string; leg: number; value: number }[];
  modes: Mode[];
  disarmed: string[];
  counter: string | null;
  back: Module | null;
}

export interface Replay {
  columns: string[];
  rows: number;
  data: string;
  sentence: string;
  sound: boolean;
  success: boolean;
  metrics: { name: string; value: number | null; unit: string }[];
  residual: number;
}

// [light, dark]
export type Shades = [string, string];

export interface Palette {
  roles: Record<string, Shades>;
  series: Shades[];
}

export interface Page {
  format: number;
  name: string;
  title: string;
  about: string;
  look_for: string;
  success: string[];
  parameters: Parameter[];
  command: string;
  toml: string;
  palette: Palette;
  duration: number;
  settle: number;
  scene: { shapes: Shape[]; ground: Ground | null };
  outputs: Signal[];
  rates: Signal[];
  /** Keys of the parameters that an operator steers by: what drives it, what turns it. */
  steered_by: string[];
  charts: Chart[];
  travel: Travel | null;
  ledger: Ledger;
  outcomes: Record<string, { name: string; meaning: string; event: string }>;
  live?: Live;
  gait?: Gait;
  replay?: Replay;
  /** Another run, to be seen beside this one. */
  ghost?: { name: string; title: string; shapes: Shape[]; replay: Replay };
}

export function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
}

/** Parameters that may change while the page is open, by key. */
export function movingValues(page: Page): Record<string, number> {
  const moving = page.parameters.filter((p) => p.kind !== "text");
  return Object.fromEntries(moving.map((p) => [p.key, p.value as number]));
}
