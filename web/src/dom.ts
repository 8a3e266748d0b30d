// Small helpers for elements.

export function find<T extends HTMLElement>(id: string): T {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no element #${id}`);
  return found as T;
}

/** An element with properties and children: make("button", { className: "a" }, "text"). */
export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  properties: Partial<HTMLElementTagNameMap[K]> & { aria?: Record<string, string> } = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const { aria, ...rest } = properties;
  const element = Object.assign(document.createElement(tag), rest);
  for (const [name, value] of Object.entries(aria ?? {})) element.setAttribute(`aria-${name}`, value);
  element.append(...children);
  return element;
}

/** A number for people: four digits, no noise. */
export function shown(value: number, digits = 4): string {
  if (!Number.isFinite(value)) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e6 || size < 1e-4) return value.toExponential(Math.max(0, digits - 2)).replace("e+", "e");
  return String(Number(value.toPrecision(digits)));
}

/** "pitch_setpoint" as words. */
export function words(name: string): string {
  return name.replaceAll("_", " ");
}

/** A unit as people write it: "kg m^2" as "kg m²". */
export function unitOf(unit: string): string {
  return unit.replace(/\^(-?)(\d)/g, (_, sign: string, digit: string) => (sign ? "⁻" : "") + "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(digit)]);
}

/** A canvas as large as its box, and how many of its pixels make one. */
export function sized(canvas: HTMLCanvasElement): { pen: CanvasRenderingContext2D; width: number; height: number } {
  const ratio = Math.min(devicePixelRatio || 1, 2);
  const { clientWidth: width, clientHeight: height } = canvas;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  const pen = canvas.getContext("2d")!;
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, width, height);
  return { pen, width, height };
}

/** The value of a CSS variable. */
export function style(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}
