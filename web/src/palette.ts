// Colours by role, after Okabe and Ito: readable for colour-blind people, in light and in dark.

export const SERIES = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"];

interface Theme {
  sky: string;
  haze: string;
  ground: string;
  grid: string;
  side: string;
  water: string;
  deep: string;
  named: Record<string, string>;
}

// Names that sketches use -> what they mean here: structure in greys, what is driven in blue, what leads in orange.
const COMMON: Record<string, string> = {
  "tab:blue": "#0072b2",
  "tab:orange": "#e69f00",
  "tab:red": "#d55e00",
  "tab:green": "#009e73",
  "tab:purple": "#cc79a7",
  seagreen: "#009e73",
  rebeccapurple: "#8c6bb1",
  lightsteelblue: "#9cc4e0",
  steelblue: "#56b4e9",
};

const LIGHT: Theme = {
  sky: "#eef2f5",
  haze: "#f6f5f2",
  ground: "#e6e0d4",
  grid: "#cfc7b7",
  side: "#b9ae99",
  water: "#7fb9dd",
  deep: "#2f6f97",
  named: { ...COMMON, black: "#262b33", dimgrey: "#59606b", grey: "#878e99", silver: "#a9b0ba", lightgrey: "#c6ccd3" },
};

const DARK: Theme = {
  sky: "#171b21",
  haze: "#1d2229",
  ground: "#465160",
  grid: "#5c6878",
  side: "#2b323c",
  water: "#3f86b3",
  deep: "#12384f",
  named: {
    ...COMMON,
    "tab:blue": "#3d9bd1",
    black: "#e9e6df",
    dimgrey: "#a3abb6",
    grey: "#8b939f",
    silver: "#c9cfd6",
    lightgrey: "#7d8590",
  },
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

export function color(name: string): string {
  return theme().named[name] ?? name.replace(/^tab:/, "");
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
