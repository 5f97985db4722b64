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
const MOST_ROWS = 5;
const PADDING_PX = 7;
const GAP_PX = 12;
const FONT = "13px system-ui, sans-serif";

export function placeLabels(
  wanted: WantedLabel[],
  width_px: number,
): { inside: WantedLabel[]; below: LabelBelow[]; rows: number } {
  const pen = document.createElement("canvas").getContext("2d");
  if (pen) pen.font = FONT;
  const measure = (text: string) => pen?.measureText(text).width ?? text.length * 7;
  const inside: WantedLabel[] = [];
  const below: (LabelBelow & { right: number })[] = [];
  // From the right: a name runs to the right of its leader, over places that are already decided.
  for (const label of [...wanted].reverse()) {
    if (Math.max(measure(label.name), measure(label.share)) + 2 * PADDING_PX <= label.to - label.from) {
      inside.push(label);
      continue;
    }
    const x = (label.from + label.to) / 2;
    const long = measure(`${label.name} ${label.share}`) * 1.06;
    const free = firstFree(below, x, long, width_px);
    if (free) below.push({ ...label, x, ...free });
  }
  const rows = below.reduce((most, label) => Math.max(most, label.row + 1), 0);
  return { inside, below, rows };
}

function firstFree(
  placed: (LabelBelow & { right: number })[],
  x: number,
  long: number,
  width_px: number,
): { row: number; left: number; right: number } | null {
  for (let row = 0; row < MOST_ROWS; row += 1) {
    for (const left of [x + 4, x - long - 4]) {
      const right = left + long;
      if (left < 0 || right > width_px) continue;
      const clash = placed.some(
        (other) =>
          (other.row === row && left < other.right + GAP_PX && other.left < right + GAP_PX) ||
          (other.row >= row && other.x > left - 4 && other.x < right + 4) ||
          (row >= other.row && x > other.left - 4 && x < other.right + 4),
      );
      if (!clash) return { row, left, right };
    }
  }
  return null;
}
