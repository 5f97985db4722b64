/** A run with more workers or chunks than a screen has room for: how busy, as a heat map. */

import uPlot from "uplot";
import { insideFrame } from "./chart";
import type { RasterLanes } from "./data";
import { element } from "./dom";
import { count, roundShare, seconds } from "./format";
import type { LanePicture } from "./lanes";
import { colour, onThemeChange } from "./theme";

const ROW_HEIGHT_PX = 14;
const SMALLEST_HEIGHT_PX = 60;
const LARGEST_HEIGHT_PX = 600;
const NOBODY = 255;
const FULL = 254;
/** A failure must not vanish between two pixels. */
const MARK_PX = 3;

export function rasterLanes(lanes: RasterLanes): LanePicture {
  const busy = decode(lanes.busy);
  const failed = decode(lanes.failed);
  const picture = document.createElement("canvas");
  const failures: number[] = [];
  failed.forEach((value, at) => {
    if (value > 0) failures.push(at);
  });
  const paint = () => paintBusy(picture, lanes, busy);
  paint();
  onThemeChange(paint);
  const step = lanes.end_secs / Math.max(1, lanes.columns);
  const workers = lanes.rows.reduce((sum, row) => sum + row.workers, 0);
  return {
    summary: `How busy ${count(workers)} workers were over ${seconds(lanes.end_secs)}, as a heat map.`,
    legend: element(
      "div",
      { class: "legend" },
      element("span", { class: "key" }, "idle", element("i", { class: "ramp" }), "all threads busy"),
      element("span", { class: "key" }, element("i", { class: "swatch failed" }), "Failed work"),
      element("span", { class: "key" }, element("i", { class: "swatch nobody" }), "Not there"),
    ),
    caption: `Each cell is ${seconds(step)} long${
      workers > lanes.rows.length
        ? `; ${count(workers)} workers in ${count(lanes.rows.length)} rows of neighbours`
        : ""
    }.`,
    rows: lanes.rows.map((row, at) => ({ name: row.name, top: at, bottom: at + 1 })),
    height_px: Math.min(LARGEST_HEIGHT_PX, Math.max(SMALLEST_HEIGHT_PX, lanes.rows.length * ROW_HEIGHT_PX)),
    draw: (chart) => draw(chart, lanes, picture, failures),
    find: (secs, height) => {
      const row = Math.floor(height);
      const column = Math.min(lanes.columns - 1, Math.floor(secs / step));
      const value = busy[row * lanes.columns + column];
      const here = lanes.rows[row];
      if (!here || value === undefined || column < 0 || secs > lanes.end_secs) return null;
      return {
        title: here.name === "" ? "(empty)" : here.name,
        lines: [
          ["time", `${seconds(column * step)} – ${seconds((column + 1) * step)}`],
          ["busy", value === NOBODY ? "no worker was there" : roundShare(value / FULL)],
          ...(here.workers === 1 ? [] : [["workers", count(here.workers)] as const]),
          ...(failed[row * lanes.columns + column] ? [["failed", "work failed here"] as const] : []),
        ],
      };
    },
  };
}

function decode(text: string): Uint8Array {
  const binary = atob(text);
  const values = new Uint8Array(binary.length);
  for (let at = 0; at < values.length; at += 1) values[at] = binary.charCodeAt(at);
  return values;
}

function paintBusy(picture: HTMLCanvasElement, lanes: RasterLanes, busy: Uint8Array): void {
  const { columns, rows } = lanes;
  if (columns === 0 || rows.length === 0) return;
  picture.width = columns;
  picture.height = rows.length;
  const context = picture.getContext("2d");
  if (!context) return;
  const image = context.createImageData(columns, rows.length);
  const idle = channels(colour("heat-idle"));
  const full = channels(colour("heat-busy"));
  // One number per pixel: a run can have a million of them.
  const ramp = new Uint32Array(
    new Uint8ClampedArray(
      Array.from({ length: FULL + 1 }, (_, value) => [
        ...idle.map((from, channel) => from + ((full[channel] ?? from) - from) * (value / FULL)),
        255,
      ]).flat(),
    ).buffer,
  );
  const pixels = new Uint32Array(image.data.buffer);
  for (let at = 0; at < pixels.length; at += 1) pixels[at] = ramp[busy[at] ?? NOBODY] ?? 0;
  context.putImageData(image, 0, 0);
}

/** Of `#rrggbb`. */
function channels(hex: string): number[] {
  return [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16));
}

function draw(chart: uPlot, lanes: RasterLanes, picture: HTMLCanvasElement, failures: number[]): void {
  if (picture.width === 0 || lanes.columns === 0) return;
  insideFrame(chart, (context) => {
    const { left, top, width, height } = chart.bbox;
    const from = chart.scales["x"]?.min ?? 0;
    const to = chart.scales["x"]?.max ?? 1;
    const px_per_sec = width / (to - from);
    const whole = lanes.end_secs * px_per_sec;
    const start = left - from * px_per_sec;
    context.imageSmoothingEnabled = false;
    context.drawImage(picture, start, top, whole, height);
    context.fillStyle = colour("failed");
    const mark = MARK_PX * uPlot.pxRatio;
    const cell = { width: whole / lanes.columns, height: height / lanes.rows.length };
    for (const at of failures) {
      const x = start + (at % lanes.columns) * cell.width;
      const y = top + Math.floor(at / lanes.columns) * cell.height;
      const size = { width: Math.max(mark, cell.width), height: Math.max(mark, cell.height) };
      context.fillRect(
        x - (size.width - cell.width) / 2,
        y - (size.height - cell.height) / 2,
        size.width,
        size.height,
      );
    }
  });
}
