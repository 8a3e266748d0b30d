// An operator's keys and gamepad: what drives the robot and what turns it, where it has such inputs.

import { find, make, words } from "./dom";
import type { Page, Parameter } from "./page";

/** From one end of its slider to the other what drives takes so long [s]. */
const SWEEP = 4;
/** A stick this near to its middle is at rest. */
const REST = 0.15;
/** Of the standard gamepad: A, B, left and right of the cross. */
const BUTTONS = { play: 0, reset: 1, back: 14, on: 15 };

export interface Deeds {
  play(): void;
  reset(): void;
  push(sign: number): void;
}

export class Steering {
  private readonly held = new Set<string>();
  private readonly drive: Parameter | undefined;
  private readonly turn: Parameter | undefined;
  private pressed = new Set<number>();
  /** What the turning input was before it was turned. */
  private middle: number | null = null;
  private last = 0;

  constructor(
    page: Page,
    private readonly values: Record<string, number>,
    private readonly moved: (key: string, done: boolean) => void,
    private readonly deeds: Deeds,
  ) {
    [this.drive, this.turn] = page.steered_by.map((key) => page.parameters.find((p) => p.key === key));
    for (const kind of ["keydown", "keyup"] as const) addEventListener(kind, (event) => this.key(event, kind === "keydown"));
    addEventListener("blur", () => this.held.clear());
    const box = find("steer");
    box.hidden = !this.drive;
    const said = (keys: string, p: Parameter | undefined): Node[] => (p ? [make("span", {}, make("kbd", {}, keys), ` ${words(p.name)}`)] : []);
    box.append(...said("w s", this.drive), ...said("a d", this.turn), make("small", {}, "or a gamepad"));
  }

  private key({ key, target, ctrlKey, metaKey, altKey }: KeyboardEvent, down: boolean): void {
    const typing = (target as HTMLElement).matches?.("input:not([type=checkbox]):not([type=range]), select, textarea");
    if (down && (typing || ctrlKey || metaKey || altKey)) return;
    if (!"wasd".includes(key.toLowerCase()) || !this.drive) return;
    if (down) this.held.add(key.toLowerCase());
    else this.held.delete(key.toLowerCase());
  }

  /** Called for each frame. */
  frame(milliseconds: number): void {
    const past = Math.min(milliseconds - this.last, 100) / 1000;
    this.last = milliseconds;
    const pad = navigator.getGamepads?.().find((found) => found?.connected);
    const stick = (n: number): number => (pad && Math.abs(pad.axes[n] ?? 0) > REST ? pad.axes[n] : 0);
    const keys = (plus: string, minus: string): number => Number(this.held.has(plus)) - Number(this.held.has(minus));
    this.driven(clamp(keys("w", "s") - stick(1), -1, 1) * past);
    this.turned(clamp(keys("d", "a") + (stick(2) || stick(0)), -1, 1));
    const now = new Set(pad?.buttons.flatMap((button, n) => (button.pressed ? [n] : [])));
    const fresh = (n: number): boolean => now.has(n) && !this.pressed.has(n);
    if (fresh(BUTTONS.play)) this.deeds.play();
    if (fresh(BUTTONS.reset)) this.deeds.reset();
    if (fresh(BUTTONS.back)) this.deeds.push(-1);
    if (fresh(BUTTONS.on)) this.deeds.push(1);
    this.pressed = now;
  }

  /** What drives stays where it is left. */
  private driven(by: number): void {
    if (!this.drive || !by) return;
    const { key, low, high } = this.drive;
    this.set(key, clamp(this.values[key] + (by * (high! - low!)) / SWEEP, low!, high!), false);
  }

  /** What turns goes back to its middle. */
  private turned(share: number): void {
    if (!this.turn || (!share && this.middle === null)) return;
    const { key, low, high } = this.turn;
    this.middle ??= this.values[key];
    this.set(key, this.middle + share * (share > 0 ? high! - this.middle : this.middle - low!), !share);
    if (!share) this.middle = null;
  }

  private set(key: string, value: number, done: boolean): void {
    const round = Number(value.toPrecision(6));
    if (this.values[key] === round && !done) return;
    this.values[key] = round;
    this.moved(key, done);
  }
}

function clamp(value: number, low: number, high: number): number {
  return Math.min(Math.max(value, low), high);
}
