/** Runtime against events, a point per chunk, with lines of constant rate to judge them by. */

import uPlot from "uplot";
import { axis, canvasFont, hover, insideFrame, mountChart, onceOnPage } from "./chart";
import type { Scatter } from "./data";
import type { Datasets } from "./datasets";
import { button, element, missingBox } from "./dom";
import { count, kilohertz, seconds, tick } from "./format";
import { colour } from "./theme";
import type { TooltipContent } from "./tooltip";

const HEIGHT_PX = 330;
const SIDE_PX = 62;
const REACH_PX = 14;
const MANY_POINTS = 1500;

export function scatterPanel(scatter: Scatter, datasets: Datasets): HTMLElement {
  if (scatter.events.length === 0) return missingBox("No chunk finished.");
  const widest = largest(scatter.events);
  const longest = largest(scatter.duration_secs);
  const whole = {
    x: { min: 0, max: widest > 0 ? widest * 1.06 : 1 },
    y: { min: 0, max: longest > 0 ? longest * 1.08 : 1 },
  };
  const host = element("div", { "data-chart": "scatter" });
  const head = element("div", { class: "chart-head" }, element("h3", {}, "Runtime against events"));
  onceOnPage(() => {
    const fixed = (_: uPlot, min: number, max: number): uPlot.Range.MinMax => [min, max];
    const reset = () => {
      chart.batch(() => {
        chart.setScale("x", whole.x);
        chart.setScale("y", whole.y);
      });
      back.hidden = true;
      return null;
    };
    const back = button("Reset", reset, { class: "zoom-reset", "aria-label": "Show all chunks again" });
    back.hidden = true;
    head.append(back);
    const chart = mountChart(
      host,
      summary(scatter),
      {
        height: HEIGHT_PX,
        padding: [24, 62, 0, 0],
        scales: {
          x: { time: false, auto: false, ...whole.x, range: fixed },
          y: { auto: false, ...whole.y, range: fixed },
        },
        series: [{}, { show: false }],
        cursor: {
          points: { show: false },
          drag: { x: true, y: true, uni: 20, dist: 4 },
          bind: { dblclick: () => reset },
        },
        axes: [
          axis({
            label: "events in the chunk",
            labelSize: 20,
            size: 30,
            space: 80,
            values: (_, ticks) => ticks.map((value) => tick(value, "count")),
          }),
          axis({
            label: "time in process()",
            labelSize: 20,
            size: SIDE_PX,
            space: 36,
            values: (_, ticks) => ticks.map((value) => tick(value, "seconds")),
          }),
        ],
        hooks: {
          setSelect: [
            () => {
              back.hidden = false;
            },
          ],
          draw: [
            (self) => {
              drawPoints(self, scatter, datasets);
              drawGuides(self, scatter.guide_rates_khz);
            },
          ],
        },
      },
      [
        [0, widest],
        [null, null],
      ],
    );
    datasets.onChange(() => chart.redraw(false));
    hover(chart, (left, top) => {
      const at = nearest(chart, scatter, datasets, left, top);
      return at === null ? null : describe(scatter, at);
    });
  });
  const caption =
    scatter.total > scatter.events.length
      ? `${count(scatter.events.length)} of ${count(scatter.total)} chunks; the extremes are kept.`
      : `${count(scatter.total)} ${scatter.total === 1 ? "chunk" : "chunks"}.`;
  return element(
    "div",
    { class: "panel" },
    head,
    host,
    element(
      "p",
      { class: "caption" },
      `${caption}${scatter.failed.includes(true) ? " Red crosses failed." : ""} Dashed lines are constant rates per thread: lower is faster.`,
    ),
  );
}

const largest = (values: number[]): number => values.reduce((most, value) => Math.max(most, value), 0);

const isShown = (scatter: Scatter, datasets: Datasets, at: number): boolean =>
  datasets.isShown(scatter.datasets[scatter.dataset[at] ?? -1] ?? "");

