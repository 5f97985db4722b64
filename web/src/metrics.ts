/** The families of metrics, what the run was made with, and what limits the numbers. */

import type { MetricFamily, PageData } from "./data";
import { element, nameText } from "./dom";
import { MISSING } from "./format";

export function metricsPanel(families: MetricFamily[]): HTMLElement {
  return element("div", { class: "families-of-metrics" }, ...families.map(family));
}

function family({ title, rows, absent }: MetricFamily): HTMLElement {
  const lines = rows.map(({ label, value, note }) =>
    element(
      "tr",
      {},
      element("th", { scope: "row" }, nameText(label)),
      element("td", { class: value === null ? "number quiet" : "number" }, value ?? MISSING),
      element("td", { class: "note" }, element("div", {}, note)),
    ),
  );
  return element(
    "details",
    {},
    element("summary", {}, title, " ", element("span", { class: "quiet" }, String(rows.length))),
    element("table", { class: "metrics" }, element("tbody", {}, ...lines)),
    absent.length === 0 ? null : element("p", { class: "caption" }, `Not measured: ${absent.join(", ")}.`),
  );
}

export function provenancePanel(provenance: PageData["provenance"]): HTMLElement {
  const pairs = provenance.map(([label, value]) =>
    element(
      "div",
      {},
      element("dt", {}, label),
      element("dd", { dir: "auto" }, value === "" ? MISSING : value),
    ),
  );
  return element("dl", { class: "pairs provenance" }, ...pairs);
}

export function notesPanel(notes: string[]): HTMLElement {
  return element("ul", { class: "notes" }, ...notes.map((note) => element("li", { dir: "auto" }, note)));
}
