/**
 * Pictures of a report: `npm run screenshots -- run.html OUTDIR`. The whole page, its
 * top and its main parts, in light and in dark.
 */

import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { launch, open } from "./browser";

const PARTS = ["ledger", "timeline", "workers", "chunks", "sections"];

const [report, directory] = process.argv.slice(2);
if (report === undefined || directory === undefined) {
  console.error("usage: npm run screenshots -- run.html OUTDIR");
  process.exit(2);
}
const width = Number(process.env["WIDTH"] ?? 1280);
await mkdir(directory, { recursive: true });
const browser = await launch();
try {
  for (const colorScheme of ["light", "dark"] as const) {
    const { page, troubles } = await open(browser, report, {
      colorScheme,
      // Playwright hides the caret by a style of its own.
      bypassCSP: true,
      deviceScaleFactor: Number(process.env["SCALE"] ?? 1),
      viewport: { width, height: 800 },
    });
    const path = (part: string) => join(directory, `${part}-${colorScheme}.png`);
    await page.screenshot({ path: path("top") });
    await page.screenshot({ path: path("page"), fullPage: true });
    for (const part of PARTS) {
      await page.locator(`#${part}`).screenshot({ path: path(part), style: ".top { display: none }" });
    }
    for (const trouble of troubles) console.error(trouble);
    if (troubles.length > 0) process.exitCode = 1;
  }
} finally {
  await browser.close();
}
