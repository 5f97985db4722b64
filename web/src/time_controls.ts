/** The buttons and keys that move along the time axis. */

import { button, element } from "./dom";
import { seconds } from "./format";
import type { TimeRange } from "./time_range";

const KEYS: Record<string, (range: TimeRange) => void> = {
  ArrowLeft: (range) => range.pan(-0.2),
  ArrowRight: (range) => range.pan(0.2),
  "+": (range) => range.zoom(0.5),
  "=": (range) => range.zoom(0.5),
  "-": (range) => range.zoom(2),
  Escape: (range) => range.reset(),
  "0": (range) => range.reset(),
};

/** A group of charts that takes the keys while it, or something in it, has the focus. */
export function timeGroup(range: TimeRange, label: string, ...children: Node[]): HTMLElement {
  const group = element(
    "div",
    {
      class: "time-group",
      role: "group",
      tabindex: "0",
      "aria-label": `${label}. Left and right arrows move, plus and minus zoom, Escape resets.`,
    },
    timeToolbar(range),
    ...children,
  );
  group.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const action = KEYS[event.key];
    if (!action) return;
    event.preventDefault();
    action(range);
  });
  return group;
}

function timeToolbar(range: TimeRange): HTMLElement {
  const shown = element("span", { class: "shown", role: "status" });
  const reset = button("Reset", () => range.reset(), { class: "zoom-reset" });
  const update = () => {
    shown.textContent = range.isWhole
      ? `the whole run, ${seconds(range.length_secs)}`
      : `${seconds(range.from)} to ${seconds(range.to)}`;
    reset.disabled = range.isWhole;
  };
  range.onChange(update);
  update();
  return element(
    "div",
    { class: "toolbar" },
    shown,
    element("span", { class: "hint" }, "drag to zoom, double-click to reset; keys ← → + − Esc"),
    button("−", () => range.zoom(2), { "aria-label": "Show more time" }),
    button("+", () => range.zoom(0.5), { "aria-label": "Show less time" }),
    reset,
  );
}
