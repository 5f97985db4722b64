/** Every stretch of work as a bar, one line per thread of a worker, coloured by dataset. */

import uPlot from "uplot";
import { insideFrame } from "./chart";
import type { IntervalLanes } from "./data";
import type { Datasets } from "./datasets";
import { element } from "./dom";
import { count, kilohertz, seconds } from "./format";
import type { LanePicture } from "./lanes";
import { colour } from "./theme";
import type { TooltipContent } from "./tooltip";

const THREAD_HEIGHT_PX = 15;
const SMALLEST_HEIGHT_PX = 60;
const LARGEST_HEIGHT_PX = 640;
/** Between two workers, as a share of a thread's height. */
const WORKER_GAP = 0.5;

const WORDS: Record<IntervalLanes["what"][number], string> = {
  chunk: "Chunk",
  failed: "Failed chunk",
  reduce: "Merging results",
  transfer: "Transfer",
  other: "Other task",
};

export function intervalLanes(lanes: IntervalLanes, datasets: Datasets): LanePicture {
  const rows: LanePicture["rows"] = [];
  let top = 0;
  for (const worker of lanes.workers) {
    const bottom = top + Math.max(1, worker.threads) + WORKER_GAP;
    rows.push({ name: worker.name, top, bottom });
    top = bottom;
  }
  const threads = threadIndex(lanes);
  const kinds = new Set(lanes.what);
  const keys = (["failed", "reduce", "transfer", "other"] as const)
    .filter((kind) => kinds.has(kind))
    .map((kind) => element("span", { class: "key" }, element("i", { class: `swatch ${kind}` }), WORDS[kind]));
  return {
    summary: `What ${count(lanes.workers.length)} workers did over ${seconds(lanes.end_secs)}: ${count(lanes.start_secs.length)} stretches of work.`,
    legend: datasets.legend(lanes.datasets, ...keys),
    caption:
      "One line per thread, and more where transfers ran beside tasks. A gap is time with nothing to do.",
    rows,
    height_px: Math.min(LARGEST_HEIGHT_PX, Math.max(SMALLEST_HEIGHT_PX, top * THREAD_HEIGHT_PX)),
    draw: (chart) => draw(chart, lanes, rows, datasets),
    find: (secs, height, secs_per_px) => {
      const lane = rows.findIndex((row) => height >= row.top && height < row.bottom);
      const row = rows[lane];
      if (!row) return null;
      const thread = Math.floor(height - row.top - WORKER_GAP / 2);
      const at = nearest(lanes, threads.get(`${lane} ${thread}`) ?? [], secs, 3 * secs_per_px);
      return at === null ? null : describe(lanes, at);
    },
  };
}

function threadIndex(lanes: IntervalLanes): Map<string, number[]> {
  const index = new Map<string, number[]>();
  lanes.lane.forEach((lane, at) => {
    const key = `${lane} ${lanes.thread[at]}`;
    const list = index.get(key);
    if (list) list.push(at);
    else index.set(key, [at]);
  });
  return index;
}

/** The stretch under the mouse, or one so close that it may be thinner than the mouse can point. */
function nearest(lanes: IntervalLanes, candidates: number[], secs: number, tolerance: number): number | null {
  let best: number | null = null;
  let distance = tolerance;
  for (const at of candidates) {
    const start = lanes.start_secs[at] ?? 0;
    const end = start + (lanes.duration_secs[at] ?? 0);
    const away = secs < start ? start - secs : secs > end ? secs - end : 0;
    if (away <= distance) {
      best = at;
      distance = away;
    }
    if (away === 0) break;
  }
  return best;
}

