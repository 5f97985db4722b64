/** The page in a real browser: everything drawn, nothing complained about, nothing let in. */

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { after, before, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import type { PageData } from "../src/data";
import { launch, type Opened, open, writePage } from "./browser";
import { empty, HOSTILE, hostile, large, plausible, single } from "./sample";

let browser: Browser;

before(async () => {
  browser = await launch();
});

after(async () => {
  await browser.close();
});

/** A page of each run is written once. */
const written = new Map<() => PageData, Promise<string>>();

async function opened(make: () => PageData, options = {}): Promise<Opened> {
  const path = written.get(make) ?? writePage(make());
  written.set(make, path);
  return open(browser, await path, options);
}

/** Pixels of each canvas that something was painted on. */
function paintedPixels(page: Page): Promise<Record<string, number>> {
  return page.evaluate(() =>
    Object.fromEntries(
      [...document.querySelectorAll<HTMLElement>("[data-chart]")].flatMap((part) => {
        const canvas = part.querySelector("canvas");
        const pixels = canvas?.getContext("2d")?.getImageData(0, 0, canvas.width, canvas.height).data;
        if (!pixels) return [];
        return [
          [part.dataset["chart"] ?? "", pixels.filter((value, at) => at % 4 === 3 && value > 0).length],
        ];
      }),
    ),
  );
}

const CHARTS = ["workers", "throughput", "cpu", "memory", "tasks", "lanes", "histogram", "scatter"];
const PARTS = ["overview", "ledger", "timeline", "workers", "chunks", "sections", "tables"];

for (const [name, make] of Object.entries({ plausible, large, single, hostile })) {
  test(`every panel of the ${name} run is drawn, without a complaint`, async () => {
    const { page, troubles } = await opened(make);
    const painted = await paintedPixels(page);
    assert.deepEqual(Object.keys(painted).sort(), [...CHARTS].sort());
    for (const [chart, pixels] of Object.entries(painted))
      assert.ok(pixels > 300, `${chart}: ${pixels} pixels`);
    for (const part of PARTS) assert.ok(await page.locator(`#${part}`).isVisible(), part);
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    assert.ok(overflow <= 0, `${overflow} px too wide`);
    assert.deepEqual(troubles, []);
    await page.context().close();
  });
}

test("what is missing says so, in every panel", async () => {
  const { page, troubles } = await opened(empty);
  const sentences = await page.locator(".missing").allTextContents();
  for (const what of ["ledger", "timeline", "worker view", "runtime", "chunk", "section"]) {
    assert.ok(
      sentences.some((sentence) => sentence.includes(`no ${what} in`)),
      what,
    );
  }
  assert.ok(sentences.includes("No file was opened."));
  assert.match((await page.locator(".error").textContent()) ?? "", /the cluster went away/);
  assert.equal(await page.locator("[data-fact=wall] .value").textContent(), "–");
  assert.deepEqual(troubles, []);
  await page.context().close();
});

test("a page without data says what to do", async () => {
  const { page, troubles } = await open(browser, await writePage(null));
  assert.match((await page.locator("main").textContent()) ?? "", /roastcoffea report/);
  assert.deepEqual(troubles, []);
  await page.context().close();
});

/** The stretch of time that both toolbars name. */
const shown = (page: Page) => page.locator(".toolbar .shown").allTextContents();

/** The last labelled tick can not be read from a canvas; the picture of it can be compared. */
const pictures = (page: Page) =>
  page.evaluate(() =>
    [...document.querySelectorAll<HTMLCanvasElement>(".time-group canvas")].map((canvas) =>
      canvas.toDataURL(),
    ),
  );

async function dragAcross(page: Page, selector: string, from: number, to: number): Promise<void> {
  const area = page.locator(`${selector} .u-over`);
  await area.scrollIntoViewIfNeeded();
  const box = await area.boundingBox();
  assert.ok(box);
  await page.mouse.move(box.x + box.width * from, box.y + box.height / 2);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * ((from + to) / 2), box.y + box.height / 2);
  await page.mouse.move(box.x + box.width * to, box.y + box.height / 2);
  await page.mouse.up();
}

