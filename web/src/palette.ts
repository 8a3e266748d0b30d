// Colours by role, in light and in dark: those of every picture (scene/palette.py), which come with the page. Sky, ground
// and water have their own here, because light falls on them.

import type { Palette } from "./page";

let palette: Palette = { roles: {}, series: [] };

export function usePalette(given: Palette): void {
  palette = given;
}

interface Theme {
  sky: string;
  haze: string;
  ground: string;
  grid: string;
  side: string;
  water: string;
  deep: string;
}

const LIGHT: Theme = {
  sky: "#eef2f5",
  haze: "#f6f5f2",
  ground: "#e6e0d4",
  grid: "#cfc7b7",
  side: "#b9ae99",
  water: "#7fb9dd",
  deep: "#2f6f97",
};

const DARK: Theme = {
  sky: "#171b21",
  haze: "#1d2229",
  ground: "#465160",
  grid: "#5c6878",
  side: "#2b323c",
  water: "#3f86b3",
  deep: "#12384f",
};

const query = typeof matchMedia === "undefined" ? null : matchMedia("(prefers-color-scheme: dark)");
let chosen: "light" | "dark" | null = null;
const listeners: (() => void)[] = [];

export function dark(): boolean {
  return chosen ? chosen === "dark" : (query?.matches ?? false);
}

export function theme(): Theme {
  return dark() ? DARK : LIGHT;
}

// A role of the palette; of a robot of one's own, perhaps a colour's name as matplotlib has it.
export function color(name: string): string {
  return palette.roles[name]?.[dark() ? 1 : 0] ?? name.replace(/^tab:/, "");
}

// The n-th line of a chart; after the last colour they come again, half as strong.
export function series(n: number): string {
  const tint = palette.series[n % palette.series.length][dark() ? 1 : 0];
  return n < palette.series.length ? tint : half(tint);
}

/** A colour (#rrggbb) half way to grey. */
function half(tint: string): string {
  return `#${[1, 3, 5].map((at) => Math.round((parseInt(tint.slice(at, at + 2), 16) + 0xb0) / 2).toString(16).padStart(2, "0")).join("")}`;
}

/** Words on a colour (#rrggbb): light or dark ones, whichever stand out more. */
export function onTint(tint: string): string {
  const [r, g, b] = [1, 3, 5].map((at) => parseInt(tint.slice(at, at + 2), 16) / 255);
  return 0.2126 * r ** 2.2 + 0.7152 * g ** 2.2 + 0.0722 * b ** 2.2 > 0.195 ? "#10151b" : "#ffffff";
}

export function seriesLength(): number {
  return palette.series.length;
}

export function onTheme(listener: () => void): void {
  listeners.push(listener);
}

export function setTheme(name: "light" | "dark" | null): void {
  chosen = name;
  document.documentElement.dataset.theme = dark() ? "dark" : "light";
  for (const listener of listeners) listener();
}

query?.addEventListener("change", () => setTheme(chosen));
