/**
 * Runs to try the page on: a plausible one, a large one, one with nothing in it, one
 * with a single chunk and no length, and one whose every name wants to do harm. The
 * plausible one is simulated, so that its parts agree with each other.
 */

import type {
  Advice,
  IntervalLanes,
  LedgerRow,
  PageData,
  SectionNode,
  Table,
  TimelineChart,
} from "../src/data";

/** A small generator of its own: the same run every time. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

interface Chunk {
  lane: number;
  thread: number;
  start: number;
  duration: number;
  dataset: number;
  file: number;
  events: number;
  entry_start: number;
  failed: boolean;
}

interface Shape {
  workers: number;
  threads: number;
  chunks: number;
  datasets: string[];
  files_per_dataset: number;
  seed: number;
}

function simulate(shape: Shape): { chunks: Chunk[]; files: string[]; end_secs: number } {
  const draw = random(shape.seed);
  const files = shape.datasets.flatMap((name, dataset) =>
    Array.from(
      { length: shape.files_per_dataset },
      (_, at) => `root://eospublic.cern.ch//eos/opendata/cms/mc/${name}/nano_${dataset}_${at}.root`,
    ),
  );
  const free = Array.from({ length: shape.workers * shape.threads }, (_, slot) => ({
    lane: Math.floor(slot / shape.threads),
    thread: slot % shape.threads,
    at: 3 + Math.floor(slot / shape.threads) * 0.7 + draw(),
  }));
  const chunks: Chunk[] = [];
  for (let at = 0; at < shape.chunks; at += 1) {
    const slot = free.reduce((first, one) => (one.at < first.at ? one : first));
    const dataset = Math.floor(draw() ** 1.4 * shape.datasets.length);
    const straggler = at === shape.chunks - 5 || draw() < 0.01;
    const events = draw() < 0.8 ? 100_000 : Math.round(20_000 + draw() * 80_000);
    const rate = (18 + dataset * 7) * 1e3 * (0.75 + 0.5 * draw());
    const failed = draw() < 0.015;
    const duration = (0.4 + events / rate) * (straggler ? 3.5 : 1) * (failed ? 0.5 : 1);
    const file = dataset * shape.files_per_dataset + Math.floor(draw() * shape.files_per_dataset);
    const entry_start = Math.floor(draw() * 9) * 100_000;
    chunks.push({ ...slot, start: slot.at, duration, dataset, file, events, entry_start, failed });
    slot.at += duration + 0.05 + draw() * 0.15;
  }
  const end_secs = Math.max(...free.map((one) => one.at)) + 4;
  return { chunks, files, end_secs };
}

const quantile = (sorted: number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;

function ledger(total: number): PageData["ledger"] {
  const rows: [string, string, LedgerRow["family"], number, string][] = [
    ["user_cpu", "your code, on CPU", "user", 0.412, "Your processor's own code, running."],
    [
      "user_wait",
      "your code, waiting",
      "user",
      0.031,
      "Your processor's own code, waiting for something other than columns.",
    ],
    [
      "user_run_queue_wait",
      "your code, waiting for a core",
      "user",
      0.012,
      "Ready to run, but no core was free.",
    ],
    ["column_read", "reading columns", "columns", 0.138, "Waiting for bytes of branches from storage."],
    ["decompress", "decompressing", "columns", 0.094, "Unpacking baskets."],
    ["interpret", "interpreting", "columns", 0.047, "Making arrays of what was unpacked."],
    ["file_open", "opening files", "setup", 0.028, "From the request to an open file."],
    ["tree_metadata", "tree metadata", "setup", 0.041, "Reading the description of the tree."],
    ["events_form", "building events", "setup", 0.017, "Building the events object from its form."],
    ["serialize_output", "packing output", "output", 0.006, "Serializing and compressing a chunk's output."],
    ["reduction", "merging outputs", "output", 0.013, "Adding outputs up."],
    ["transfer", "transfer", "output", 0.004, "Moving results between workers."],
    ["failed_work", "failed work", "waste", 0.018, "Work that had to be done again, or never succeeded."],
    ["overhead", "worker overhead", "overhead", 0.022, "Inside tasks, but not in your code."],
    [
      "idle_ramp_up",
      "waiting for the first task",
      "idle",
      0.021,
      "Workers that were there before their first task.",
    ],
    ["idle_starved", "starved", "idle", 0.008, "Idle while tasks were waiting to be handed out."],
    [
      "idle_tail",
      "waiting for the last tasks",
      "idle",
      0.053,
      "Nothing left to start while others still ran.",
    ],
    ["idle_client", "client at work", "idle", 0.019, "The client was preparing or finishing."],
    ["unexplained", "unexplained", "unexplained", 0.016, "What no record accounts for."],
  ];
  return {
    data: {
      total_core_secs: total,
      rows: rows.map(([key, label, family, share, note]) => ({
        key,
        label,
        family,
        share,
        note,
        core_secs: share * total,
      })),
    },
  };
}

function charts(shape: Shape, chunks: Chunk[], time: number[]): TimelineChart[] {
  const draw = random(shape.seed + 1);
  const threads = shape.workers * shape.threads;
  const running = time.map(
    (from) => chunks.filter((chunk) => chunk.start <= from && chunk.start + chunk.duration > from).length,
  );
  const busy = running.map((count) => Math.min(1, count / threads));
  const workers = time.map((secs) => Math.min(shape.workers, Math.max(0, Math.floor((secs - 1) / 0.7))));
  const cpu = busy.map((value) => 6 + value * (68 + 14 * draw()));
  const memory = busy.map((value, at) => (0.6 + 0.9 * value + 0.5 * Math.min(1, at / time.length)) * 1e9);
  const around = (values: number[], by: number, most = Number.POSITIVE_INFINITY) => ({
    low: values.map((value) => Math.max(0, value * (1 - by * (0.5 + draw())))),
    high: values.map((value) => Math.min(most, value * (1 + by * (0.5 + draw())))),
  });
  const rate = busy.map((value, at) => (at % 97 === 50 ? null : value * threads * 21 * (0.8 + 0.4 * draw())));
  const line = (label: string, mean: (number | null)[], more: object = {}) =>
    ({ label, kind: "value", mean, low: null, high: null, ...more }) as TimelineChart["series"][number];
  return [
    { key: "workers", title: "Workers", unit: "count", series: [line("workers", workers)], missing: null },
    {
      key: "throughput",
      title: "Throughput",
      unit: "kilohertz",
      series: [line("events", rate)],
      missing: null,
    },
    {
      key: "cpu",
      title: "CPU per worker",
      unit: "percent",
      series: [line("mean over workers", cpu, around(cpu, 0.2, 100))],
      missing: null,
    },
    {
      key: "memory",
      title: "Memory per worker",
      unit: "bytes",
      series: [
        line("mean over workers", memory, around(memory, 0.15)),
        line(
          "limit",
          time.map(() => 3e9),
          { kind: "limit" },
        ),
      ],
      missing: null,
    },
    {
      key: "tasks",
      title: "Tasks",
      unit: "count",
      series: [
        line("executing", running),
        line(
          "threads",
          workers.map((count) => count * shape.threads),
        ),
      ],
      missing: null,
    },
    {
      key: "spill",
      title: "Spilled to disk",
      unit: "bytes",
      series: [],
      missing: "No worker wrote anything to disk.",
    },
  ];
}

const ADVICE: Advice[] = [
  {
    rule: "stragglers",
    headline: "A few slow chunks keep everyone waiting at the end",
    action: "Use smaller chunks, so that the last ones to finish are shorter.",
    evidence: [
      { label: "Idle while the last tasks ran", value: "5.3 % of core time" },
      { label: "Longest chunk", value: "17.9 s, 4.1 times the median" },
    ],
    threshold: "the idle tail is above 5 % of the core-seconds",
    gain: { core_secs: 71.3, wall_secs_now: 158, wall_secs_then: 143 },
    snippet:
      "runner = processor.Runner(\n    executor=executor,\n    schema=NanoAODSchema,\n    chunksize=50_000,\n)",
  },
  {
    rule: "column_read",
    headline: "Reading columns waits for storage",
    action: "Read the files from a cache close to the workers.",
    evidence: [{ label: "Waiting for bytes", value: "13.8 % of core time" }],
    threshold: "waiting for bytes is above 10 % of the core-seconds",
    gain: { core_secs: 186, wall_secs_now: null, wall_secs_then: null },
    snippet: null,
  },
];

function tables(shape: Shape, chunks: Chunk[], files: string[], rows: number): Table[] {
  const draw = random(shape.seed + 2);
  const column = (key: string, label: string, kind: Table["columns"][number]["kind"], note = "") => ({
    key,
    label,
    kind,
    note,
  });
  const spent = chunks.reduce((sum, chunk) => sum + chunk.duration, 0);
  const table = (
    key: string,
    title: string,
    note: string,
    columns: Table["columns"],
    cells: Table["rows"],
    missing: string | null = null,
  ): Table => ({ key, title, note, columns, rows: cells, total_rows: cells.length, missing });
  const sums = (mine: Chunk[]) => {
    const secs = mine.reduce((sum, chunk) => sum + chunk.duration, 0);
    const events = mine.reduce((sum, chunk) => sum + chunk.events, 0);
    return { secs, events };
  };
  const datasets = shape.datasets.map((name, at) => {
    const mine = chunks.filter((chunk) => chunk.dataset === at);
    const { secs, events } = sums(mine);
    return [
      name,
      mine.length,
      events,
      secs,
      secs / spent,
      secs > 0 ? events / secs / 1e3 : null,
      events * 3100,
    ];
  });
  const by_file = files.slice(0, rows).map((name, at) => {
    const mine = chunks.filter((chunk) => chunk.file === at);
    const { secs, events } = sums(mine);
    return [name, mine.length, events, events * 3100, secs, secs / spent];
  });
  const branches = Array.from({ length: Math.min(rows, 1000) }, (_, at) => {
    const part = 1 / (at + 2) ** 1.3;
    return [
      `${["Jet", "Muon", "Electron", "Tau"][at % 4]}_${["pt", "eta", "phi", "mass", "btag"][at % 5]}${at > 19 ? at : ""}`,
      files.length,
      part * spent * 0.2,
      part * 3e9,
      part,
      draw() < 0.1 ? null : 2 + draw() * 3,
    ];
  });
  const slow = [...chunks].sort((a, b) => b.duration - a.duration).slice(0, Math.min(rows, 20));
  const lost = chunks.filter((chunk) => chunk.failed);
  return [
    table(
      "datasets",
      "Datasets",
      "",
      [
        column("name", "Dataset", "text"),
        column("chunks", "Chunks", "count"),
        column("events", "Events", "count"),
        column("secs", "Time", "seconds", "Summed over chunks"),
        column("share", "Share", "share", "Of the time of all chunks"),
        column("rate", "Rate", "khz", "Per thread"),
        column("bytes", "Read", "bytes"),
      ],
      datasets,
    ),
    {
      ...table(
        "files",
        "Files",
        "The files that took the most time.",
        [
          column("name", "File", "text"),
          column("chunks", "Chunks", "count"),
          column("events", "Events", "count"),
          column("bytes", "Read", "bytes"),
          column("secs", "Time", "seconds"),
          column("share", "Share", "share"),
        ],
        by_file,
      ),
      total_rows: files.length,
    },
    table(
      "branches",
      "Branches",
      "What reading each branch cost.",
      [
        column("name", "Branch", "text"),
        column("files", "Files", "count", "Read from how many files"),
        column("secs", "Time", "seconds"),
        column("bytes", "Bytes", "bytes"),
        column("share", "Share", "share"),
        column("ratio", "Compression", "number"),
      ],
      branches,
    ),
    table(
      "chunks",
      "Slowest chunks",
      "",
      [
        column("dataset", "Dataset", "text"),
        column("file", "File", "text"),
        column("first", "First entry", "count"),
        column("events", "Events", "count"),
        column("secs", "Runtime", "seconds"),
      ],
      slow.map((chunk) => [
        shape.datasets[chunk.dataset] ?? "",
        files[chunk.file] ?? "",
        chunk.entry_start,
        chunk.events,
        chunk.duration,
      ]),
    ),
    table(
      "failures",
      "Failures and retries",
      "",
      [column("error", "Error", "text"), column("file", "File", "text"), column("secs", "Lost", "seconds")],
      lost.map((chunk) => ["OSError", files[chunk.file] ?? "", chunk.duration]),
      "No chunk failed.",
    ),
    table(
      "workers",
      "Workers",
      "",
      [
        column("name", "Worker", "text"),
        column("threads", "Threads", "count"),
        column("chunks", "Chunks", "count"),
        column("busy", "Busy", "share"),
        column("memory", "Peak memory", "bytes"),
      ],
      Array.from({ length: Math.min(rows, shape.workers) }, (_, lane) => [
        `tcp://10.0.0.${lane + 2}:3${lane}21`,
        shape.threads,
        chunks.filter((chunk) => chunk.lane === lane).length,
        0.7 + 0.2 * draw(),
        1.5e9 + draw() * 1e9,
      ]),
    ),
  ];
}

function sections(): SectionNode[] {
  const node = (
    name: string,
    wall_secs: number,
    cpu: number | null,
    children: SectionNode[] = [],
  ): SectionNode => ({
    name,
    wall_secs,
    cpu_secs: cpu === null ? null : wall_secs * cpu,
    count: 240,
    chunks: 240,
    children,
  });
  return [
    node("process", 610, 0.82, [
      node("select jets", 205, 0.71, [node("clean", 88, 0.9), node("tag", 61, 0.55)]),
      node("systematics", 241, 0.88, [
        node("jes up", 101, 0.93),
        node("jes down", 97, 0.93),
        node("weights", 22, null),
      ]),
      node("fill histograms", 112, 0.97),
    ]),
    node("write skim", 47, 0.21),
  ];
}

export function runOf(shape: Shape, bins: number, rows: number): PageData {
  const { chunks, files, end_secs } = simulate(shape);
  const bin = end_secs / bins;
  const time = Array.from({ length: bins }, (_, at) => at * bin);
  const good = chunks.filter((chunk) => !chunk.failed);
  const sorted = good.map((chunk) => chunk.duration).sort((a, b) => a - b);
  const longest = sorted.at(-1) ?? 1;
  const edges = Array.from({ length: 41 }, (_, at) => (at * longest * 1.0001) / 40);
  const by_lane = [...chunks].sort((a, b) => a.lane - b.lane || a.start - b.start);
  const merged = Array.from({ length: shape.workers }, (_, lane) => lane);
  const lanes: IntervalLanes = {
    kind: "intervals",
    end_secs,
    workers: merged.map((lane) => ({
      name: `tcp://10.0.0.${lane + 2}:3${lane}21`,
      host: `node${lane}.example.org`,
      threads: shape.threads,
    })),
    datasets: shape.datasets,
    files,
    lane: [...by_lane.map((chunk) => chunk.lane), ...merged],
    thread: [...by_lane.map((chunk) => chunk.thread), ...merged.map(() => 0)],
    start_secs: [...by_lane.map((chunk) => chunk.start), ...merged.map(() => end_secs - 3)],
    duration_secs: [...by_lane.map((chunk) => chunk.duration), ...merged.map((lane) => 0.6 + lane * 0.2)],
    what: [
      ...by_lane.map((chunk) => (chunk.failed ? ("failed" as const) : ("chunk" as const))),
      ...merged.map((lane) => (lane % 2 ? ("transfer" as const) : ("reduce" as const))),
    ],
    dataset: [...by_lane.map((chunk) => chunk.dataset), ...merged.map(() => null)],
    file: [...by_lane.map((chunk) => chunk.file), ...merged.map(() => null)],
    events: [...by_lane.map((chunk) => chunk.events), ...merged.map(() => null)],
    entry_start: [...by_lane.map((chunk) => chunk.entry_start), ...merged.map(() => null)],
  };
  const points = [...good.slice(0, 5000), ...chunks.filter((chunk) => chunk.failed)].slice(-5000);
  const fact = (key: string, label: string, value: string | null, note = "") => ({ key, label, value, note });
  return {
    format: 1,
    version: "1.0.0",
    name: "ttbar-2026-11",
    started: "2026-11-14T09:12:44Z",
    wall_secs: end_secs,
    error: null,
    verdict:
      "Your own code bounds this run (46 % of core time); smaller chunks would save most, about 15 s of wall time.",
    headline: [
      fact("wall", "Wall time", `${end_secs.toFixed(0)} s`),
      fact("events", "Events", good.reduce((sum, chunk) => sum + chunk.events, 0).toLocaleString("en-US")),
      fact("rate", "Event rate", "134 kHz", "16.8 kHz per core"),
      fact("data", "Data rate", "3.32 Gbps"),
      fact("efficiency", "CPU efficiency", "71.2 %", "of the cores' time in your code and in reading"),
      fact("memory", "Peak memory", "2.41 GB", "80 % of a worker's limit"),
      fact("failures", "Failed chunks", String(chunks.length - good.length), "all were tried again"),
    ],
    advice: ADVICE,
    ledger: ledger(end_secs * shape.workers * shape.threads),
    timeline: { data: { time, bin_secs: bins > 600 ? bin : null, charts: charts(shape, chunks, time) } },
    lanes: { data: lanes },
    runtimes: {
      data: {
        edges_secs: edges,
        datasets: shape.datasets.map((name, at) => ({
          name,
          counts: edges
            .slice(1)
            .map(
              (edge, bin_at) =>
                good.filter(
                  (chunk) =>
                    chunk.dataset === at && chunk.duration >= (edges[bin_at] ?? 0) && chunk.duration < edge,
                ).length,
            ),
        })),
        p50_secs: quantile(sorted, 0.5),
        p95_secs: quantile(sorted, 0.95),
        p99_secs: quantile(sorted, 0.99),
        failed: chunks.length - good.length,
      },
    },
    scatter: {
      data: {
        total: Math.max(good.length, points.length),
        datasets: shape.datasets,
        files,
        events: points.map((chunk) => chunk.events),
        duration_secs: points.map((chunk) => chunk.duration),
        dataset: points.map((chunk) => chunk.dataset),
        file: points.map((chunk) => chunk.file),
        entry_start: points.map((chunk) => chunk.entry_start),
        failed: points.map((chunk) => chunk.failed),
        worker: lanes.workers.map((worker) => worker.name),
        worker_index: points.map((chunk) => chunk.lane),
        guide_rates_khz: [10, 25, 50],
      },
    },
    sections: { data: sections() },
    tables: tables(shape, chunks, files, rows),
    metrics: [
      {
        title: "Throughput",
        rows: [
          { label: "Event rate", value: "134 kHz", note: "Events over wall time" },
          { label: "Data rate", value: null, note: "Bytes over wall time" },
        ],
        absent: ["Network bandwidth"],
      },
      {
        title: "Timing",
        rows: [{ label: "Wall time", value: "0:02:48", note: "From start to end" }],
        absent: [],
      },
    ],
    provenance: [
      ["coffea", "2026.9.0"],
      ["dask", "2026.9.1"],
      ["Python", "3.11.7"],
      ["Host", "login3.example.org"],
    ],
    notes: [
      "Two workers left before they reported their spans.",
      "Bytes are ranges requested from storage, not bytes on the network.",
    ],
  };
}

export const plausible = (): PageData =>
  runOf(
    {
      workers: 4,
      threads: 2,
      chunks: 240,
      datasets: ["TTJets_13TeV", "WJetsToLNu", "SingleMuon_Run2018A"],
      files_per_dataset: 8,
      seed: 7,
    },
    168,
    60,
  );

export function large(): PageData {
  const datasets = Array.from(
    { length: 14 },
    (_, at) => `Dataset_${at}_13TeV-powheg-pythia8_RunIISummer20UL18`,
  );
  const run = runOf(
    { workers: 400, threads: 2, chunks: 9000, datasets, files_per_dataset: 90, seed: 11 },
    1500,
    1000,
  );
  const [rows, columns] = [400, 1000];
  const draw = random(3);
  const end_secs = run.wall_secs ?? 1;
  const busy = new Uint8Array(rows * columns).map((_, at) => {
    const [row, column] = [Math.floor(at / columns), at % columns];
    if (column < row / 8) return 255;
    if (column > 900 && draw() < (column - 900) / 90) return 0;
    return row % 37 === 5 ? Math.floor(draw() * 60) : 150 + Math.floor(draw() * 104);
  });
  const failed = new Uint8Array(rows * columns).map((_, at) => (at % 23_456 === 777 ? 1 : 0));
  run.lanes = {
    data: {
      kind: "raster",
      end_secs,
      rows: Array.from({ length: rows }, (_, row) => ({ name: `tcp://10.0.${row}.2:3421`, workers: 2 })),
      columns,
      busy: Buffer.from(busy).toString("base64"),
      failed: Buffer.from(failed).toString("base64"),
    },
  };
  if ("data" in run.scatter) run.scatter.data.total = 250_000;
  run.name = "a large run";
  return run;
}

const nothing = (what: string) => ({
  missing: `There is no ${what} in this measurement: use MetricsCollector(runner) to get it.`,
});

export function empty(): PageData {
  return {
    format: 1,
    version: "",
    name: "",
    started: null,
    wall_secs: null,
    error: "RuntimeError: the cluster went away",
    verdict: "",
    headline: [{ key: "wall", label: "Wall time", value: null, note: "" }],
    advice: [],
    ledger: nothing("ledger"),
    timeline: nothing("timeline"),
    lanes: nothing("worker view"),
    runtimes: nothing("runtime"),
    scatter: nothing("chunk"),
    sections: nothing("section"),
    tables: [
      {
        key: "files",
        title: "Files",
        note: "",
        columns: [],
        rows: [],
        total_rows: 0,
        missing: "No file was opened.",
      },
    ],
    metrics: [],
    provenance: [],
    notes: [],
  };
}

/** One sample, one chunk, no time at all. */
export function single(): PageData {
  const run = runOf(
    { workers: 1, threads: 1, chunks: 1, datasets: ["one"], files_per_dataset: 1, seed: 1 },
    1,
    1,
  );
  run.wall_secs = 0;
  if ("data" in run.lanes && run.lanes.data.kind === "intervals") {
    run.lanes.data.end_secs = 0;
    run.lanes.data.start_secs = [0, 0];
    run.lanes.data.duration_secs = [0, 0];
  }
  if ("data" in run.runtimes) run.runtimes.data.edges_secs = run.runtimes.data.edges_secs.map(() => 0);
  if ("data" in run.scatter) Object.assign(run.scatter.data, { duration_secs: [0], events: [0] });
  run.sections = { data: [{ name: "", wall_secs: 0, cpu_secs: 0, count: 0, chunks: 0, children: [] }] };
  run.ledger = { data: { total_core_secs: 0, rows: [] } };
  return run;
}