test("dragging on one chart zooms all, and all come back", async () => {
  const { page, troubles } = await opened(plausible);
  const whole = await pictures(page);
  assert.equal(whole.length, 6);
  const wall_secs = plausible().wall_secs ?? 0;
  for (const chart of ["[data-chart=cpu]", "[data-chart=lanes]"]) {
    await dragAcross(page, chart, 0.25, 0.5);
    const texts = await shown(page);
    assert.equal(texts[0], texts[1]);
    const [from, to] = (texts[0] ?? "").split(" to ").map(inSeconds);
    assert.ok(Math.abs((from ?? 0) - wall_secs * 0.25) < wall_secs * 0.01, texts[0]);
    assert.ok(Math.abs((to ?? 0) - wall_secs * 0.5) < wall_secs * 0.01, texts[0]);
    (await pictures(page)).forEach((picture, at) => {
      assert.notEqual(picture, whole[at], `chart ${at} did not follow`);
    });
    if (chart === "[data-chart=cpu]") await page.locator(".zoom-reset").first().click();
    else await page.locator(`${chart} .u-over`).dblclick();
    await page.mouse.move(0, 0);
    assert.match((await shown(page))[0] ?? "", /the whole run/);
    assert.deepEqual(await pictures(page), whole);
  }
  assert.deepEqual(troubles, []);
  await page.context().close();
});

function inSeconds(text: string): number {
  const parts = text.split(":").map(Number);
  return parts.length === 3
    ? (parts[0] ?? 0) * 3600 + (parts[1] ?? 0) * 60 + (parts[2] ?? 0)
    : Number.parseFloat(text);
}

test("the keyboard moves along the time axis", async () => {
  const { page } = await opened(plausible);
  await page.locator("#timeline .time-group").focus();
  await page.keyboard.press("+");
  const zoomed = (await shown(page))[0];
  assert.match(zoomed ?? "", / to /);
  await page.keyboard.press("ArrowRight");
  assert.notEqual((await shown(page))[0], zoomed);
  await page.keyboard.press("ArrowLeft");
  assert.equal((await shown(page))[0], zoomed);
  await page.keyboard.press("Escape");
  assert.match((await shown(page))[0] ?? "", /the whole run/);
  await page.context().close();
});

test("the mouse reads values off every kind of chart", async () => {
  const run = plausible();
  const { page, troubles } = await opened(plausible);
  const cpu = page.locator("[data-chart=cpu]");
  assert.match((await cpu.locator(".readout").textContent()) ?? "", /peak/);
  await cpu.locator(".u-over").hover();
  assert.match((await cpu.locator(".readout").textContent()) ?? "", /\d %.*–.*\d %/);
  const tasks = await page.locator("[data-chart=tasks] .readout").allTextContents();
  assert.ok(
    tasks.every((text) => !text.includes("peak")),
    "the cursor is shared",
  );

  const lanes = page.locator("[data-chart=lanes] .u-over");
  assert.ok("data" in run.lanes && run.lanes.data.kind === "intervals");
  const { start_secs, duration_secs, files, file, events, end_secs } = run.lanes.data;
  const { lane, thread } = run.lanes.data;
  // The longest stretch of the first thread of the first worker.
  const at = duration_secs.reduce((best, secs, index) => {
    const first = lane[index] === 0 && thread[index] === 0;
    return first && secs > (duration_secs[best] ?? 0) ? index : best;
  }, -1);
  const box = await lanes.boundingBox();
  assert.ok(box);
  const middle = ((start_secs[at] ?? 0) + (duration_secs[at] ?? 0) / 2) / end_secs;
  await lanes.hover({ position: { x: middle * box.width, y: (0.75 / (4 * 2.5)) * box.height } });
  const told = (await page.locator(".tooltip").textContent()) ?? "";
  assert.ok(told.includes((files[file[at] ?? -1] ?? "?").slice(-20)), told);
  assert.ok(told.includes((events[at] ?? 0).toLocaleString("en-US")), told);

  const bars = page.locator("[data-chart=histogram] .u-over");
  const bars_box = await bars.boundingBox();
  assert.ok(bars_box);
  await bars.hover({ position: { x: bars_box.width * 0.2, y: bars_box.height * 0.5 } });
  assert.match((await page.locator(".tooltip").textContent()) ?? "", /TTJets_13TeV\d+ chunks/);

  const points = page.locator("[data-chart=scatter] .u-over");
  const points_box = await points.boundingBox();
  assert.ok(points_box);
  // Most chunks have 100,000 events, which is at 1 / 1.06 of the axis.
  await points.hover({ position: { x: points_box.width / 1.06, y: points_box.height * 0.8 } });
  assert.match((await page.locator(".tooltip").textContent()) ?? "", /events100,000/);
  await page.mouse.move(2, 2);
  assert.equal(await page.locator(".tooltip").isVisible(), false);
  assert.deepEqual(troubles, []);
  await page.context().close();
});

test("the workers of a large run are read off the heat map", async () => {
  const { page } = await opened(large);
  await page.locator("[data-chart=lanes] .u-over").hover({ position: { x: 400, y: 301 } });
  assert.match(
    (await page.locator(".tooltip").textContent()) ?? "",
    /^tcp:\/\/10\.0\.200\.2:3421time.*busy\d+ %workers2/,
  );
  await page.context().close();
});

