/** Pages in a real Chromium, from disk, with no network. */

import { mkdtemp, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import type { PageData } from "../src/data";

const SLOT = '<script type="application/json" id="page-data">{}</script>';

/** The same rule as the renderer's: nothing in the data can end the element it stands in. */
function escapeJson(page: PageData): string {
  return JSON.stringify(page).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

export async function writePage(data: PageData | null): Promise<string> {
  const template = await readFile("dist/page.html", "utf8");
  const filled =
    data === null ? template : template.replace(SLOT, () => SLOT.replace("{}", () => escapeJson(data)));
  const path = join(await mkdtemp(join(tmpdir(), "roast-page-")), "run.html");
  await writeFile(path, filled);
  return path;
}

export function launch(): Promise<Browser> {
  return chromium.launch({
    executablePath: process.env["CHROMIUM"] ?? "/usr/bin/chromium",
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
}

export interface Opened {
  page: Page;
  /** Errors, warnings of the console, dialogs and requests: a good page has none. */
  troubles: string[];
}

export async function open(
  browser: Browser,
  path: string,
  options: BrowserContextOptions = {},
): Promise<Opened> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  await context.setOffline(true);
  const troubles: string[] = [];
  await context.route(
    (url) => url.protocol !== "file:" && url.protocol !== "data:",
    (route) => {
      troubles.push(`request ${route.request().url()}`);
      return route.abort();
    },
  );
  const page = await context.newPage();
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning")
      troubles.push(`console ${message.text()}`);
  });
  page.on("pageerror", (error) => troubles.push(`error ${error.stack ?? error.message}`));
  page.on("dialog", (dialog) => {
    troubles.push(`dialog ${dialog.message()}`);
    void dialog.dismiss();
  });
  await page.goto(pathToFileURL(path).href);
  return { page, troubles };
}
