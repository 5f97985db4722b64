/** What each worker did when: the panel, its time axis and its list of workers. */

import type uPlot from "uplot";
import {
  axis,
  type ChartOptions,
  followTime,
  hover,
  mountChart,
  onceOnPage,
  sideWidth,
  timeAxis,
  timeOptions,
} from "./chart";
import type { Lanes } from "./data";
import type { Datasets } from "./datasets";
import { element, missingBox, shortenStart } from "./dom";
import { intervalLanes } from "./lanes_intervals";
import { rasterLanes } from "./lanes_raster";
import { isPrinting } from "./theme";
import { timeGroup } from "./time_controls";
import type { TimeRange } from "./time_range";
import type { TooltipContent } from "./tooltip";

/** One way of drawing the lanes, in units of height that start at 0 at the top. */
export interface LanePicture {
  summary: string;
  legend: HTMLElement;
  caption: string;
  /** Where the rows are, from top to bottom. */
  rows: { name: string; top: number; bottom: number }[];
  height_px: number;
  draw: (chart: uPlot) => void;
  find: (secs: number, height: number, secs_per_px: number) => TooltipContent | null;
}

const AXIS_HEIGHT_PX = 34;
const LABEL_HEIGHT_PX = 15;
const CHARACTER_WIDTH_PX = 6.7;

export function lanesPanel(lanes: Lanes, range: TimeRange, datasets: Datasets): HTMLElement {
  const picture = lanes.kind === "intervals" ? intervalLanes(lanes, datasets) : rasterLanes(lanes);
  const bottom = picture.rows.at(-1)?.bottom;
  if (bottom === undefined) return missingBox("No worker is known to have done anything.");
  const host = element("div", { "data-chart": "lanes" });
  onceOnPage(() => {
    const chart = mountChart(host, picture.summary, options(picture, range, bottom), [
      [0, range.end_secs],
      [null, null],
    ]);
    followTime(chart, range);
    datasets.onChange(() => chart.redraw(false));
    hover(chart, (left, top) => {
      const secs_per_px = chart.posToVal(1, "x") - chart.posToVal(0, "x");
      return picture.find(chart.posToVal(left, "x"), chart.posToVal(top, "y"), secs_per_px);
    });
  });
  return timeGroup(
    range,
    "What each worker did when",
    picture.legend,
    host,
    element("p", { class: "caption" }, picture.caption),
  );
}

function options(picture: LanePicture, range: TimeRange, bottom: number): ChartOptions {
  const { x, ...shared } = timeOptions(range);
  const labels = labelledRows(picture);
  const middles = labels.map((row) => (row.top + row.bottom) / 2);
  return {
    ...shared,
    height: picture.height_px + AXIS_HEIGHT_PX,
    scales: { x, y: { dir: -1, range: [0, bottom] } },
    series: [{}, { show: false }],
    axes: [
      timeAxis(true),
      axis({
        size: sideWidth,
        splits: () => middles,
        values: () => {
          const characters = Math.floor((sideWidth() - 12) / CHARACTER_WIDTH_PX);
          return labels.map((row) => shortenStart(plainName(row.name), characters));
        },
        grid: { show: false },
        ticks: { show: false },
        ...(isPrinting() ? {} : { gap: 6 }),
      }),
    ],
    hooks: { ...shared.hooks, draw: [picture.draw] },
  };
}

/** As many rows as have room for their names. */
function labelledRows(picture: LanePicture): LanePicture["rows"] {
  const most = Math.max(1, Math.floor(picture.height_px / LABEL_HEIGHT_PX));
  const every = Math.ceil(picture.rows.length / most);
  return picture.rows.filter((_, at) => at % every === 0);
}

/** An address without the protocol that all of them share. */
function plainName(name: string): string {
  return name === "" ? "(empty)" : name.replace(/^[a-z]+:\/\//, "");
}
