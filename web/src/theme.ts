/**
 * Light or dark, and the colours of what is drawn on canvases. Colours live in the
 * style sheet; whoever draws is told when they change. Paper is always light.
 */

import { button } from "./dom";

type Theme = "light" | "dark";

const system = window.matchMedia("(prefers-color-scheme: dark)");
const print = window.matchMedia("print");
const listeners: (() => void)[] = [];
let chosen: Theme | null = null;
let colours = new Map<string, string>();

export const isPrinting = (): boolean => print.matches;

function current(): Theme {
  if (print.matches) return "light";
  return chosen ?? (system.matches ? "dark" : "light");
}

function apply(): void {
  document.documentElement.dataset["theme"] = current();
  colours = new Map();
  for (const listener of listeners) listener();
}

/** Calls back whenever colours or the paper size change. */
export function onThemeChange(listener: () => void): void {
  listeners.push(listener);
}

export function startTheme(): void {
  apply();
  system.addEventListener("change", apply);
  print.addEventListener("change", apply);
}

export function themeButton(): HTMLButtonElement {
  const made = button("", () => {
    chosen = current() === "dark" ? "light" : "dark";
    apply();
  });
  made.className = "theme";
  const name = () => {
    const next = current() === "dark" ? "light" : "dark";
    made.textContent = next === "dark" ? "Dark" : "Light";
    made.setAttribute("aria-label", `Switch to ${next} colours`);
  };
  onThemeChange(name);
  name();
  return made;
}

/** A colour of the style sheet, by the name of its variable without the dashes. */
export function colour(name: string): string {
  const known = colours.get(name);
  if (known !== undefined) return known;
  const value = getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
  colours.set(name, value);
  return value;
}

const SERIES_COLOURS = 20;

/** Colours that go round after twenty; the legend and the tooltip name what they stand for. */
export const seriesVariable = (index: number): string => `series-${index % SERIES_COLOURS}`;

/** `#rrggbb` moved towards white. */
export function lighten(hex: string, amount: number): string {
  const channel = (at: number) => {
    const value = Number.parseInt(hex.slice(at, at + 2), 16);
    return Math.round(value + (255 - value) * amount);
  };
  return `rgb(${channel(1)}, ${channel(3)}, ${channel(5)})`;
}
