/**
 * Where every core-second went: one bar with its names on it, and the same as a list,
 * largest first. Rows of one kind stand together and share a hue.
 */

import { onceOnPage, PAPER_WIDTH_PX } from "./chart";
import type { Ledger, LedgerRow } from "./data";
import { element, missingBox, nameText } from "./dom";
import { coreSeconds, roundShare, seconds } from "./format";
import { LABEL_ROW_PX, labelWidth, placeLabels } from "./ledger_labels";
import { isPrinting, lighten, onThemeChange } from "./theme";

type Family = LedgerRow["family"];

/** Bright enough for dark text on them, on paper and on dark screens alike. */
const FAMILIES: Record<Family, { label: string; hex: string }> = {
  user: { label: "Your code", hex: "#35a67f" },
  columns: { label: "Reading columns", hex: "#559fd6" },
  setup: { label: "Setting up chunks", hex: "#b18cd0" },
  output: { label: "Results", hex: "#e0b13c" },
  waste: { label: "Wasted", hex: "#e8704f" },
  overhead: { label: "Overhead", hex: "#c49a72" },
  idle: { label: "Idle", hex: "#a3a8b0" },
  unexplained: { label: "Unexplained", hex: "#d6d8dc" },
};
const SHADES = [0, 0.24, 0.44, 0.6];

interface Segment {
  row: LedgerRow;
  colour: string;
  /** Shares of the bar. */
  from: number;
  to: number;
}

export function ledgerPanel(ledger: Ledger): HTMLElement {
  const segments = layOut(ledger.rows.filter((row) => row.core_secs > 0 || row.family === "unexplained"));
  if (!(ledger.total_core_secs > 0)) return missingBox("No core-second was available to account for.");
  const drawing = element("div", { class: "ledger-drawing", role: "img", "aria-label": summary(ledger) });
  const drawAt = (width_px: number) =>
    drawing.replaceChildren(familyLine(segments, width_px), bar(segments), labels(segments, width_px));
  const draw = () => drawAt(drawing.clientWidth);
  onceOnPage(() => {
    draw();
    let width = drawing.clientWidth;
    new ResizeObserver(() => {
      if (drawing.clientWidth === width || isPrinting()) return;
      width = drawing.clientWidth;
      draw();
    }).observe(drawing);
    onThemeChange(draw);
    // Browsers shrink a page that is wider than the paper before they tell it to change.
    window.addEventListener("beforeprint", () => drawAt(PAPER_WIDTH_PX));
  });
  return element(
    "div",
    { class: "panel" },
    element(
      "p",
      { class: "lead" },
      `${coreSeconds(ledger.total_core_secs)} core-seconds were available: every thread of every worker, for as long as it was there.`,
    ),
    drawing,
    list(segments),
  );
}

/** Side by side by kind, in the order in which kinds first appear. */
function layOut(rows: LedgerRow[]): Segment[] {
  const families = [...new Set(rows.map((row) => row.family))];
  const total = rows.reduce((sum, row) => sum + row.share, 0);
  let from = 0;
  return families.flatMap((family) =>
    rows
      .filter((row) => row.family === family)
      .map((row, at) => {
        const to = from + (total > 0 ? row.share / total : 0);
        const segment = {
          row,
          colour: lighten(FAMILIES[family].hex, SHADES[at % SHADES.length] ?? 0),
          from,
          to,
        };
        from = to;
        return segment;
      }),
  );
}

function place(node: HTMLElement, from: number, to: number): HTMLElement {
  node.style.left = `${from * 100}%`;
  node.style.width = `${(to - from) * 100}%`;
  return node;
}

