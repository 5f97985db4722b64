/** How long chunks took: a histogram, stacked by dataset, with the usual percentiles marked. */

import uPlot from "uplot";
import { axis, canvasFont, hover, insideFrame, mountChart, onceOnPage } from "./chart";
import type { Runtimes } from "./data";
import type { Datasets } from "./datasets";
import { element, missingBox } from "./dom";
import { count, seconds, tick } from "./format";
import { colour } from "./theme";
import type { TooltipContent } from "./tooltip";

const HEIGHT_PX = 330;
const SIDE_PX = 58;
const MARK_ROW_PX = 15;
/** One chunk among a hundred thousand is still to be seen. */
const SMALLEST_BAR_PX = 1.5;

export function histogramPanel(runtimes: Runtimes, datasets: Datasets): HTMLElement {
  const edges = runtimes.edges_secs;
  const first = edges[0];
  const last = edges.at(-1);
  if (first === undefined || last === undefined || edges.length < 2) return missingBox("No chunk finished.");
  const logarithmic = isGeometric(edges);
  const [from, to] = last > first ? [first, last] : [Math.max(0, first - 0.5), first + 0.5];
  const host = element("div", { "data-chart": "histogram" });
  onceOnPage(() => {
    const chart = mountChart(
      host,
      summary(runtimes),
      {
        height: HEIGHT_PX,
        padding: [3 * MARK_ROW_PX + 4, 16, 0, 0],
        scales: {
          x: {
            time: false,
            auto: false,
            min: from,
            max: to,
            distr: logarithmic ? 3 : 1,
            range: (_, min, max) => [min, max],
          },
          y: { auto: false, min: 0, max: tallest(runtimes, datasets), range: (_, min, max) => [min, max] },
        },
        series: [{}, { show: false }],
        cursor: {
          x: false,
          y: false,
          points: { show: false },
          drag: { x: false, y: false, setScale: false },
        },
        axes: [
          axis({
            label: "time of a chunk in process()",
            labelSize: 20,
            size: 30,
            space: 70,
            values: (_, ticks) => ticks.map((value) => (value === null ? "" : tick(value, "seconds"))),
          }),
          axis({
            label: "chunks",
            labelSize: 20,
            size: SIDE_PX,
            space: 36,
            incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 1e5, 2e5, 5e5, 1e6],
            values: (_, ticks) => ticks.map((value) => tick(value, "count")),
          }),
        ],
        hooks: {
          draw: [
            (self) => {
              drawBars(self, runtimes, datasets);
              drawMarks(self, runtimes);
            },
          ],
        },
      },
      [
        [from, to],
        [null, null],
      ],
    );
    datasets.onChange(() => chart.setScale("y", { min: 0, max: tallest(runtimes, datasets) }));
    hover(chart, (left) => describe(runtimes, datasets, chart.posToVal(left, "x")));
  });
  const failed = runtimes.failed > 0 ? ` ${count(runtimes.failed)} failed attempts are not in it.` : "";
  return element(
    "div",
    { class: "panel" },
    element("div", { class: "chart-head" }, element("h3", {}, "Chunk runtimes")),
    host,
    element(
      "p",
      { class: "caption" },
      `Stacked by dataset; dashed lines are percentiles of all chunks.${failed}`,
    ),
  );
}

function isGeometric(edges: number[]): boolean {
  const [a, b, c] = [edges[0] ?? 0, edges[1] ?? 0, edges[2] ?? 0];
  return edges.length > 3 && a > 0 && c - b > (b - a) * 1.001;
}

const shown = (runtimes: Runtimes, datasets: Datasets) =>
  runtimes.datasets.filter((one) => datasets.isShown(one.name));

function tallest(runtimes: Runtimes, datasets: Datasets): number {
  const sums = runtimes.edges_secs
    .slice(1)
    .map((_, bin) => shown(runtimes, datasets).reduce((sum, one) => sum + (one.counts[bin] ?? 0), 0));
  return Math.max(1, ...sums) * 1.05;
}

