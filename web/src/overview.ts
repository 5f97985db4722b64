/** What people read first: the verdict, the headline numbers, and what to change. */

import type { Advice, Fact, PageData } from "./data";
import { button, element, nameText, prose } from "./dom";
import { coreSeconds, MISSING, roundShare, seconds } from "./format";

export function overview(page: PageData): HTMLElement {
  const when = [
    page.started === null
      ? null
      : `started ${page.started.replace("T", " ").replace(/(\.\d+)?(Z|\+00:00)$/, " UTC")}`,
    page.wall_secs === null ? null : `took ${seconds(page.wall_secs)}`,
    page.version === "" ? null : `roastcoffea ${page.version}`,
  ].filter((part) => part !== null);
  return element(
    "section",
    { id: "overview", "aria-labelledby": "overview-title" },
    element("h1", { id: "overview-title" }, nameText(page.name)),
    element("p", { class: "when" }, when.join(" · ")),
    page.error === null
      ? null
      : element(
          "p",
          { class: "error", role: "alert", tabindex: "0" },
          element("strong", {}, "The run was ended by an error. "),
          page.error,
        ),
    page.verdict === "" ? null : element("p", { class: "verdict", dir: "auto" }, ...prose(page.verdict)),
    page.headline.length === 0 ? null : element("dl", { class: "tiles" }, ...page.headline.map(tile)),
  );
}

function tile(fact: Fact): HTMLElement {
  return element(
    "div",
    { class: "tile", "data-fact": fact.key },
    element("dt", {}, fact.label),
    fact.value === null
      ? element("dd", { class: "value quiet" }, MISSING)
      : element("dd", { class: valueClass(fact.value) }, fact.value),
    fact.note === "" ? null : element("dd", { class: "note" }, fact.note),
  );
}

/** Long numbers are set smaller rather than broken. */
function valueClass(value: string): string {
  return value.length > 12 ? "value longest" : value.length > 8 ? "value long" : "value";
}

export function advicePanel(advice: Advice[]): Node {
  const cards = advice.map((one, at) =>
    element(
      "li",
      { class: "card", "data-rule": one.rule },
      element(
        "h3",
        {},
        element("span", { class: "rank", "aria-hidden": "true" }, String(at + 1)),
        element("span", {}, ...prose(one.headline)),
      ),
      element("p", { class: "action" }, ...prose(one.action)),
      gain(one),
      one.snippet === null ? null : snippet(one.snippet),
      evidence(one),
    ),
  );
  return element("ol", { class: "cards" }, ...cards);
}

function gain({ gain: estimate }: Advice): HTMLElement | null {
  if (estimate === null) return null;
  const { wall_secs_now: now, wall_secs_then: then, core_secs } = estimate;
  const saved =
    core_secs === null
      ? null
      : element("span", { class: "saved" }, `frees ${coreSeconds(core_secs)} core-seconds`);
  if (now === null || then === null) return saved && element("div", { class: "gain" }, saved);
  const change = now > 0 ? ` (${then <= now ? "−" : "+"}${roundShare(Math.abs(now - then) / now)})` : "";
  return element(
    "div",
    { class: "gain" },
    element(
      "span",
      {},
      "wall time ",
      element("b", {}, seconds(now)),
      " → ",
      element("b", {}, seconds(then)),
      change,
    ),
    saved,
  );
}

function evidence(advice: Advice): HTMLElement | null {
  if (advice.evidence.length === 0 && advice.threshold === "") return null;
  return element(
    "details",
    {},
    element("summary", {}, "Evidence"),
    element(
      "dl",
      { class: "pairs" },
      ...advice.evidence.map(({ label, value }) =>
        element("div", {}, element("dt", {}, label), element("dd", {}, value)),
      ),
    ),
    advice.threshold === "" ? null : element("p", { class: "caption" }, `Said when: ${advice.threshold}`),
  );
}

function snippet(code: string): HTMLElement {
  const text = element("code", {}, code);
  const copy = button("Copy", () => {
    navigator.clipboard.writeText(code).then(
      () => {
        copy.textContent = "Copied";
      },
      () => {
        // Browsers may refuse pages from disk; then the text stands selected.
        getSelection()?.selectAllChildren(text);
        copy.textContent = "Selected: press Ctrl+C";
      },
    );
  });
  copy.setAttribute("aria-live", "polite");
  return element(
    "div",
    { class: "snippet" },
    element("pre", { tabindex: "0", "aria-label": "Code to paste" }, text),
    copy,
  );
}
