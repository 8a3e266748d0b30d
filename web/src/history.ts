// Rows of a run, oldest first; of a long one the last of them.

export const MOST_ROWS = 20_000;

export class History {
  private rows: Float64Array[] = [];
  private readonly at = new Map<string, number>();

  constructor(readonly columns: string[]) {
    columns.forEach((name, n) => this.at.set(name, n));
  }

  get length(): number {
    return this.rows.length;
  }

  has(name: string): boolean {
    return this.at.has(name);
  }

  clear(): void {
    this.rows = [];
  }

  push(row: Float64Array): void {
    this.rows.push(row);
    if (this.rows.length > 1.1 * MOST_ROWS) this.rows = this.rows.slice(-MOST_ROWS);
  }

  /** Forget what came after row n. */
  cut(n: number): void {
    this.rows.length = Math.min(this.rows.length, n + 1);
  }

  time(n: number): number {
    return this.rows[n]?.[0] ?? 0;
  }

  get begin(): number {
    return this.time(0);
  }

  get end(): number {
    return this.time(this.rows.length - 1);
  }

  get(n: number, name: string): number {
    const column = this.at.get(name);
    return column === undefined ? 0 : (this.rows[n]?.[column] ?? 0);
  }

  /** The last row at or before t. */
  rowAt(t: number): number {
    let [low, high] = [0, this.rows.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.rows[middle][0] <= t) low = middle;
      else high = middle - 1;
    }
    return Math.max(low, 0);
  }

  /** A signal over rows from..to (without the last), every `stride`th. */
  series(name: string, from: number, to: number, stride = 1): Float64Array {
    const column = this.at.get(name);
    const out = new Float64Array(Math.max(0, Math.ceil((to - from) / stride)));
    if (column !== undefined) for (let n = 0; n < out.length; n++) out[n] = this.rows[from + n * stride][column];
    return out;
  }
}

/** The group of an output: "hub" and "x" give "hub.x", "tip.3" and "x" give "tip.x.3". */
export function member(group: string, name: string): string {
  const cut = group.lastIndexOf(".");
  const leg = group.slice(cut + 1);
  return cut > 0 && /^\d+$/.test(leg) ? `${group.slice(0, cut)}.${name}.${leg}` : `${group}.${name}`;
}
