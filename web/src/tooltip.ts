/** The one box that follows the mouse over canvases. */

import { element, shorten, shortenStart } from "./dom";

export interface TooltipContent {
  title: string;
  /** Long values keep their end, where paths differ. */
  lines: (readonly [label: string, value: string])[];
}

const LONGEST_TITLE = 120;
const LONGEST_VALUE = 90;
const OFFSET_PX = 14;

let box: HTMLElement | null = null;

export function showTooltip(content: TooltipContent, clientX: number, clientY: number): void {
  if (!box) {
    box = element("div", { class: "tooltip", role: "tooltip" });
    document.body.append(box);
  }
  const lines = content.lines.map(([label, value]) =>
    element(
      "div",
      {},
      element("dt", {}, shorten(label, LONGEST_TITLE)),
      element("dd", { dir: "auto" }, shortenStart(value, LONGEST_VALUE)),
    ),
  );
  box.replaceChildren(
    element("strong", { dir: "auto" }, shorten(content.title, LONGEST_TITLE)),
    element("dl", {}, ...lines),
  );
  box.hidden = false;
  const { width, height } = box.getBoundingClientRect();
  const right = clientX + OFFSET_PX + width < document.documentElement.clientWidth;
  const below = clientY + OFFSET_PX + height < window.innerHeight;
  const left = right ? clientX + OFFSET_PX : clientX - OFFSET_PX - width;
  const top = below ? clientY + OFFSET_PX : clientY - OFFSET_PX - height;
  box.style.left = `${Math.max(4, left)}px`;
  box.style.top = `${Math.max(4, top)}px`;
}

export function hideTooltip(): void {
  if (box) box.hidden = true;
}
