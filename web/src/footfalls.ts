// The footfall diagram: when each foot stands, over the last moments.

import { make, sized, style, words } from "./dom";
import type { History } from "./history";
import type { Page } from "./page";
import { series } from "./palette";

const MOST_COLUMNS = 600;

export class Footfalls {
  private readonly canvas = make("canvas", { role: "img", aria: { label: "footfall diagram: when each foot stands" } });

  constructor(
    private readonly page: Page,
    private readonly history: () => History,
    root: HTMLElement,
    private readonly window: () => number,
  ) {
    const contacts = page.travel?.contacts.length ?? 0;
    const legend = contacts ? "a bar: the foot stands" : "a colour is a footstep";
    root.append(make("header", {}, make("h2", {}, "Footfalls"), make("small", { title: page.travel?.legs ?? "" }, legend)), this.canvas);
  }

  private get rows(): { name: string; contact: boolean }[] {
    const { contacts = [], counters = [] } = this.page.travel ?? {};
    return contacts.length ? contacts.map((name) => ({ name, contact: true })) : counters.map((name) => ({ name, contact: false }));
  }

  update(row: number): void {
    const { pen, width, height } = sized(this.canvas);
    const history = this.history();
    const rows = this.rows;
    if (!history.length || !rows.length || !width) return;
    const end = history.time(row);
    const begin = Math.max(history.begin, end - this.window());
    const from = history.rowAt(begin);
    const stride = Math.max(1, Math.ceil((row + 1 - from) / MOST_COLUMNS));
    const times = history.series("t", from, row + 1, stride);
    const margin = rows.length > 1 ? 26 : 8;
    const x = (t: number): number => margin + ((width - margin - 4) * (t - begin)) / Math.max(end - begin, 1e-9);
    const each = (height - 4) / rows.length;
    pen.font = "10px system-ui";
    pen.textBaseline = "middle";
    rows.forEach(({ name, contact }, n) => {
      const [top, thick] = [2 + n * each, Math.min(each * 0.72, 26)];
      const y = top + (each - thick) / 2;
      pen.fillStyle = style("--well");
      pen.fillRect(margin, y, width - margin - 4, thick);
      pen.fillStyle = style("--muted");
      if (rows.length > 1 && (each > 9 || n % 2 === 0)) pen.fillText(short(name, n, rows.length), 2, y + thick / 2);
      const values = history.series(name, from, row + 1, stride);
      const state = (k: number): number => (contact ? (values[k] > 0 ? 1 : 0) : 1 + (Math.round(values[k]) & 1));
      let first = 0;
      for (let k = 1; k <= values.length; k++) {
        if (k < values.length && state(k) === state(first)) continue;
        if (state(first)) {
          pen.fillStyle = series(contact ? 0 : state(first) - 1);
          pen.globalAlpha = contact || state(first) === 1 ? 1 : 0.75;
          pen.fillRect(x(times[first]), y, Math.max(1, x(times[Math.min(k, values.length - 1)]) - x(times[first])), thick);
          pen.globalAlpha = 1;
        }
        first = k;
      }
    });
  }
}

function short(name: string, n: number, count: number): string {
  const leg = name.split(".").pop()!;
  if (/^\d+$/.test(leg)) return leg;
  const parts = name.split(".");
  const tag = words(parts[Math.max(0, parts.length - 2)]).replace(/^steps /, "").split(" ").map((w) => w[0]).join("").toUpperCase();
  return count > 1 ? tag : String(n);
}
