// A gait and its modes: a button that disturbs the robot along each, and what becomes of it from step to step.

import { make, shown, sized, style } from "./dom";
import type { Gait, Page } from "./page";
import { onTheme, series } from "./palette";
import type { LiveSource } from "./source";

/** Disturbances to choose from, as shares of what the numbers change by in a step. */
const SIZES = [0.001, 0.01, 0.03, 0.1];
const USUAL = 0.03;
/** Steps that are drawn at most, and powers of ten. */
const [STEPS, DECADES] = [16, 6];

export class ModesView {
  private readonly canvas = make("canvas", { role: "img" });
  private readonly said = make("p", { className: "window", aria: { live: "polite" } });
  private chosen = 0;
  private size = 0;
  private drawn = "";
  private readonly gait: Gait;

  constructor(
    page: Page,
    private readonly live: LiveSource,
    root: HTMLElement,
    play: () => void,
  ) {
    this.gait = page.gait!;
    const { event, period, verdict, modes } = this.gait;
    const size = make("select", { aria: { label: "how much" } });
    for (const share of SIZES) size.add(new Option(`${100 * share} % of a step’s change`, String(share), share === USUAL, share === USUAL));
    const list = modes.map((mode, n) => {
      const [real, imaginary] = mode.multiplier;
      const told = imaginary ? `${shown(real, 3)} ± ${shown(Math.abs(imaginary), 3)}i` : shown(real, 3);
      const button = make("button", { type: "button", aria: { label: `disturb it along mode ${n + 1}: ${mode.words}` } }, `mode ${n + 1}`);
      button.addEventListener("click", () => {
        [this.chosen, this.size] = [n, Number(size.value)];
        live.disturb(n, this.size);
        play();
      });
      return make("li", {}, button, make("span", {}, mode.words, make("small", {}, `× ${told} a step`)));
    });
    root.hidden = false;
    root.append(
      make("h2", {}, `Gait from ${event} to ${event}, ${shown(period, 4)} s`),
      make("p", {}, `${verdict[0].toUpperCase()}${verdict.slice(1)}.`),
      make("label", { className: "row" }, make("span", {}, "disturb it by"), size),
      make("ul", { className: "modes" }, ...list),
      this.canvas,
      this.said,
    );
    this.canvas.hidden = !this.gait.counter || !modes.length;
    onTheme(() => (this.drawn = ""));
  }

  update(): void {
    const sizes = this.live.now.sizes;
    if (!sizes || this.canvas.hidden) return;
    const stamp = `${sizes.length} ${this.chosen} ${this.size} ${this.canvas.clientWidth}`;
    if (stamp === this.drawn) return;
    this.drawn = stamp;
    this.draw(sizes.slice(0, STEPS + 1).map((each) => each[this.chosen]));
  }

  /** How large the mode is at each step, on a logarithmic scale, beside what its multiplier says. */
  private draw(found: number[]): void {
    const { pen, width, height } = sized(this.canvas);
    const top = this.size > 0 ? this.size : USUAL;
    const [left, bottom] = [48, height - 18];
    const x = (step: number): number => left + 6 + (step / STEPS) * (width - left - 14);
    const y = (value: number): number => 8 + (Math.min(Math.max(Math.log10(top / value), -1), DECADES) / DECADES) * (bottom - 10);
    pen.font = "11px system-ui, sans-serif";
    pen.fillStyle = style("--muted");
    pen.strokeStyle = style("--line");
    pen.lineWidth = 1;
    pen.textAlign = "right";
    for (let decade = 0; decade <= DECADES; decade += 2) {
      const at = y(top / 10 ** decade);
      pen.beginPath();
      pen.moveTo(left, at);
      pen.lineTo(width, at);
      pen.stroke();
      pen.fillText(shown(top / 10 ** decade, 1), left - 6, at + 4);
    }
    pen.textAlign = "center";
    for (let step = 0; step <= STEPS; step += 4) pen.fillText(step ? String(step) : "step 0", x(step), height - 4);
    const mode = this.gait.modes[this.chosen];
    const factor = Math.hypot(...mode.multiplier);
    if (this.size > 0) {
      pen.strokeStyle = style("--muted");
      pen.setLineDash([4, 4]);
      pen.beginPath();
      for (let step = 0; step <= STEPS; step++) pen.lineTo(x(step), y(this.size * factor ** step));
      pen.stroke();
      pen.setLineDash([]);
    }
    pen.fillStyle = series(0);
    found.forEach((value, step) => {
      if (!(value > 0)) return;
      pen.beginPath();
      pen.arc(x(step), y(value), 3.5, 0, 2 * Math.PI);
      pen.fill();
    });
    const last = found.length - 1;
    const words = this.size > 0 ? `mode ${this.chosen + 1}: ${shown(found[last], 2)} of a step’s change is left after ${last} steps (dashed: by the multiplier ${shown(this.size * factor ** last, 2)})` : "on the gait; a button disturbs it along a mode";
    this.said.textContent = words;
    this.canvas.setAttribute("aria-label", words);
  }
}
