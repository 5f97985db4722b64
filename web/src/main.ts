/** Puts the page together, from top to bottom. */

import { makeCharts } from "./chart";
import type { PageData, Panel } from "./data";
import { Datasets } from "./datasets";
import { element, missingBox, nameText, section } from "./dom";
import { histogramPanel } from "./histogram";
import { lanesPanel } from "./lanes";
import { ledgerPanel } from "./ledger";
import { metricsPanel, notesPanel, provenancePanel } from "./metrics";
import { advicePanel, overview } from "./overview";
import { openForPaper } from "./paper";
import { scatterPanel } from "./scatter";
import { sectionsPanel } from "./sections";
import { tablePanel } from "./table";
import { startTheme, themeButton } from "./theme";
import { TimeRange } from "./time_range";
import { timelinePanel } from "./timeline";

const FORMAT = 1;

function readPage(): PageData | string {
  const page = JSON.parse(document.getElementById("page-data")?.textContent ?? "{}") as Partial<PageData>;
  if (page.format === undefined)
    return "This page holds no run. Make one with: roastcoffea report DIR -o run.html";
  if (page.format !== FORMAT) return `This page cannot show data of format ${page.format}.`;
  return page as PageData;
}

function panel<T>(part: Panel<T>, draw: (data: T) => HTMLElement): HTMLElement {
  return "data" in part ? draw(part.data) : missingBox(part.missing);
}

function lastMoment(page: PageData): number {
  const timeline = "data" in page.timeline ? (page.timeline.data.time.at(-1) ?? 0) : 0;
  const lanes = "data" in page.lanes ? page.lanes.data.end_secs : 0;
  return Math.max(page.wall_secs ?? 0, timeline, lanes);
}

function parts(page: PageData): HTMLElement[] {
  const range = new TimeRange(lastMoment(page));
  const datasets = Datasets.of(page);
  const chunks = element(
    "div",
    { class: "side-by-side" },
    panel(page.runtimes, (data) => histogramPanel(data, datasets)),
    panel(page.scatter, (data) => scatterPanel(data, datasets)),
  );
  const sections = [
    overview(page),
    page.advice.length === 0 ? null : section("advice", "What to change", advicePanel(page.advice)),
    section("ledger", "Where the core-seconds went", panel(page.ledger, ledgerPanel)),
    section(
      "timeline",
      "The run over time",
      panel(page.timeline, (data) => timelinePanel(data, range)),
    ),
    section(
      "workers",
      "What each worker did when",
      panel(page.lanes, (data) => lanesPanel(data, range, datasets)),
    ),
    section("chunks", "Chunks", datasets.names.length > 0 ? datasets.legend(datasets.names) : null, chunks),
    section("sections", "Sections of your code", panel(page.sections, sectionsPanel)),
    page.tables.length === 0 ? null : section("tables", "Tables", ...page.tables.map(tablePanel)),
    page.metrics.length === 0 ? null : section("metrics", "All metrics", metricsPanel(page.metrics)),
    page.provenance.length === 0
      ? null
      : section("provenance", "Provenance", provenancePanel(page.provenance)),
    page.notes.length === 0 ? null : section("notes", "What limits these numbers", notesPanel(page.notes)),
  ];
  return sections.filter((one) => one !== null);
}

const SHORT_TITLES: Record<string, string> = {
  overview: "Overview",
  advice: "Advice",
  ledger: "Ledger",
  timeline: "Timeline",
  workers: "Workers",
  chunks: "Chunks",
  sections: "Sections",
  tables: "Tables",
  metrics: "Metrics",
  provenance: "Provenance",
  notes: "Notes",
};

function navigation(name: string, sections: HTMLElement[]): HTMLElement {
  const links = sections.map(({ id }) =>
    element("li", {}, element("a", { href: `#${id}` }, SHORT_TITLES[id] ?? id)),
  );
  return element(
    "header",
    { class: "top" },
    element("span", { class: "run" }, nameText(name)),
    element("nav", { "aria-label": "Parts of the report" }, element("ul", {}, ...links)),
    themeButton(),
  );
}

function start(): void {
  startTheme();
  const page = readPage();
  if (typeof page === "string") {
    document.body.append(element("main", {}, element("h1", {}, "roastcoffea"), missingBox(page)));
    return;
  }
  document.title = `${page.name.slice(0, 100)} · roastcoffea`;
  const sections = parts(page);
  document.body.append(navigation(page.name, sections), element("main", {}, ...sections));
  makeCharts();
  openForPaper();
}

start();
