/**
 * Where the names of the ledger's bar go. A segment that is too narrow for its name
 * gets it below the bar, on a leader line that crosses no other name.
 */

export interface WantedLabel {
  name: string;
  share: string;
  from: number;
  to: number;
}

export interface LabelBelow extends WantedLabel {
  /** Where the leader stands, and where the text starts. */
  x: number;
  left: number;
  row: number;
}

export const LABEL_ROW_PX = 20;
/** More would be a second list. */
const MOST_BELOW = 8;
/** Narrower ones are in the list only. */
const SMALLEST_BELOW_SHARE = 0.008;
const PADDING_PX = 5;
const GAP_PX = 12;
const FONT = "13px system-ui, sans-serif";

/** How wide a text is in the bar. */
export function labelWidth(text: string): number {
  const pen = document.createElement("canvas").getContext("2d");
  if (!pen) return text.length * 7;
  pen.font = FONT;
  return pen.measureText(text).width;
}

export function placeLabels(
  wanted: WantedLabel[],
  width_px: number,
): { inside: WantedLabel[]; below: LabelBelow[]; rows: number } {
  const fits = (label: WantedLabel) =>
    Math.max(labelWidth(label.name), labelWidth(label.share)) + 2 * PADDING_PX <= label.to - label.from;
  const narrow = wanted
    .filter((label) => !fits(label) && label.to - label.from >= SMALLEST_BELOW_SHARE * width_px)
    .sort((a, b) => b.to - b.from - (a.to - a.from))
    .slice(0, MOST_BELOW)
    .map((label) => ({
      ...label,
      x: (label.from + label.to) / 2,
      long: labelWidth(`${label.name} ${label.share}`) * 1.06,
    }))
    .sort((a, b) => a.x - b.x);
  let below: LabelBelow[] = [];
  // Names run to the right of their leaders, and from some place on to the left, where the edge is near.
  for (let turn = narrow.length; turn >= 0; turn -= 1) {
    const placed = placeAround(narrow, turn, width_px);
    if (placed.length > below.length || (placed.length === below.length && depth(placed) < depth(below))) {
      below = placed;
    }
  }
  return { inside: wanted.filter(fits), below, rows: depth(below) };
}

const depth = (labels: LabelBelow[]): number =>
  labels.reduce((most, label) => Math.max(most, label.row + 1), 0);

type Narrow = WantedLabel & { x: number; long: number };
type Placed = LabelBelow & { right: number };

function placeAround(narrow: Narrow[], turn: number, width_px: number): LabelBelow[] {
  const placed: Placed[] = [];
  const add = (label: Narrow, left: number) => {
    const right = left + label.long;
    if (left < 0 || right > width_px) return;
    const rows = Array.from({ length: MOST_BELOW }, (_, row) => row);
    const row = rows.find((one) => placed.every((other) => !clash(other, label.x, left, right, one)));
    if (row !== undefined) placed.push({ ...label, left, right, row });
  };
  for (const label of narrow.slice(turn)) add(label, label.x - label.long - 4);
  for (const label of narrow.slice(0, turn).reverse()) add(label, label.x + 4);
  return placed;
}

/** Whether a text meets another one or its leader, or its leader the other text. */
function clash(other: Placed, x: number, left: number, right: number, row: number): boolean {
  return (
    (other.row === row && left < other.right + GAP_PX && other.left < right + GAP_PX) ||
    (other.row >= row && other.x > left - 4 && other.x < right + 4) ||
    (row >= other.row && x > other.left - 4 && x < other.right + 4)
  );
}
