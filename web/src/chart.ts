/**
 * What all charts have in common: uPlot for scales, axes and the cursor, the theme's
 * colours, and a width that follows the page. Charts that uPlot has no series for
 * draw themselves into its canvas.
 */

import uPlot from "uplot";
import { seconds } from "./format";
import { colour, isPrinting, onThemeChange } from "./theme";
import type { TimeRange } from "./time_range";
import { hideTooltip, showTooltip, type TooltipContent } from "./tooltip";

/** What fits on A4 and on Letter between the margins of the print style. */
export const PAPER_WIDTH_PX = 670;
const FONT = '12px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif';

export interface ChartOptions extends Omit<uPlot.Options, "width" | "height"> {
  height: number | (() => number);
}

const waiting: (() => void)[] = [];

/** Charts need to know their width: they are made when everything is on the page. */
export function onceOnPage(make: () => void): void {
  waiting.push(make);
}

export function makeCharts(): void {
  for (const make of waiting.splice(0)) make();
}

/** Puts a chart into `host`, which is described by `summary` to those who do not see it. */
export function mountChart(
  host: HTMLElement,
  summary: string,
  options: ChartOptions,
  data: uPlot.AlignedData,
): uPlot {
  host.classList.add("plot");
  host.setAttribute("role", "img");
  host.setAttribute("aria-label", summary);
  const size = () => ({
    width: isPrinting()
      ? Math.min(PAPER_WIDTH_PX, host.clientWidth || PAPER_WIDTH_PX)
      : Math.max(host.clientWidth, 240),
    height: typeof options.height === "function" ? options.height() : options.height,
  });
  const chart = new uPlot({ legend: { show: false }, ...options, ...size() }, data, host);
  const fit = () => {
    const wanted = size();
    if (wanted.width !== chart.width || wanted.height !== chart.height) chart.setSize(wanted);
  };
  new ResizeObserver(fit).observe(host);
  onThemeChange(() => {
    fit();
    chart.redraw(false, true);
  });
  return chart;
}

/** An axis in the page's colours. */
export function axis(more: uPlot.Axis): uPlot.Axis {
  return {
    font: FONT,
    labelFont: FONT,
    stroke: () => colour("muted"),
    ...more,
    grid: { stroke: () => colour("grid"), width: 1, ...more.grid },
    ticks: { stroke: () => colour("grid"), width: 1, size: 4, ...more.ticks },
  };
}

/** Steps that read well as times. */
const TIME_STEPS_SECS = [
  1e-6, 2e-6, 5e-6, 1e-5, 2e-5, 5e-5, 1e-4, 2e-4, 5e-4, 1e-3, 2e-3, 5e-3, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1,
  2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 21_600, 43_200, 86_400, 172_800,
  432_000, 864_000,
];

/** The ticks of a time axis: as many digits as tell neighbours apart. */
export function timeTicks(ticks: number[]): string[] {
  const step = (ticks[1] ?? 1) - (ticks[0] ?? 0);
  return ticks.map((secs) => {
    if (secs === 0) return "0 s";
    if (secs >= 60 && step >= 1) return seconds(secs);
    const decimals = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
    return secs < 60 && step >= 1 ? `${Math.round(secs)} s` : `${secs.toFixed(decimals)} s`;
  });
}

/** The time axis that all of the run's charts share. */
export function timeAxis(labelled: boolean): uPlot.Axis {
  return axis({
    incrs: TIME_STEPS_SECS,
    space: 90,
    values: labelled ? (_, ticks) => timeTicks(ticks) : (_, ticks) => ticks.map(() => ""),
    size: labelled ? 28 : 6,
    ticks: { show: labelled },
  });
}

/** Room for a worker's name; the same for all, so that times stand above each other. */
export const sideWidth = (): number => (window.innerWidth < 800 || isPrinting() ? 76 : 118);

/** Ties a chart's x axis and cursor to the shared stretch of time. */
export function timeOptions(
  range: TimeRange,
): Pick<uPlot.Options, "cursor" | "hooks" | "padding"> & { x: uPlot.Scale } {
  return {
    x: { time: false, auto: false, min: range.from, max: range.to, range: (_, min, max) => [min, max] },
    padding: [6, 14, 0, 0],
    cursor: {
      y: false,
      points: { show: false },
      drag: { x: true, y: false, setScale: false, dist: 4 },
      sync: {
        key: "time",
        scales: ["x", null],
        filters: { pub: (type) => type === "mousemove" || type === "mouseleave" },
      },
      bind: {
        dblclick: () => () => {
          range.reset();
          return null;
        },
      },
    },
    hooks: {
      setSelect: [
        (chart) => {
          const { left, width } = chart.select;
          if (width <= 0) return;
          chart.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
          range.set(chart.posToVal(left, "x"), chart.posToVal(left + width, "x"));
        },
      ],
    },
  };
}

/** Follows the shared stretch of time from now on. */
export function followTime(chart: uPlot, range: TimeRange): void {
  range.onChange(() => chart.setScale("x", { min: range.from, max: range.to }));
}

/** Shows what `find` knows about the place under the mouse, in CSS pixels of the plot. */
export function hover(chart: uPlot, find: (left: number, top: number) => TooltipContent | null): void {
  chart.over.addEventListener("mousemove", (event) => {
    const area = chart.over.getBoundingClientRect();
    const content = find(event.clientX - area.left, event.clientY - area.top);
    if (content) showTooltip(content, event.clientX, event.clientY);
    else hideTooltip();
  });
  chart.over.addEventListener("mouseleave", hideTooltip);
}

/** Draws inside the plot's frame, in canvas pixels, and leaves the canvas as it was. */
export function insideFrame(chart: uPlot, draw: (context: CanvasRenderingContext2D) => void): void {
  const { ctx, bbox } = chart;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  draw(ctx);
  ctx.restore();
}

export const canvasFont = (): string => FONT.replace("12px", `${12 * uPlot.pxRatio}px`);