test("a click on a dataset hides it everywhere", async () => {
  const { page } = await opened(plausible);
  const before_click = await paintedPixels(page);
  await page.locator("#chunks .key").first().click();
  assert.equal(await page.locator("#workers .key").first().getAttribute("aria-pressed"), "false");
  const after_click = await paintedPixels(page);
  assert.ok((after_click["scatter"] ?? 0) < (before_click["scatter"] ?? 0));
  await page.locator("#workers .key").first().click();
  assert.deepEqual(await paintedPixels(page), before_click);
  await page.context().close();
});

const column = (page: Page, at: number) =>
  page.locator(`#table-datasets tbody td:nth-child(${at})`).allTextContents();

test("tables sort by mouse and keyboard", async () => {
  const { page } = await opened(plausible);
  const heading = page.locator("#table-datasets th").nth(2);
  await heading.getByRole("button").click();
  assert.equal(await heading.getAttribute("aria-sort"), "descending");
  const events = (await column(page, 3)).map((text) => Number(text.replaceAll(",", "")));
  assert.deepEqual(
    events,
    [...events].sort((a, b) => b - a),
  );
  await page.keyboard.press("Enter");
  assert.equal(await heading.getAttribute("aria-sort"), "ascending");
  assert.deepEqual(
    (await column(page, 3)).map((text) => Number(text.replaceAll(",", ""))),
    [...events].reverse(),
  );
  await page.locator("#table-datasets th").first().getByRole("button").focus();
  await page.keyboard.press("Space");
  assert.deepEqual(await column(page, 1), ["SingleMuon_Run2018A", "TTJets_13TeV", "WJetsToLNu"]);
  assert.equal(await heading.getAttribute("aria-sort"), "none");
  await page.context().close();
});

test("missing cells come last, whichever way", async () => {
  const { page } = await opened(plausible);
  const ratio = page.locator("#table-branches th").nth(5).getByRole("button");
  await page.locator("#table-branches").getByRole("button", { name: "Show all" }).click();
  for (let click = 0; click < 2; click += 1) {
    await ratio.click();
    const cells = await page.locator("#table-branches tbody td:nth-child(6)").allTextContents();
    const gaps = cells.filter((text) => text === "–").length;
    assert.ok(gaps > 0);
    assert.ok(cells.slice(-gaps).every((text) => text === "–"));
  }
  await page.context().close();
});

test("tables filter, start short and say how much they show", async () => {
  const { page } = await opened(large);
  const table = page.locator("#table-files");
  assert.equal(await table.locator("tbody tr").count(), 50);
  assert.match(
    (await table.locator(".status").textContent()) ?? "",
    /^showing 50 of 1,000; the heaviest 1,000 of 1,260/,
  );
  await table.getByRole("searchbox").fill("NANO_3_1");
  // 1, and 10 to 19.
  assert.equal(await table.locator("tbody tr").count(), 11);
  assert.match((await table.locator(".status").textContent()) ?? "", /^showing 11 matching, of 1,000/);
  await table.getByRole("searchbox").fill("");
  await table.getByRole("button", { name: "Show all" }).click();
  assert.equal(await table.locator("tbody tr").count(), 1000);
  await page.context().close();
});

test("hostile names stay text", async () => {
  const run = hostile();
  const { page, troubles } = await opened(hostile);
  assert.equal(await page.locator("h1").textContent(), run.name);
  // What stands between backticks is shown as code, without them.
  assert.equal(await page.locator(".verdict").textContent(), run.verdict.replaceAll("`", ""));
  assert.equal(await page.locator(".verdict code").textContent(), "thrice");
  assert.deepEqual(await page.locator("#chunks .legend .key").allTextContents(), HOSTILE);
  const files = run.tables.find((table) => table.key === "files");
  assert.deepEqual(
    await page.locator("#table-files tbody td:first-child").allTextContents(),
    files?.rows.map((row) => row[0]),
  );
  assert.deepEqual(await page.locator("#notes li").allTextContents(), run.notes);
  const inserted = await page.evaluate(() => ({
    scripts: document.scripts.length,
    images: document.images.length,
    links: [...document.links].map((link) => link.protocol),
    handlers: document.querySelectorAll("[onerror], [onclick], [onload]").length,
  }));
  assert.deepEqual(
    { ...inserted, links: [...new Set(inserted.links)] },
    { scripts: 2, images: 0, links: ["file:"], handlers: 0 },
  );
  await page.locator("[data-chart=lanes] .u-over").hover();
  await page.locator("[data-chart=histogram] .u-over").hover();
  assert.deepEqual(troubles, []);
  await page.context().close();
});

