/**
 * The run over time: one chart below the other on one time axis. A line is the mean,
 * the band around it reaches from the lowest to the highest value, a limit is dashed.
 */

import uPlot from "uplot";
import { axis, followTime, mountChart, onceOnPage, sideWidth, timeAxis, timeOptions } from "./chart";
import type { Timeline, TimelineChart, TimelineSeries, Unit } from "./data";
import { element, missingBox, nameText } from "./dom";
import { inUnit, MISSING, seconds, tick } from "./format";
import { colour, seriesVariable } from "./theme";
import { timeGroup } from "./time_controls";
import type { TimeRange } from "./time_range";

const PLOT_HEIGHT_PX = 96;
const AXIS_HEIGHT_PX = 22;
const FEW_SAMPLES = 30;
const FAR_LIMIT = 4;

export function timelinePanel(timeline: Timeline, range: TimeRange): HTMLElement {
  const { time, charts } = timeline;
  if (time.length === 0) return missingBox("No samples were taken over time.");
  const drawn = charts.filter((chart) => chart.series.length > 0);
  const last = drawn.at(-1);
  const parts = charts.map((chart) =>
    chart.series.length > 0
      ? timelineChart(timeline, chart, range, chart === last)
      : element("div", { class: "chart" }, heading(chart), missingBox(chart.missing ?? "Not recorded.")),
  );
  const sampling =
    timeline.bin_secs === null
      ? `${time.length === 1 ? "One sample" : `${time.length.toLocaleString("en-US")} samples`}, as they were taken.`
      : `Each step is ${seconds(timeline.bin_secs)} long; bands keep the extremes within it.`;
  return timeGroup(
    range,
    "The run over time",
    ...parts,
    element("p", { class: "caption" }, `Lines are means; bands reach from lowest to highest. ${sampling}`),
  );
}

function heading(chart: TimelineChart, ...readouts: Node[]): HTMLElement {
  return element("div", { class: "chart-head" }, element("h3", {}, chart.title), ...readouts);
}

/** What one series says at a sample, and its peak while the mouse is elsewhere. */
function readout(
  series: TimelineSeries,
  unit: Unit,
  variable: string,
  top: number,
): { node: HTMLElement; show: (at: number | null) => void } {
  const value = element("b");
  const swatch = element("i", { class: series.kind === "limit" ? "swatch dashed" : "swatch" });
  swatch.style.color = `var(--${variable})`;
  const node = element("span", { class: "readout" }, swatch, nameText(series.label), value);
  const peak = peakOf(series);
  const text = (number: number | null | undefined) => (number == null ? MISSING : inUnit(number, unit));
  const show = (at: number | null) => {
    if (at === null) {
      const off_chart = peak !== null && peak > top ? ", above the chart" : "";
      value.textContent =
        series.kind === "limit" || peak === null ? `${text(peak)}${off_chart}` : `peak ${text(peak)}`;
      return;
    }
    const low = series.low?.[at];
    const high = series.high?.[at];
    const band = low != null && high != null && low !== high ? ` (${text(low)} – ${text(high)})` : "";
    value.textContent = `${text(series.mean[at])}${band}`;
  };
  show(null);
  return { node, show };
}

function peakOf(series: TimelineSeries): number | null {
  let peak: number | null = null;
  for (const values of [series.mean, series.high ?? []]) {
    for (const value of values) if (value !== null && (peak === null || value > peak)) peak = value;
  }
  return peak;
}

const COUNT_STEPS = [1, 2, 5]
  .flatMap((digit) => Array.from({ length: 12 }, (_, power) => digit * 10 ** power))
  .sort((a, b) => a - b);

function timelineChart(
  timeline: Timeline,
  chart: TimelineChart,
  range: TimeRange,
  labelled: boolean,
): HTMLElement {
  const { time } = timeline;
  const data: (number | null)[][] = [time];
  const series: uPlot.Series[] = [{}];
  const bands: uPlot.Band[] = [];
  const stepped = uPlot.paths.stepped?.({ align: 1 });
  const shape = chart.unit === "count" && stepped ? { paths: stepped } : {};
  const readouts: ReturnType<typeof readout>[] = [];
  let values = 0;
  for (const one of chart.series) {
    const index = one.kind === "limit" ? -1 : values++;
    const variable = index < 0 ? "limit" : seriesVariable(index);
    const paint = () => colour(variable);
    readouts.push(readout(one, chart.unit, variable, topOf(chart)));
    if (one.low && one.high) {
      const at = data.length;
      data.push(one.high, one.low);
      series.push({ ...shape, points: { show: false } }, { ...shape, points: { show: false } });
      bands.push({ series: [at, at + 1], fill: () => `${paint()}38` });
    }
    data.push(one.mean);
    series.push({
      ...shape,
      stroke: paint,
      width: 1.5,
      ...(index < 0 ? { dash: [6, 4] } : {}),
      points: { size: 5, fill: paint, show: time.length === 1 || (index >= 0 && time.length <= FEW_SAMPLES) },
    });
  }
  const top = topOf(chart);
  const { x, hooks, ...time_options } = timeOptions(range);
  const host = element("div");
  const part = element(
    "div",
    { class: "chart", "data-chart": chart.key },
    heading(chart, ...readouts.map((one) => one.node)),
    host,
  );
  onceOnPage(() => {
    const plot = mountChart(
      host,
      summary(chart),
      {
        ...time_options,
        height: PLOT_HEIGHT_PX + (labelled ? AXIS_HEIGHT_PX : 0),
        scales: { x, y: { range: [0, top] } },
        series,
        bands,
        axes: [
          timeAxis(labelled),
          axis({
            size: sideWidth,
            space: 26,
            values: (_, ticks) => ticks.map((value) => tick(value, chart.unit)),
            ...(chart.unit === "count" ? { incrs: COUNT_STEPS } : {}),
          }),
        ],
        hooks: {
          ...hooks,
          setCursor: [
            (self) => {
              const at = self.cursor.left != null && self.cursor.left >= 0 ? (self.cursor.idx ?? null) : null;
              for (const one of readouts) one.show(at);
            },
          ],
        },
      },
      data as uPlot.AlignedData,
    );
    followTime(plot, range);
  });
  return part;
}

/** A limit far above everything would press the rest onto the floor: it is only named then. */
function topOf(chart: TimelineChart): number {
  const peak = (kind: TimelineSeries["kind"]) =>
    Math.max(0, ...chart.series.filter((one) => one.kind === kind).map((one) => peakOf(one) ?? 0));
  const [value, limit] = [peak("value"), peak("limit")];
  if (chart.unit === "percent") return Math.max(100, value, limit);
  const highest = value > 0 && limit > FAR_LIMIT * value ? value * 1.5 : Math.max(value, limit);
  return highest > 0 ? highest * 1.06 : 1;
}

function summary(chart: TimelineChart): string {
  const parts = chart.series.map((one) => {
    const peak = peakOf(one);
    return `${one.label} ${peak === null ? "unknown" : `up to ${inUnit(peak, chart.unit)}`}`;
  });
  return `${chart.title} over time: ${parts.join(", ")}.`;
}
