/**
 * How quickly reports open and zoom: `npm run speed -- REPEATS one.html another.html`. Opens
 * them by turns, each time in a new browser context, and prints milliseconds as JSON.
 */

import { type Browser, type Page } from "playwright-core";
import { launch, open } from "./browser";

const [repeats, ...reports] = process.argv.slice(2);
if (repeats === undefined || reports.length === 0) {
  console.error("usage: npm run speed -- REPEATS run.html...");
  process.exit(2);
}

/** From the start of loading to the first pixels of content. */
function firstPaint(page: Page): Promise<number> {
  return page.evaluate(
    () =>
      new Promise<number>((resolve) => {
        new PerformanceObserver((list) => {
          const entry = list.getEntriesByName("first-contentful-paint")[0];
          if (entry !== undefined) resolve(entry.startTime);
        }).observe({ type: "paint", buffered: true });
      }),
  );
}

/** From letting the mouse go to the frame in which the charts show the chosen part. */
async function zoom(page: Page): Promise<number> {
  const over = page.locator("[data-chart=cpu] .u-over");
  await over.scrollIntoViewIfNeeded();
  const box = await over.boundingBox();
  if (box === null) throw new Error("there is no chart of the CPU to zoom");
  const took = page.evaluate(
    () =>
      new Promise<number>((resolve) => {
        document.addEventListener(
          "mouseup",
          () => {
            const began = performance.now();
            requestAnimationFrame(() => requestAnimationFrame(() => resolve(performance.now() - began)));
          },
          { capture: true, once: true },
        );
      }),
  );
  const y = box.y + box.height / 2;
  await page.mouse.move(box.x + box.width * 0.25, y);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.4, y);
  await page.mouse.move(box.x + box.width * 0.5, y);
  await page.mouse.up();
  return took;
}

async function timed(browser: Browser, report: string): Promise<[number, number]> {
  const { page, troubles } = await open(browser, report);
  const paint = await firstPaint(page);
  const zoomed = await zoom(page);
  await page.context().close();
  for (const trouble of troubles) throw new Error(trouble);
  return [paint, zoomed];
}

const browser = await launch();
try {
  const paints: number[][] = [];
  const zooms: number[][] = [];
  // The first page of a browser waits for the browser.
  for (const report of reports) await timed(browser, report);
  for (let turn = 0; turn < Number(repeats); turn += 1) {
    const each = [];
    for (const report of reports) each.push(await timed(browser, report));
    paints.push(each.map(([paint]) => paint));
    zooms.push(each.map(([, zoomed]) => zoomed));
  }
  console.log(JSON.stringify({ "first paint": paints, "a zoom of every chart": zooms }));
} finally {
  await browser.close();
}