test("dark follows the system, and the button wins", async () => {
  const { page, troubles } = await opened(plausible, { colorScheme: "dark" });
  const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  assert.equal(await background(), "rgb(21, 23, 26)");
  const dark = await pictures(page);
  await page.getByRole("button", { name: "Switch to light colours" }).click();
  assert.equal(await background(), "rgb(246, 245, 243)");
  for (const [at, picture] of (await pictures(page)).entries()) assert.notEqual(picture, dark[at]);
  await page.emulateMedia({ colorScheme: "light" });
  await page.getByRole("button", { name: "Switch to dark colours" }).click();
  assert.equal(await background(), "rgb(21, 23, 26)");
  assert.deepEqual(troubles, []);
  await page.context().close();
});

test("paper is light, whole and open", async () => {
  const { page, troubles } = await opened(plausible, { colorScheme: "dark" });
  const closed = await page.locator("details:not([open])").count();
  assert.ok(closed > 0);
  await page.emulateMedia({ media: "print" });
  await page.waitForFunction(
    () => document.querySelector<HTMLCanvasElement>(".plot canvas")?.offsetWidth === 670,
  );
  assert.equal(await page.locator("html").getAttribute("data-theme"), "light");
  assert.equal(await page.locator("details:not([open])").count(), 0);
  assert.equal(await page.locator("header.top").isVisible(), false);
  await page.emulateMedia({ media: "screen" });
  await page.locator("html[data-theme=dark]").waitFor();
  assert.equal(await page.locator("details:not([open])").count(), closed);
  const pdf = await page.pdf({ format: "A4" });
  assert.equal(pdf.subarray(0, 5).toString(), "%PDF-");
  assert.deepEqual(troubles, []);
  await page.context().close();
});

test("the snippet is copied", async () => {
  const run = plausible();
  const { page } = await opened(plausible, { permissions: ["clipboard-read", "clipboard-write"] });
  await page.getByRole("button", { name: "Copy" }).click();
  await page.getByRole("button", { name: "Copied" }).waitFor();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), run.advice[0]?.snippet);
  await page.context().close();
});

test("the ledger's names do not overlap, and every row is listed", async () => {
  const run = plausible();
  assert.ok("data" in run.ledger);
  for (const width of [700, 1280, 1920]) {
    const { page } = await opened(plausible, { viewport: { width, height: 900 } });
    const boxes = await page.evaluate(() =>
      [...document.querySelectorAll(".ledger-labels .below, .ledger-labels .inside")].map((label) => {
        const { left, right, top, bottom } = label.getBoundingClientRect();
        return { left, right, top, bottom };
      }),
    );
    assert.ok(boxes.length >= 4);
    boxes.forEach((a, at) => {
      assert.ok(a.right <= width, "inside of the page");
      for (const b of boxes.slice(at + 1)) {
        const apart =
          a.right <= b.left + 1 || b.right <= a.left + 1 || a.bottom <= b.top + 1 || b.bottom <= a.top + 1;
        assert.ok(apart, `${width} px: ${JSON.stringify([a, b])}`);
      }
    });
    assert.equal(await page.locator(".ledger-list tbody tr").count(), run.ledger.data.rows.length);
    await page.context().close();
  }
});

test("there are no serious barriers to anyone", async () => {
  const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
  for (const colorScheme of ["light", "dark"] as const) {
    for (const make of [plausible, large, empty]) {
      const { page } = await opened(make, { colorScheme });
      await page.evaluate(axe);
      const found = await page.evaluate(async () => {
        const { violations } = await (window as any).axe.run();
        return violations.map(
          (one: { id: string; impact: string; nodes: { html: string; failureSummary: string }[] }) => ({
            id: one.id,
            impact: one.impact,
            where: one.nodes.slice(0, 3).map((node) => `${node.html.slice(0, 120)} ${node.failureSummary}`),
          }),
        );
      });
      const serious = found.filter(
        (one: { impact: string }) => one.impact === "serious" || one.impact === "critical",
      );
      assert.deepEqual(serious, [], colorScheme);
      await page.context().close();
    }
  }
});

test("the page asks for nothing and allows nothing", async () => {
  const html = await readFile("dist/page.html", "utf8");
  assert.equal(html.split('<script type="application/json" id="page-data">{}</script>').length, 2);
  const policy = /Content-Security-Policy" content="([^"]*)"/.exec(html)?.[1] ?? "";
  assert.match(
    policy,
    /^default-src 'none'; script-src 'sha256-[^ ;]+'; style-src 'sha256-[^ ;]+'; img-src data:;/,
  );
  assert.doesNotMatch(html, /<(?:script|link|img|iframe)[^>]+(?:src|href)="(?!data:)/);
});