export const HOSTILE = [
  `<script>alert(1)</script>`,
  `</script><script>alert(2)</script>`,
  `<!-- <img src=x onerror=alert(3)>`,
  `"quoted" 'twice' \`thrice\` & more`,
  `javascript:alert(4)`,
  `🎉 Ünïcödé ☕ 日本語`,
  `مرحبا ‮ reversed`,
  `line\u2028separator\u2029`,
  `name${"x".repeat(10_000)}`,
];

/** Every text that a user may choose is replaced, in turn, by something nasty. */
export function hostile(): PageData {
  const run = runOf(
    { workers: 4, threads: 2, chunks: 90, datasets: HOSTILE, files_per_dataset: 1, seed: 5 },
    40,
    60,
  );
  let at = 0;
  const next = () => HOSTILE[at++ % HOSTILE.length] ?? "";
  const KEPT = new Set(["kind", "family", "unit", "key", "what", "rule", "busy", "failed"]);
  const spoil = (value: unknown, key: string): unknown => {
    if (typeof value === "string") return KEPT.has(key) ? value : next();
    if (Array.isArray(value)) return value.map((one) => spoil(one, key));
    if (value && typeof value === "object")
      return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, spoil(one, name)]));
    return value;
  };
  const datasets = (page: PageData) => {
    if ("data" in page.runtimes)
      page.runtimes.data.datasets.forEach((one, index) => {
        one.name = HOSTILE[index] ?? "";
      });
    if ("data" in page.scatter) page.scatter.data.datasets = HOSTILE;
    if ("data" in page.lanes && page.lanes.data.kind === "intervals") page.lanes.data.datasets = HOSTILE;
    return page;
  };
  return datasets(spoil(run, "") as PageData);
}