/** Rays from the origin, each named where it leaves the frame. */
function drawGuides(chart: uPlot, rates_khz: number[]): void {
  const { ctx, bbox } = chart;
  const ratio = uPlot.pxRatio;
  const [x, y] = [chart.scales["x"], chart.scales["y"]];
  const [left, right, top] = [x?.min ?? 0, x?.max ?? 1, y?.max ?? 1];
  ctx.save();
  ctx.font = canvasFont();
  ctx.fillStyle = colour("muted");
  let free = bbox.top - 40 * ratio;
  // From the steepest on, so that names along the right side come from top to bottom.
  for (const rate of [...rates_khz].filter((one) => one > 0).sort((a, b) => a - b)) {
    const events_per_sec = rate * 1e3;
    insideFrame(chart, (context) => {
      context.strokeStyle = colour("guide");
      context.lineWidth = ratio;
      context.setLineDash([5 * ratio, 4 * ratio]);
      context.beginPath();
      context.moveTo(chart.valToPos(left, "x", true), chart.valToPos(left / events_per_sec, "y", true));
      context.lineTo(chart.valToPos(right, "x", true), chart.valToPos(right / events_per_sec, "y", true));
      context.stroke();
    });
    const text = tick(rate, "kilohertz");
    if (right / events_per_sec <= top) {
      const at = chart.valToPos(right / events_per_sec, "y", true);
      if (at > bbox.top + bbox.height || at - free < 13 * ratio) continue;
      free = at;
      ctx.textAlign = "left";
      ctx.textBaseline = "middle";
      ctx.fillText(text, bbox.left + bbox.width + 5 * ratio, at);
    } else {
      const at = chart.valToPos(top * events_per_sec, "x", true);
      if (at < bbox.left) continue;
      ctx.textAlign = "center";
      ctx.textBaseline = "bottom";
      ctx.fillText(text, at, bbox.top - 4 * ratio);
    }
  }
  ctx.restore();
}

function drawPoints(chart: uPlot, scatter: Scatter, datasets: Datasets): void {
  const radius = (scatter.events.length > MANY_POINTS ? 2 : 3.2) * uPlot.pxRatio;
  const height = (at: number) => chart.valToPos(scatter.duration_secs[at] ?? 0, "y", true);
  insideFrame(chart, (context) => {
    context.globalAlpha = scatter.events.length > MANY_POINTS ? 0.55 : 0.75;
    const failed: number[] = [];
    scatter.events.forEach((events, at) => {
      if (!isShown(scatter, datasets, at)) return;
      if (scatter.failed[at]) {
        failed.push(at);
        return;
      }
      context.fillStyle = datasets.colour(scatter.datasets[scatter.dataset[at] ?? -1] ?? "");
      context.beginPath();
      context.arc(chart.valToPos(events, "x", true), height(at), radius, 0, 2 * Math.PI);
      context.fill();
    });
    // Crosses, on top of all: there are few, and they matter.
    context.globalAlpha = 1;
    context.strokeStyle = colour("failed");
    context.lineWidth = 1.8 * uPlot.pxRatio;
    context.beginPath();
    for (const at of failed) {
      const [x, y, arm] = [
        chart.valToPos(scatter.events[at] ?? 0, "x", true),
        height(at),
        3.5 * uPlot.pxRatio,
      ];
      context.moveTo(x - arm, y - arm);
      context.lineTo(x + arm, y + arm);
      context.moveTo(x - arm, y + arm);
      context.lineTo(x + arm, y - arm);
    }
    context.stroke();
  });
}

function nearest(
  chart: uPlot,
  scatter: Scatter,
  datasets: Datasets,
  left: number,
  top: number,
): number | null {
  let best: number | null = null;
  let distance = REACH_PX ** 2;
  scatter.events.forEach((events, at) => {
    const away =
      (chart.valToPos(events, "x") - left) ** 2 +
      (chart.valToPos(scatter.duration_secs[at] ?? 0, "y") - top) ** 2;
    if (away < distance && isShown(scatter, datasets, at)) {
      best = at;
      distance = away;
    }
  });
  return best;
}

function describe(scatter: Scatter, at: number): TooltipContent {
  const events = scatter.events[at] ?? 0;
  const duration = scatter.duration_secs[at] ?? 0;
  const first = scatter.entry_start[at] ?? null;
  const worker = scatter.worker[scatter.worker_index[at] ?? -1];
  return {
    title: scatter.datasets[scatter.dataset[at] ?? -1] ?? "Chunk",
    lines: [
      ["file", scatter.files[scatter.file[at] ?? -1] ?? ""],
      ...(first === null ? [] : [["entries", `${count(first)} – ${count(first + events)}`] as const]),
      ["events", count(events)],
      [scatter.failed[at] ? "failed after" : "runtime", seconds(duration)],
      ...(duration > 0 ? [["rate", kilohertz(events / duration / 1e3)] as const] : []),
      ...(worker === undefined ? [] : [["worker", worker] as const]),
    ],
  };
}

function summary(scatter: Scatter): string {
  return `Runtime against events of ${count(scatter.total)} chunks: up to ${seconds(largest(scatter.duration_secs))} and ${count(largest(scatter.events))} events.`;
}
