/**
 * What the page is given: the document that `crates/roast-report/src/page` writes.
 *
 * Everything is reduced before it comes here to what a screen can show. Times are
 * seconds from the start of the run, sizes are bytes, shares are fractions of 1.
 * Missing is `null`, never 0. Text is plain text, whoever wrote it.
 */

/** A part of the page, or a sentence on why it is not there and how to get it. */
export type Panel<T> = { data: T } | { missing: string };

export interface PageData {
  format: 1;
  /** The version of roastcoffea that wrote the page. */
  version: string;
  name: string;
  /** UTC, ISO 8601. */
  started: string | null;
  wall_secs: number | null;
  /** The exception that ended the run, if one did. */
  error: string | null;
  /** One sentence: what bounds the run, and the change worth most. */
  verdict: string;
  headline: Fact[];
  advice: Advice[];
  ledger: Panel<Ledger>;
  timeline: Panel<Timeline>;
  lanes: Panel<Lanes>;
  runtimes: Panel<Runtimes>;
  scatter: Panel<Scatter>;
  sections: Panel<SectionNode[]>;
  /** Datasets, files, branches, slow chunks, failures, workers: in the page's order. */
  tables: Table[];
  /** The families of metrics, already formatted. */
  metrics: MetricFamily[];
  provenance: [label: string, value: string][];
  /** What is missing or limited, and why. */
  notes: string[];
}

export interface Fact {
  key: string;
  label: string;
  /** With unit; `null` if missing. */
  value: string | null;
  note: string;
}

export interface Advice {
  rule: string;
  headline: string;
  action: string;
  evidence: { label: string; value: string }[];
  /** When the rule speaks. */
  threshold: string;
  gain: { core_secs: number | null; wall_secs_now: number | null; wall_secs_then: number | null } | null;
  /** Code to paste. */
  snippet: string | null;
}

export interface Ledger {
  total_core_secs: number;
  rows: LedgerRow[];
}

export interface LedgerRow {
  key: string;
  label: string;
  /** What the row means, for people who do not know the word. */
  note: string;
  /** Rows of one family share a hue. */
  family: "user" | "columns" | "setup" | "output" | "waste" | "overhead" | "idle" | "unexplained";
  core_secs: number;
  share: number;
}

/** All series share `time`: samples as they were, or bins that keep the extremes. */
export interface Timeline {
  time: number[];
  /** Width of a bin; `null` if the samples are as they were taken. */
  bin_secs: number | null;
  charts: TimelineChart[];
}

export type Unit = "count" | "percent" | "bytes" | "seconds" | "kilohertz" | "gigabits_per_second";

export interface TimelineChart {
  key: "workers" | "throughput" | "data_rate" | "cpu" | "memory" | "tasks" | "spill";
  title: string;
  unit: Unit;
  series: TimelineSeries[];
  /** Says how to get the chart where it has no series. */
  missing: string | null;
}

export interface TimelineSeries {
  label: string;
  /** A limit is drawn dashed. */
  kind: "value" | "limit";
  mean: (number | null)[];
  /** The band around the mean: over workers, and over the bin. */
  low: (number | null)[] | null;
  high: (number | null)[] | null;
}

/** What each worker did when: every interval of a small run, a raster of a large one. */
export type Lanes = IntervalLanes | RasterLanes;

export interface IntervalLanes {
  kind: "intervals";
  end_secs: number;
  /** `threads` is how many rows the worker's intervals need, at least its task threads. */
  workers: { name: string; host: string | null; threads: number }[];
  datasets: string[];
  files: string[];
  /** Columns of equal length, by lane and start. */
  lane: number[];
  /** Which thread of the worker, from 0; intervals of one thread never overlap. */
  thread: number[];
  start_secs: number[];
  duration_secs: number[];
  what: ("chunk" | "failed" | "reduce" | "transfer" | "other")[];
  /** Into `datasets` and `files`; `null` where it is not a chunk. */
  dataset: (number | null)[];
  file: (number | null)[];
  events: (number | null)[];
  entry_start: (number | null)[];
}

export interface RasterLanes {
  kind: "raster";
  end_secs: number;
  /** One row per worker, or per group of neighbours where there are too many. */
  rows: { name: string; workers: number }[];
  columns: number;
  /** base64 of rows × columns bytes, row by row: busy share of the row's threads, 0 to 254; 255 where no worker was there. */
  busy: string;
  /** The same shape: whether work failed there, 0 or 1. */
  failed: string;
}

/** Datasets stand in the same order as in `Scatter`; a last one may hold the rest of them. */
export interface Runtimes {
  /** One more than there are bins. */
  edges_secs: number[];
  datasets: { name: string; counts: number[] }[];
  p50_secs: number | null;
  p95_secs: number | null;
  p99_secs: number | null;
  failed: number;
}

/** Chunks as points; where there are more than a screen can show, the extremes are kept. */
export interface Scatter {
  total: number;
  datasets: string[];
  files: string[];
  events: number[];
  duration_secs: number[];
  dataset: number[];
  file: number[];
  entry_start: (number | null)[];
  /** The workers there are; points refer to them by `worker_index`. */
  worker: string[];
  worker_index: (number | null)[];
  /** Whether the attempt came to nothing. */
  failed: boolean[];
  /** Lines of constant rate that cross the data. */
  guide_rates_khz: number[];
}

export interface SectionNode {
  name: string;
  wall_secs: number;
  cpu_secs: number | null;
  /** Times it was entered. */
  count: number;
  chunks: number;
  children: SectionNode[];
}

export interface Table {
  key: "datasets" | "files" | "branches" | "chunks" | "failures" | "workers" | string;
  title: string;
  /** What the table does not say by itself. */
  note: string;
  columns: TableColumn[];
  rows: (string | number | null)[][];
  /** Rows there are; more than `rows` where only the heaviest are shown. */
  total_rows: number;
  /** Set where there are no rows: what is missing, and how to get it. */
  missing: string | null;
}

export interface TableColumn {
  key: string;
  label: string;
  kind: "text" | "count" | "number" | "bytes" | "seconds" | "share" | "khz";
  /** Explains the column. */
  note: string;
}

export interface MetricFamily {
  title: string;
  rows: { label: string; value: string | null; note: string }[];
  absent: string[];
}
