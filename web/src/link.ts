// The parameters outside the page: in a link, as TOML, as a command.

import type { Page, Parameter } from "./page";

/** The values of a link (#key=value&key=value) that this page knows and allows. */
export function fromHash(page: Page, hash: string): Record<string, number> {
  const found: Record<string, number> = {};
  const given = new URLSearchParams(hash.replace(/^#/, ""));
  for (const p of page.parameters) {
    const value = given.has(p.key) ? Number(given.get(p.key)) : NaN;
    if (p.kind !== "text" && complaint(p, value) === null) found[p.key] = value;
  }
  return found;
}

/** Those that are not as the scenario has them. */
export function changed(page: Page, values: Record<string, number>): [string, number][] {
  return page.parameters
    .filter((p) => p.kind !== "text" && values[p.key] !== p.value)
    .map((p) => [p.key, values[p.key]]);
}

export function toHash(page: Page, values: Record<string, number>): string {
  return changed(page, values)
    .map(([key, value]) => `${key}=${value}`)
    .join("&");
}

/** A number as TOML has fractions: 15000.0, not 15000, which is another kind of number there. */
function fraction(value: number): string {
  return Number.isInteger(value) && Math.abs(value) < 1e15 ? `${value}.0` : String(value);
}

export function toToml(page: Page, values: Record<string, number>): string {
  const switches = page.parameters.filter((p) => p.kind === "switch");
  return page.toml.replace(/⟦([^⟧]+)⟧/g, (_, key: string) => {
    if (key in values) return fraction(values[key]);
    const on = switches.filter((p) => p.key.startsWith(`${key}.`) && values[p.key]);
    return `[${on.map((p) => `"${p.name}"`).join(", ")}]`;
  });
}

export function toCommand(page: Page, values: Record<string, number>): string {
  const switches = new Set<string>();
  const said = changed(page, values).flatMap(([key, value]) => {
    const p = page.parameters.find((p) => p.key === key)!;
    if (p.kind === "number") return [`--set ${key}=${value}`];
    const list = key.slice(0, key.lastIndexOf("."));
    if (switches.has(list)) return [];
    switches.add(list);
    const on = page.parameters.filter((q) => q.kind === "switch" && q.key.startsWith(`${list}.`) && values[q.key]);
    return [`--set '${list}=[${on.map((q) => `"${q.name}"`).join(", ")}]'`];
  });
  return [page.command, ...said].join(" ");
}

/** What is wrong with a value, as the command line says it; null if nothing is. */
export function complaint(p: Parameter, value: number): string | null {
  const b = p.bounds ?? { gt: null, ge: p.kind === "switch" ? 0 : null, lt: null, le: p.kind === "switch" ? 1 : null };
  const rules: [string, number | null, (v: number, bound: number) => boolean][] = [
    [">", b.gt, (v, bound) => v > bound],
    [">=", b.ge, (v, bound) => v >= bound],
    ["<", b.lt, (v, bound) => v < bound],
    ["<=", b.le, (v, bound) => v <= bound],
  ];
  const set = rules.filter(([, bound]) => bound !== null);
  if (Number.isFinite(value) && set.every(([, bound, holds]) => holds(value, bound!))) return null;
  const need = set.map(([sign, bound]) => `${sign} ${bound}`).join(" and ") || "a finite number";
  const unit = p.unit ? ` ${p.unit}` : "";
  return `${p.key} = ${value}${unit} is out of range: ${p.doc} must be ${need}.`;
}