function drawBars(chart: uPlot, runtimes: Runtimes, datasets: Datasets): void {
  insideFrame(chart, (context) => {
    const floor = chart.bbox.top + chart.bbox.height;
    for (let bin = 0; bin + 1 < runtimes.edges_secs.length; bin += 1) {
      const left = chart.valToPos(runtimes.edges_secs[bin] ?? 0, "x", true);
      const right = chart.valToPos(runtimes.edges_secs[bin + 1] ?? 0, "x", true);
      const width = right > left ? Math.max(1, right - left - uPlot.pxRatio) : chart.bbox.width / 20;
      let bottom = floor;
      let sum = 0;
      for (const one of shown(runtimes, datasets)) {
        const chunks = one.counts[bin] ?? 0;
        if (chunks === 0) continue;
        sum += chunks;
        const top = Math.min(bottom - SMALLEST_BAR_PX * uPlot.pxRatio, chart.valToPos(sum, "y", true));
        context.fillStyle = datasets.colour(one.name);
        context.fillRect(left, top, width, bottom - top);
        bottom = top;
      }
    }
  });
}

/** Dashed lines, each with its name on top. */
function drawMarks(chart: uPlot, runtimes: Runtimes): void {
  const { ctx, bbox } = chart;
  const ratio = uPlot.pxRatio;
  const marks = (
    [
      ["p50", runtimes.p50_secs],
      ["p95", runtimes.p95_secs],
      ["p99", runtimes.p99_secs],
    ] as const
  ).flatMap(([name, secs]) =>
    secs === null ? [] : [{ name, x: chart.valToPos(secs, "x", true), text: `${name} ${seconds(secs)}` }],
  );
  ctx.save();
  ctx.font = canvasFont();
  ctx.textAlign = "left";
  ctx.textBaseline = "bottom";
  ctx.strokeStyle = colour("ink");
  ctx.fillStyle = colour("ink");
  ctx.lineWidth = ratio;
  ctx.setLineDash([4 * ratio, 3 * ratio]);
  const [left, right] = [bbox.left, bbox.left + bbox.width];
  const placed: { x: number; row: number }[] = [];
  // From the right: a name runs to the right of its line, above the names that it would meet.
  for (const mark of marks.filter(({ x }) => x >= left - 1 && x <= right + 1).reverse()) {
    const width = ctx.measureText(mark.text).width + 8 * ratio;
    const start = mark.x + width > right + 12 * ratio ? mark.x - width : mark.x;
    const meets = placed.filter((other) => other.x < start + width || start !== mark.x);
    const row = meets.reduce((most, other) => Math.max(most, other.row + 1), 0);
    placed.push({ x: start, row });
    ctx.beginPath();
    ctx.moveTo(mark.x, bbox.top - (row + 1) * MARK_ROW_PX * ratio);
    ctx.lineTo(mark.x, bbox.top + bbox.height);
    ctx.stroke();
    ctx.fillText(mark.text, start + 4 * ratio, bbox.top - (row * MARK_ROW_PX + 2) * ratio);
  }
  ctx.restore();
}

function describe(runtimes: Runtimes, datasets: Datasets, secs: number): TooltipContent | null {
  const bin = runtimes.edges_secs.findIndex(
    (edge, at) => secs >= edge && secs < (runtimes.edges_secs[at + 1] ?? edge),
  );
  if (bin < 0) return null;
  const counts = shown(runtimes, datasets).map((one) => [one.name, one.counts[bin] ?? 0] as const);
  const some = counts.filter(([, chunks]) => chunks > 0).sort((a, b) => b[1] - a[1]);
  if (some.length === 0) return null;
  const rest = some.slice(12).reduce((sum, [, chunks]) => sum + chunks, 0);
  return {
    title: `${seconds(runtimes.edges_secs[bin] ?? 0)} – ${seconds(runtimes.edges_secs[bin + 1] ?? 0)}`,
    lines: [
      ...some.slice(0, 12).map(([name, chunks]) => [name, `${count(chunks)} chunks`] as const),
      ...(rest > 0 ? [["others", `${count(rest)} chunks`] as const] : []),
    ],
  };
}

function summary(runtimes: Runtimes): string {
  const total = runtimes.datasets.reduce((sum, one) => sum + one.counts.reduce((a, b) => a + b, 0), 0);
  const marks = [
    ["half took at most", runtimes.p50_secs],
    ["95 % at most", runtimes.p95_secs],
    ["99 % at most", runtimes.p99_secs],
  ] as const;
  const said = marks.flatMap(([words, secs]) => (secs === null ? [] : [`${words} ${seconds(secs)}`]));
  return `Runtimes of ${count(total)} chunks${said.length > 0 ? `: ${said.join(", ")}` : ""}.`;
}
