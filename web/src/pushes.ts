// Pushes by buttons and keys: an impulse on a body, along the way it goes, or so much more of a rate at once.

import { find, make, unitOf, words } from "./dom";
import type { Page } from "./page";
import type { LiveSource } from "./source";

/** Bodies that are offered: a person reads about so many; the pointer holds any. */
const MOST_BODIES = 6;
/** What a push changes of the speed, at first [m/s]. */
const MILD = 0.2;
const GRAVITY = 9.80665;

interface Choice {
  label: string;
  unit: string;
  size: number;
  push(by: number): void;
}

/** Sets up the panel; gives what pushes on (1) or back (-1). */
export function pushes(page: Page, live: LiveSource): (sign: number) => void {
  const choices = [...bodies(page, live), ...rates(page, live)];
  const box = find("pushes");
  box.hidden = !page.live?.push || !choices.length;
  if (box.hidden) return () => {};
  const select = make("select", { aria: { label: "what to push" } });
  choices.forEach(({ label }, n) => select.add(new Option(label, String(n))));
  const size = make("input", { type: "text", inputMode: "decimal", className: "number" });
  const unit = make("span", { className: "unit" });
  const chosen = (): Choice => choices[Number(select.value)];
  const offer = (): void => {
    size.value = String(chosen().size);
    unit.textContent = unitOf(chosen().unit);
    size.setAttribute("aria-label", `how much, in ${chosen().unit}`);
  };
  select.addEventListener("change", offer);
  offer();
  const kick = (sign: number): void => {
    const by = Number(size.value.replace(",", "."));
    if (Number.isFinite(by)) chosen().push(sign * by);
  };
  const button = (text: string, sign: number): HTMLElement => {
    const made = make("button", { type: "button", aria: { label: sign < 0 ? "push back" : "push on" }, title: sign < 0 ? "push back (j)" : "push on (l)" }, text);
    made.addEventListener("click", () => kick(sign));
    return made;
  };
  const held = matchMedia("(pointer: coarse)").matches ? "a finger" : "the mouse";
  box.append(
    make("div", { className: "row" }, make("span", {}, "push"), select),
    make("div", { className: "row" }, button("−", -1), size, unit, button("+", 1), make("small", {}, `or pull it with ${held}`)),
  );
  return kick;
}

function bodies(page: Page, live: LiveSource): Choice[] {
  const weight = page.travel?.weight ?? GRAVITY;
  const drawn = page.scene.shapes.flatMap((s) => (s.shape === "arrow" || s.shape === "link" ? [] : [s.body]));
  const named = [...new Set(drawn)].filter((group) => live.movable.includes(group));
  return named.slice(0, MOST_BODIES).map((group) => ({
    label: `impulse on the ${words(group.replaceAll(".", " "))}`,
    unit: "N s",
    size: Number(((MILD * weight) / GRAVITY).toPrecision(1)),
    push: (by) => live.strike({ group, point: [0, 0, 0] }, [by, 0, 0]),
  }));
}

function rates(page: Page, live: LiveSource): Choice[] {
  return page.rates.map(({ name, unit, doc }) => ({
    label: `${words(name.replace(/^x\./, "").replaceAll(".", " "))}: ${doc}`,
    unit,
    size: unit === "rad/s" ? 1 : 0.2,
    push: (by) => live.push(name, by),
  }));
}

