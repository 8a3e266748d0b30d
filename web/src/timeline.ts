// Start, pause, scrub, speed.

import { find, shown } from "./dom";
import type { Source } from "./source";

export const SPEEDS = [0.02, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 100];

/** What is over sooner than this [s] is shown slower, so that it takes some time [s]. */
const [BRIEF, SEEN] = [0.5, 2];

export class Timeline {
  speed = 1;
  /** Whether nobody has said how fast. */
  private unsaid = true;
  private readonly button = find<HTMLButtonElement>("play");
  private readonly scrub = find<HTMLInputElement>("scrub");
  private readonly clock = find("clock");
  private readonly select = find<HTMLSelectElement>("speed");

  constructor(private readonly source: Source) {
    for (const speed of SPEEDS) this.select.add(new Option(speed < 1 ? `1/${1 / speed} ×` : `${speed} ×`, String(speed)));
    this.select.value = "1";
    this.select.addEventListener("change", () => this.setSpeed(Number(this.select.value)));
    this.button.addEventListener("click", () => this.toggle());
    this.scrub.addEventListener("input", () => this.source.seek(Number(this.scrub.value)));
  }

  /** A run that is over before it is seen is slowed down, once; whether it was. */
  slowDown(): boolean {
    const lasted = this.source.end - this.source.history.begin;
    const slow = this.unsaid && lasted > 0 && lasted < BRIEF;
    this.unsaid = false;
    if (slow) this.setSpeed(Math.max(...SPEEDS.filter((speed) => lasted / speed >= SEEN), SPEEDS[0]));
    return slow;
  }

  setSpeed(speed: number): void {
    this.unsaid = false;
    this.speed = speed;
    this.select.value = String(speed);
    if (this.source.now.playing) this.source.play(speed);
  }

  /** The next speed up (+1) or down (-1). */
  nudge(by: number): void {
    const at = SPEEDS.indexOf(this.speed) + by;
    if (SPEEDS[at]) this.setSpeed(SPEEDS[at]);
  }

  toggle(): void {
    if (this.source.now.playing) this.source.pause();
    else this.source.play(this.speed);
  }

  /** One row back or ahead. */
  stepRow(by: number): void {
    const { history, shown: row } = this.source;
    this.source.seek(history.time(Math.min(Math.max(row + by, 0), history.length - 1)));
  }

  update(): void {
    const { history, now, time: t, end } = this.source;
    this.button.dataset.state = now.playing ? "playing" : "paused";
    this.button.setAttribute("aria-label", now.playing ? "pause" : "start");
    this.scrub.min = String(history.begin);
    this.scrub.max = String(Math.max(end, history.begin + 1e-6));
    this.scrub.step = "any";
    this.scrub.value = String(t);
    const share = (t - history.begin) / Math.max(end - history.begin, 1e-9);
    this.scrub.style.setProperty("--share", `${100 * share}%`);
    this.scrub.setAttribute("aria-valuetext", `${shown(t, 4)} seconds`);
    const late = now.playing && now.pace < 0.8 * this.speed ? ` · ${shown(now.pace, 2)} × is all this machine can` : "";
    this.clock.textContent = `${t.toFixed(end - history.begin < BRIEF ? 4 : 2)} s${late}`;
  }
}
