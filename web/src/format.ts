/**
 * Numbers as people read them: a fitting prefix, three significant digits, whole
 * numbers in groups of three. The same rules as `crates/roast-report/src/units.rs`.
 */

import type { TableColumn, Unit } from "./data";

type Scales = readonly (readonly [scale: number, unit: string])[];

const BYTES: Scales = [
  [1, "B"],
  [1e3, "kB"],
  [1e6, "MB"],
  [1e9, "GB"],
  [1e12, "TB"],
  [1e15, "PB"],
];
const HERTZ: Scales = [
  [1, "Hz"],
  [1e3, "kHz"],
  [1e6, "MHz"],
  [1e9, "GHz"],
];
const BITS_PER_SEC: Scales = [
  [1, "bps"],
  [1e3, "kbps"],
  [1e6, "Mbps"],
  [1e9, "Gbps"],
  [1e12, "Tbps"],
];
const SHORT_TIMES: Scales = [
  [1e-6, "µs"],
  [1e-3, "ms"],
  [1, "s"],
];

export const MISSING = "–";

const groups = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });

/** Three significant digits; all digits before the point are kept. */
export function significant(number: number): string {
  if (!Number.isFinite(number)) return MISSING;
  if (number === 0) return "0";
  const size = Math.abs(Number(number.toPrecision(3)));
  if (size < 1e-4 || size >= 1e15) return number.toExponential(2);
  const decimals = Math.max(0, 2 - Math.floor(Math.log10(size)));
  return decimals === 0 ? groups.format(number) : number.toFixed(decimals);
}

export function count(number: number): string {
  return Number.isInteger(number) && Math.abs(number) < 1e15 ? groups.format(number) : significant(number);
}

function scaled(number: number, scales: Scales): string {
  const size = Math.abs(Number(number.toPrecision(3)));
  const [scale, unit] = scales.findLast(([least]) => size >= least * (1 - 1e-12)) ?? scales[0] ?? [1, ""];
  const digits = unit === "B" ? count(number) : significant(number / scale);
  return `${digits} ${unit}`;
}

export const bytes = (number: number): string => scaled(number, BYTES);
export const kilohertz = (number: number): string => (number === 0 ? "0 Hz" : scaled(number * 1e3, HERTZ));
export const percent = (number: number): string => `${significant(number)} %`;
export const share = (ratio: number): string => percent(ratio * 100);

/** Shares side by side read best with the same number of decimals. */
export function roundShare(ratio: number): string {
  const value = ratio * 100;
  if (value > 0 && value < 0.1) return "< 0.1 %";
  return value >= 9.95 ? `${value.toFixed(0)} %` : `${value.toFixed(1)} %`;
}

/** `h:mm:ss` from a minute on, and a fitting prefix below. */
export function seconds(secs: number): string {
  if (!Number.isFinite(secs)) return MISSING;
  const rounded = Math.abs(Number(secs.toPrecision(3)));
  if (rounded === 0) return "0 s";
  return rounded < 60 ? scaled(secs, SHORT_TIMES) : clock(secs);
}

/** A place on a time axis: `clock` where the axis reaches a minute, seconds where it does not. */
export function clock(secs: number): string {
  const whole = Math.round(Math.abs(secs));
  const two = (part: number) => String(part).padStart(2, "0");
  const sign = secs < 0 ? "-" : "";
  return `${sign}${count(Math.floor(whole / 3600))}:${two(Math.floor((whole % 3600) / 60))}:${two(whole % 60)}`;
}

export function coreSeconds(secs: number): string {
  return significant(secs);
}

/** A value of a timeline. */
export function inUnit(number: number, unit: Unit): string {
  switch (unit) {
    case "count":
      return count(number);
    case "percent":
      return percent(number);
    case "bytes":
      return bytes(number);
    case "seconds":
      return seconds(number);
    case "kilohertz":
      return kilohertz(number);
    case "gigabits_per_second":
      return number === 0 ? "0 bps" : scaled(number * 1e9, BITS_PER_SEC);
  }
}

/** The ticks of an axis: as in `inUnit`, without digits that say nothing. */
export function tick(number: number, unit: Unit): string {
  return inUnit(number, unit)
    .replace(/(\.\d*?)0+(?= |$)/, "$1")
    .replace(/\.(?= |$)/, "");
}

/** A cell of a table. */
export function inColumn(value: string | number | null, kind: TableColumn["kind"]): string {
  if (value === null) return MISSING;
  if (typeof value === "string") return value;
  switch (kind) {
    case "count":
    case "text":
      return count(value);
    case "number":
      return significant(value);
    case "bytes":
      return bytes(value);
    case "seconds":
      return seconds(value);
    case "share":
      return roundShare(value);
    case "khz":
      return kilohertz(value);
  }
}
