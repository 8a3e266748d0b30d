// A slider, a field and a meaning for every number of the scenario, part by part.

import { make, shown, unitOf, words } from "./dom";
import { complaint } from "./link";
import type { Page, Parameter } from "./page";

/** Sliders open at first: a person reads about so many. */
const OPEN_AT_FIRST = 9;

export class Panel {
  private readonly updates = new Map<string, (value: number) => void>();

  constructor(
    page: Page,
    private readonly values: Record<string, number>,
    root: HTMLElement,
    private readonly changed: (key: string) => void,
  ) {
    const tables = [...new Set(page.parameters.map((p) => p.table))];
    let sliders = 0;
    for (const table of tables) {
      const own = page.parameters.filter((p) => p.table === table);
      const moving = own.filter((p) => p.kind !== "text").length;
      const group = make("details", { className: "group", open: moving > 0 && sliders < OPEN_AT_FIRST });
      group.append(make("summary", {}, make("span", {}, tableWords(table)), make("small", {}, count(moving, own.length))));
      for (const p of own) group.append(p.kind === "number" ? this.slider(p) : p.kind === "switch" ? this.toggle(p) : fact(p));
      root.append(group);
      sliders += moving;
    }
  }

  /** Show a value that came from elsewhere. */
  show(key: string): void {
    this.updates.get(key)?.(this.values[key]);
  }

  showAll(): void {
    for (const key of this.updates.keys()) this.show(key);
  }

  private slider(p: Parameter): HTMLElement {
    const id = `p-${p.key}`;
    const unit = p.unit ? ` ${unitOf(p.unit)}` : "";
    const label = `${words(p.name)}: ${p.doc}${p.unit ? `, in ${p.unit}` : ""}`;
    const range = make("input", {
      type: "range",
      id: `${id}-range`,
      min: "0",
      max: "1000",
      step: "1",
      aria: { label },
    });
    const field = make("input", { type: "text", inputMode: "decimal", id, className: "number", aria: { label } });
    const back = make("button", { type: "button", className: "back", title: `back to ${p.value}${unit}`, aria: { label: `${words(p.name)} back to ${p.value}${unit}` } }, "↺");
    const message = make("p", { className: "complaint", hidden: true, aria: { live: "polite" } });
    const [low, high] = [p.low!, p.high!];
    const share = (value: number): number => (1000 * (Math.min(Math.max(value, low), high) - low)) / (high - low || 1);
    const show = (value: number): void => {
      range.value = String(share(value));
      range.style.setProperty("--share", `${share(value) / 10}%`);
      range.setAttribute("aria-valuetext", `${shown(value)}${unit}`);
      if (document.activeElement !== field) field.value = shown(value, 6);
      back.classList.toggle("idle", value === p.value);
      message.hidden = true;
      field.removeAttribute("aria-invalid");
    };
    const set = (value: number): void => {
      this.values[p.key] = value;
      show(value);
      this.changed(p.key);
    };
    range.addEventListener("input", () => {
      const value = low + ((high - low) * Number(range.value)) / 1000;
      // Round numbers: a slider has a thousand places. Where it began it is just that.
      const grain = 10 ** Math.floor(Math.log10((high - low) / 500));
      const near = Math.abs(value - (p.value as number)) < (high - low) / 2000;
      set(near ? (p.value as number) : Math.min(Math.max(Number((Math.round(value / grain) * grain).toPrecision(12)), low), high));
    });
    const typed = (): void => {
      const value = field.value.trim() === "" ? NaN : Number(field.value.replace(",", "."));
      const wrong = complaint(p, value);
      if (wrong === null) return set(value);
      message.textContent = Number.isNaN(value) ? `${p.key} = "${field.value}" is not a number.` : wrong;
      message.hidden = false;
      field.setAttribute("aria-invalid", "true");
    };
    field.addEventListener("change", typed);
    field.addEventListener("blur", () => message.hidden && show(this.values[p.key]));
    back.addEventListener("click", () => set(p.value as number));
    this.updates.set(p.key, show);
    show(this.values[p.key]);
    const name = make("label", { htmlFor: id, title: `${p.doc}\n${p.key}` }, words(p.name));
    return make("div", { className: "slider", title: p.doc }, name, make("span", { className: "value" }, field, make("span", { className: "unit" }, unitOf(p.unit)), back), range, message);
  }

  private toggle(p: Parameter): HTMLElement {
    const box = make("input", { type: "checkbox", id: `p-${p.key}`, aria: { label: `${words(p.name)}: ${p.doc}` } });
    const show = (value: number): void => void (box.checked = value === 1);
    box.addEventListener("change", () => {
      this.values[p.key] = box.checked ? 1 : 0;
      this.changed(p.key);
    });
    this.updates.set(p.key, show);
    show(this.values[p.key]);
    return make("label", { className: "toggle", title: p.key }, box, make("span", {}, words(p.name)));
  }
}

function fact(p: Parameter): HTMLElement {
  const value = Array.isArray(p.value) ? p.value.join(", ") || "none" : typeof p.value === "number" ? shown(p.value, 6) : p.value;
  return make("div", { className: "fact", title: `${p.doc}\n${p.key}` }, make("span", {}, words(p.name)), make("b", {}, `${value} ${value === "auto" ? "" : unitOf(p.unit)}`.trim()));
}

function tableWords(table: string): string {
  return words(table.replace(/^robot\./, ""));
}

function count(moving: number, all: number): string {
  return moving ? String(moving) : `${all} fixed`;
}
