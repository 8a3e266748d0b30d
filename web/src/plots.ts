// Signals over time, by uPlot: one of the robot's charts, or signals of one's own choice.

import uPlot from "uplot";
import { make, shown, style, unitOf, words } from "./dom";
import type { History } from "./history";
import type { Chart, Page } from "./page";
import { dark, onTheme, series, seriesLength } from "./palette";

const MOST_POINTS = 700;
const MOST_LINES = 12;

export class Plots {
  private plot: uPlot | null = null;
  private signals: string[] = [];
  private stamp = "";
  private readonly box = make("div", { className: "plot" });
  private readonly select = make("select", { aria: { label: "signals to plot" } });
  private readonly charts: Chart[];

  constructor(
    private readonly page: Page,
    private readonly history: () => History,
    root: HTMLElement,
    private readonly window: () => number,
    private readonly seek: (t: number) => void,
    private readonly ghost: History | null = null,
  ) {
    const speed = page.outputs.filter(({ name }) => name === "travel.speed").map(({ name }) => name);
    const first: Chart[] = speed.length ? [{ title: "Speed", signals: speed, style: "lines", rows: "" }] : [];
    this.charts = [...first, ...page.charts];
    const robot = make("optgroup", { label: "charts" });
    this.charts.forEach((chart, n) => robot.append(make("option", { value: `c${n}` }, chart.title)));
    const single = make("optgroup", { label: "one signal" });
    for (const { name, unit } of page.outputs) single.append(make("option", { value: name }, `${name}${unit ? ` [${unitOf(unit)}]` : ""}`));
    this.select.append(robot, single);
    root.append(make("header", {}, make("h2", {}, "Signals"), this.select), this.box);
    this.select.addEventListener("change", () => this.choose(this.select.value));
    this.select.value = this.charts.length > first.length ? `c${first.length}` : this.select.options[0]?.value;
    this.choose(this.select.value);
    onTheme(() => this.build());
    new ResizeObserver(() => this.resize()).observe(this.box);
  }

  choose(value: string): void {
    const chart = /^c\d+$/.test(value) ? this.charts[Number(value.slice(1))] : null;
    this.select.title = this.select.selectedOptions[0]?.text ?? "";
    this.signals = chart ? chart.signals.slice(0, MOST_LINES) : value ? [value] : [];
    this.build();
  }

  /** Signals that a ghost has too. */
  private get shared(): string[] {
    return this.signals.filter((name) => this.ghost?.has(name));
  }

  private get key(): HTMLElement | null {
    return this.box.querySelector<HTMLElement>(".u-legend, .carpet");
  }

  private get size(): { width: number; height: number } {
    // The legend stands under the plot, in the same box.
    const legend = this.key?.offsetHeight ?? 0;
    return { width: Math.max(this.box.clientWidth, 80), height: Math.max(this.box.clientHeight - legend, 80) };
  }

  private resize(): void {
    this.plot?.setSize(this.size);
  }

  private build(): void {
    this.plot?.destroy();
    this.box.textContent = "";
    this.stamp = "";
    const units = new Map(this.page.outputs.map(({ name, unit }) => [name, unit]));
    const unit = unitOf(units.get(this.signals[0]) ?? "");
    const short = common(this.signals);
    const [ink, line] = [style("--muted"), style("--line")];
    const axis = { stroke: ink, grid: { stroke: line, width: 1 }, ticks: { show: false }, font: "11px system-ui" };
    const many = this.signals.length > seriesLength();
    const tint = (n: number): string =>
      many ? `hsl(${205 + (170 * n) / this.signals.length} 60% ${dark() ? 62 : 48}%)` : series(n);
    if (many) {
      const tints = this.signals.map((_, n) => tint(n)).join(", ");
      const scale = make("span", { className: "scale" });
      scale.style.background = `linear-gradient(to right, ${tints})`;
      this.box.append(make("div", { className: "carpet" }, short(this.signals[0]), scale, short(this.signals[this.signals.length - 1])));
    }
    this.plot = new uPlot(
      {
        ...this.size,
        padding: [8, 8, 0, 0],
        scales: { x: { time: false } },
        legend: { show: this.signals.length + this.shared.length > 1 && !many, live: false, markers: { width: 3 } },
        cursor: { y: false, points: { size: 6 } },
        axes: [
          { ...axis, size: 26, values: (_, ticks) => ticks.map((t) => `${shown(t, 5)} s`) },
          { ...axis, size: 58, label: unit, labelSize: unit ? 18 : 0, labelFont: "11px system-ui", values: (_, ticks) => ticks.map((v) => shown(v, 3)) },
        ],
        series: [
          {},
          ...this.signals.map((name, n) => ({ label: short(name), stroke: tint(n), width: 1.6, points: { show: false } })),
          ...this.shared.map((name, n) => ({ label: `${short(name)}, ghost`, stroke: tint(n), width: 1.4, dash: [3, 4], points: { show: false } })),
        ],
        hooks: { ready: [(plot) => plot.over.addEventListener("click", () => this.clicked(plot))] },
      },
      [[], ...this.signals.map(() => []), ...this.shared.map(() => [])] as uPlot.AlignedData,
      this.box,
    );
    this.resize(); // the legend is there now
    this.box.querySelector("canvas")?.setAttribute("aria-label", `${this.signals.join(", ")} over time`);
    this.update(-1);
  }

  private clicked(plot: uPlot): void {
    if (plot.cursor.left !== undefined && plot.cursor.left >= 0) this.seek(plot.posToVal(plot.cursor.left, "x"));
  }

  /** The last seconds before the row that is shown. */
  update(row: number): void {
    const history = this.history();
    const at = row < 0 ? history.length - 1 : row;
    const stamp = `${history.length} ${history.end} ${at}`;
    if (!this.plot || !history.length || stamp === this.stamp) return;
    this.stamp = stamp;
    const end = history.time(at);
    const from = history.rowAt(end - this.window());
    const stride = Math.max(1, Math.ceil((at + 1 - from) / MOST_POINTS));
    const series = (name: string): Float64Array => history.series(name, from, at + 1, stride);
    const times = series("t");
    const other = (name: string): Float64Array => {
      const ghost = this.ghost!;
      return times.map((t) => ghost.get(ghost.rowAt(t - history.begin + ghost.begin), name));
    };
    this.plot.setData([times, ...this.signals.map(series), ...this.shared.map(other)] as unknown as uPlot.AlignedData, false);
    const begin = Math.max(history.begin, end - this.window());
    this.plot.setScale("x", { min: begin, max: Math.max(end, begin + 1e-3) });
  }
}

/** Names without what all of them share. */
function common(names: string[]): (name: string) => string {
  const parts = names.map((name) => name.split("."));
  let front = 0;
  while (names.length > 1 && parts.every((p) => p.length > front + 1 && p[front] === parts[0][front])) front++;
  return (name) => words(name.split(".").slice(front).join(" "));
}
