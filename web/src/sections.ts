/**
 * The user's own sections as nested bars: a section stands below the one it was
 * entered in, and its bar inside that one's bar. The darker part was CPU.
 */

import type { SectionNode } from "./data";
import { button, element, missingBox, nameText } from "./dom";
import { count, MISSING, roundShare, seconds } from "./format";

const FIRST_ROWS = 60;

interface SectionRow {
  node: SectionNode;
  depth: number;
  /** Seconds from the left end of the bars. */
  start: number;
}

export function sectionsPanel(roots: SectionNode[]): HTMLElement {
  const total = roots.reduce((sum, node) => sum + node.wall_secs, 0);
  const rows = flatten(roots, 0, 0);
  if (rows.length === 0) return missingBox("No section was entered.");
  const body = element("tbody", {}, ...rows.slice(0, FIRST_ROWS).map((row) => tableRow(row, total)));
  const table = element(
    "table",
    { class: "sections" },
    element(
      "thead",
      {},
      element(
        "tr",
        {},
        element("th", { scope: "col" }, "Section"),
        element("td", { class: "bars" }),
        ...["wall", "share", "CPU", "times", "chunks"].map((label) =>
          element("th", { scope: "col", class: "number" }, label),
        ),
      ),
    ),
    body,
  );
  const panel = element(
    "div",
    { class: "panel" },
    element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Sections" }, table),
  );
  if (rows.length > FIRST_ROWS) {
    const more = button(`Show all ${count(rows.length)} sections`, () => {
      body.append(...rows.slice(FIRST_ROWS).map((row) => tableRow(row, total)));
      more.remove();
    });
    panel.append(more);
  }
  panel.append(
    element(
      "p",
      { class: "caption" },
      "A bar is the time inside a section, summed over chunks; its darker part was CPU. Shares are of all sections at the top.",
    ),
  );
  return panel;
}

function flatten(nodes: SectionNode[], depth: number, start: number): SectionRow[] {
  let at = start;
  return [...nodes]
    .sort((a, b) => b.wall_secs - a.wall_secs)
    .flatMap((node) => {
      const rows = [{ node, depth, start: at }, ...flatten(node.children, depth + 1, at)];
      at += node.wall_secs;
      return rows;
    });
}

function tableRow({ node, depth, start }: SectionRow, total: number): HTMLElement {
  const name = element("th", { scope: "row" }, nameText(node.name));
  name.style.paddingLeft = `${0.6 + Math.min(depth, 12) * 1.1}rem`;
  const wall = element("i", { class: "wall" });
  if (total > 0) {
    wall.style.left = `${Math.min(100, (start / total) * 100)}%`;
    wall.style.width = `${(node.wall_secs / total) * 100}%`;
  }
  if (node.cpu_secs !== null && node.wall_secs > 0) {
    const cpu = element("i", { class: "cpu" });
    cpu.style.width = `${Math.min(1, node.cpu_secs / node.wall_secs) * 100}%`;
    wall.append(cpu);
  }
  return element(
    "tr",
    {},
    name,
    element("td", { class: "bars" }, wall),
    element("td", { class: "number" }, seconds(node.wall_secs)),
    element("td", { class: "number" }, total > 0 ? roundShare(node.wall_secs / total) : MISSING),
    element("td", { class: "number" }, node.cpu_secs === null ? MISSING : seconds(node.cpu_secs)),
    element("td", { class: "number" }, count(node.count)),
    element("td", { class: "number" }, count(node.chunks)),
  );
}