function describe(lanes: IntervalLanes, at: number): TooltipContent {
  const worker = lanes.workers[lanes.lane[at] ?? -1];
  const dataset = lanes.datasets[lanes.dataset[at] ?? -1];
  const file = lanes.files[lanes.file[at] ?? -1];
  const events = lanes.events[at] ?? null;
  const first = lanes.entry_start[at] ?? null;
  const duration = lanes.duration_secs[at] ?? 0;
  const start = lanes.start_secs[at] ?? 0;
  const lines: [string, string][] = [];
  if (dataset !== undefined) lines.push(["dataset", dataset]);
  if (file !== undefined) lines.push(["file", file]);
  if (first !== null)
    lines.push([
      "entries",
      events === null ? `from ${count(first)}` : `${count(first)} – ${count(first + events)}`,
    ]);
  if (events !== null) lines.push(["events", count(events)]);
  lines.push(["duration", seconds(duration)], ["started", `at ${seconds(start)}`]);
  if (events !== null && duration > 0) lines.push(["rate", kilohertz(events / duration / 1e3)]);
  if (worker) lines.push(["worker", worker.host ? `${worker.name} on ${worker.host}` : worker.name]);
  return { title: WORDS[lanes.what[at] ?? "other"], lines };
}

function draw(chart: uPlot, lanes: IntervalLanes, rows: LanePicture["rows"], datasets: Datasets): void {
  insideFrame(chart, (context) => {
    const { left, top, width, height } = chart.bbox;
    const from = chart.scales["x"]?.min ?? 0;
    const to = chart.scales["x"]?.max ?? 1;
    const bottom = rows.at(-1)?.bottom ?? 1;
    const px_per_sec = width / (to - from);
    const px_per_row = height / bottom;
    const bar = Math.max(1, px_per_row * 0.86);
    context.fillStyle = colour("lane");
    lanes.workers.forEach((worker, lane) => {
      const row = rows[lane];
      if (!row) return;
      const y = top + (row.top + WORKER_GAP / 2) * px_per_row;
      context.fillRect(left, y, width, Math.max(1, worker.threads) * px_per_row - (px_per_row - bar));
    });
    const failed = hatching(context);
    const plain = {
      reduce: colour("lane-reduce"),
      transfer: colour("lane-transfer"),
      other: colour("lane-other"),
    };
    for (let at = 0; at < lanes.start_secs.length; at += 1) {
      const start = lanes.start_secs[at] ?? 0;
      const end = start + (lanes.duration_secs[at] ?? 0);
      const row = rows[lanes.lane[at] ?? -1];
      if (end < from || start > to || !row) continue;
      const what = lanes.what[at] ?? "other";
      const dataset = lanes.datasets[lanes.dataset[at] ?? -1];
      if (dataset !== undefined && !datasets.isShown(dataset)) continue;
      if (what === "failed") context.fillStyle = failed;
      else if (what === "chunk")
        context.fillStyle = dataset === undefined ? plain.other : datasets.colour(dataset);
      else context.fillStyle = plain[what];
      const x = left + (start - from) * px_per_sec;
      const long = (end - start) * px_per_sec;
      // A hair of room between neighbours, where there is some to spare.
      const gap = long > 4 * uPlot.pxRatio ? uPlot.pxRatio : 0;
      const y = top + (row.top + WORKER_GAP / 2 + (lanes.thread[at] ?? 0)) * px_per_row;
      context.fillRect(x, y, Math.max(uPlot.pxRatio, long - gap), bar);
    }
  });
}

/** Red with stripes, so that it is not the colour alone that says so. */
function hatching(context: CanvasRenderingContext2D): CanvasPattern | string {
  const size = Math.round(6 * uPlot.pxRatio);
  const tile = document.createElement("canvas");
  tile.width = size;
  tile.height = size;
  const paint = tile.getContext("2d");
  if (!paint) return colour("failed");
  paint.fillStyle = colour("failed");
  paint.fillRect(0, 0, size, size);
  paint.strokeStyle = colour("panel");
  paint.lineWidth = 1.2 * uPlot.pxRatio;
  paint.beginPath();
  for (const shift of [-size, 0, size]) {
    paint.moveTo(shift, size);
    paint.lineTo(shift + size, 0);
  }
  paint.stroke();
  return context.createPattern(tile, "repeat") ?? colour("failed");
}
