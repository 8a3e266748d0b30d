// What a person wants to know of the motion: speed, time and length of a footstep, cost of transport.

import { make, shown } from "./dom";
import type { Page } from "./page";
import type { Source } from "./source";

export class NumbersView {
  private readonly cells = new Map<string, HTMLElement>();
  private readonly window = make("p", { className: "window" });

  constructor(
    private readonly page: Page,
    root: HTMLElement,
  ) {
    const list = make("dl", { className: "numbers" });
    for (const [name, label, unit] of this.names()) {
      const value = make("dd", {}, "–");
      this.cells.set(name, value);
      const other = page.ghost?.replay.metrics.find((metric) => metric.name === name)?.value;
      const beside = page.ghost ? [make("p", { className: "beside" }, `ghost ${shown(other ?? NaN)} ${unit}`)] : [];
      list.append(make("div", {}, make("dt", {}, label), value, make("small", {}, unit), ...beside));
    }
    root.append(list, this.window);
    root.hidden = this.cells.size === 0;
    for (const { name, value } of page.replay?.metrics ?? []) {
      const cell = this.cells.get(name);
      if (cell) cell.textContent = shown(value ?? NaN);
    }
  }

  private names(): [string, string, string][] {
    if (this.page.replay) return this.page.replay.metrics.slice(0, 4).map(({ name, unit }) => [name, name.replaceAll("_", " "), unit]);
    return this.page.travel
      ? [
          ["mean_speed", "mean speed", "m/s"],
          ["step_time", "step time", "s"],
          ["step_length", "step length", "m"],
          ["cost_of_transport", "cost of transport", ""],
        ]
      : [];
  }

  update(source: Source): void {
    if (this.page.replay || !this.page.travel) return;
    const { metrics } = source.now;
    for (const [name, cell] of this.cells) cell.textContent = shown(metrics ? metrics[name as "mean_speed"] : NaN);
    this.window.textContent = metrics
      ? `over whole footsteps since ${shown(metrics.since, 3)} s`
      : `from ${shown(this.page.settle, 3)} s on, when it has settled`;
  }
}
