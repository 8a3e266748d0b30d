// The energy ledger as a running bar: what came in, what it became, and what is not accounted for.

import { make, shown, words } from "./dom";
import type { History } from "./history";
import type { Page } from "./page";
import { onTint, series } from "./palette";
import type { Now } from "./source";

/** A share of the whole that is seen. */
const LEAST = 1e-3;

interface Item {
  name: string;
  doc: string;
  value: number;
  tint: string;
}

export class LedgerView {
  private readonly gained = make("div", { className: "bar", role: "img" });
  private readonly spent = make("div", { className: "bar", role: "img" });
  private readonly key = make("ul", { className: "key" });
  private readonly said = make("p", { className: "residual", aria: { live: "off" } });

  constructor(
    private readonly page: Page,
    private readonly history: () => History,
    root: HTMLElement,
  ) {
    root.append(
      make("header", {}, make("h2", {}, "Energy"), this.said),
      make("div", { className: "bars" }, make("span", {}, "from"), this.gained, make("span", {}, "into"), this.spent),
      this.key,
    );
  }

  private items(row: number): Item[] {
    const history = this.history();
    const { stores, works, jump_works } = this.page.ledger;
    const change = (name: string): number => history.get(row, name) - history.get(0, name);
    const plain = (name: string): string => words(name.replace(/^(store|work|jump_work)\./, ""));
    let n = 0;
    const item = (name: string, doc: string, value: number): Item => ({ name: plain(name), doc, value, tint: series(n++) });
    return [
      ...[...works, ...jump_works].map((e) => item(e.name, e.doc, change(e.name))),
      // What a store gives is a source, what it takes is kept.
      ...stores.map((e) => item(e.name, e.doc, -change(e.name))),
    ];
  }

  update(row: number, now: Now): void {
    const items = this.items(row);
    const total = (sign: number): number => items.reduce((sum, { value }) => sum + Math.max(0, sign * value), 0);
    const most = Math.max(total(1), total(-1), 1e-12);
    this.fill(this.gained, items, 1, most);
    this.fill(this.spent, items, -1, most);
    this.list(items, most);
    const share = now.residual?.share ?? this.page.replay?.residual;
    if (share === undefined || share === null) return;
    const open = !(share <= this.page.ledger.limit);
    this.said.textContent = `${open ? "doubtful: " : ""}unaccounted ${shown(100 * share, 2)} %`;
    this.said.title = `of ${shown(most, 3)} J${open ? "; shorten the step (½, at the end of the panel)" : ""}`;
    this.said.classList.toggle("open", open);
  }

  /** Every entry with its number: a small one has no room in its bar. */
  private list(items: Item[], most: number): void {
    const seen = items.filter(({ value }) => Math.abs(value) / most > LEAST).sort((a, b) => Math.abs(b.value) - Math.abs(a.value));
    while (this.key.children.length > seen.length) this.key.lastElementChild!.remove();
    while (this.key.children.length < seen.length) this.key.append(make("li", {}, make("i"), make("span"), make("b")));
    seen.forEach(({ name, doc, value, tint }, n) => {
      const line = this.key.children[n] as HTMLElement;
      const [mark, label, number] = line.children as unknown as HTMLElement[];
      line.title = `${name}: ${doc}`;
      mark.style.background = tint;
      label.textContent = name;
      number.textContent = `${shown(Math.abs(value), 3)} J`;
    });
  }

  private fill(bar: HTMLElement, items: Item[], sign: number, most: number): void {
    const parts = items.filter(({ value }) => (sign * value) / most > LEAST);
    bar.setAttribute("aria-label", parts.map(({ name, value }) => `${name} ${shown(Math.abs(value), 3)} J`).join(", "));
    while (bar.children.length > parts.length) bar.lastElementChild!.remove();
    while (bar.children.length < parts.length) bar.append(make("div", {}, make("span")));
    parts.forEach(({ name, doc, value, tint }, n) => {
      const part = bar.children[n] as HTMLElement;
      part.style.flexBasis = `${(100 * sign * value) / most}%`;
      part.style.background = tint;
      part.style.color = onTint(tint);
      part.title = `${name}: ${shown(Math.abs(value), 4)} J (${doc})`;
      part.firstElementChild!.textContent = name;
    });
  }
}