/** A brace over each kind that has room for its name. */
function familyLine(segments: Segment[], width_px: number): HTMLElement {
  const line = element("div", { class: "families" });
  for (const family of new Set(segments.map((one) => one.row.family))) {
    const members = segments.filter((one) => one.row.family === family);
    const [from, to] = [members[0]?.from ?? 0, members.at(-1)?.to ?? 0];
    const brace = element("div", { class: "family" });
    const share = roundShare(to - from);
    // The name is bold, hence a little wider.
    if (labelWidth(`${FAMILIES[family].label} ${share}`) * 1.1 < (to - from) * width_px) {
      brace.append(element("b", {}, FAMILIES[family].label), ` ${share}`);
    }
    brace.style.borderColor = FAMILIES[family].hex;
    line.append(place(brace, from, to));
  }
  return line;
}

function bar(segments: Segment[]): HTMLElement {
  const made = element("div", { class: "bar" });
  for (const { row, colour, from, to } of segments) {
    const part = element("div", {
      class: row.family === "unexplained" ? "part hatched" : "part",
      "data-key": row.key,
    });
    part.title = `${row.label}: ${coreSeconds(row.core_secs)} core-seconds, ${roundShare(row.share)}. ${row.note}`;
    part.style.backgroundColor = colour;
    made.append(place(part, from, to));
  }
  return made;
}

/** Names inside where they fit, on a leader below where they do not. */
function labels(segments: Segment[], width_px: number): HTMLElement {
  const layer = element("div", { class: "ledger-labels" });
  const wanted = segments.map((one) => ({
    name: one.row.label,
    share: roundShare(one.row.share),
    from: one.from * width_px,
    to: one.to * width_px,
  }));
  const { inside, below, rows } = placeLabels(wanted, width_px);
  for (const label of inside) {
    const text = element(
      "div",
      { class: "inside" },
      element("span", {}, label.name),
      element("b", {}, label.share),
    );
    text.style.left = `${label.from}px`;
    text.style.width = `${label.to - label.from}px`;
    layer.append(text);
  }
  for (const label of below) {
    const leader = element("i", { class: "leader" });
    leader.style.left = `${label.x}px`;
    leader.style.height = `${(label.row + 0.75) * LABEL_ROW_PX}px`;
    const text = element("div", { class: "below" }, label.name, " ", element("b", {}, label.share));
    text.style.left = `${label.left}px`;
    text.style.top = `calc(100% + ${(label.row + 0.25) * LABEL_ROW_PX}px)`;
    layer.append(leader, text);
  }
  layer.style.marginBottom = `${rows === 0 ? 0 : (rows + 0.5) * LABEL_ROW_PX}px`;
  return layer;
}

function list(segments: Segment[]): HTMLElement {
  const sorted = [...segments].sort((a, b) => b.row.core_secs - a.row.core_secs);
  const most = sorted[0]?.row.share ?? 1;
  const rows = sorted.map(({ row, colour }) => {
    const swatch = element("i", { class: row.family === "unexplained" ? "block hatched" : "block" });
    swatch.style.backgroundColor = colour;
    const length = element("i", { class: "length" });
    length.style.width = `${(row.share / most) * 100}%`;
    length.style.backgroundColor = colour;
    return element(
      "tr",
      {},
      element("th", { scope: "row" }, swatch, nameText(row.label)),
      element("td", { class: "lengths" }, length),
      element("td", { class: "number" }, coreSeconds(row.core_secs)),
      element("td", { class: "number" }, roundShare(row.share)),
      element("td", { class: "note" }, element("div", {}, row.note)),
    );
  });
  return element(
    "table",
    { class: "ledger-list" },
    element(
      "thead",
      {},
      element(
        "tr",
        {},
        element("th", { scope: "col" }, "Where"),
        element("td"),
        element("th", { scope: "col", class: "number" }, "core-seconds"),
        element("th", { scope: "col", class: "number" }, "share"),
        element("th", { scope: "col" }, "What it is"),
      ),
    ),
    element("tbody", {}, ...rows),
  );
}

function summary(ledger: Ledger): string {
  const largest = [...ledger.rows].sort((a, b) => b.core_secs - a.core_secs).slice(0, 4);
  const parts = largest.map((row) => `${row.label} ${roundShare(row.share)}`);
  return `Where ${seconds(ledger.total_core_secs)} of core time went: ${parts.join(", ")}. The list below has all rows.`;
}
