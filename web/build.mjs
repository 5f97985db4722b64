// Bundles the page into one file without any address in it: dist/page.html.
// The content policy names the script and the style by their hashes, so nothing else can run.
import { createHash } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const DATA_SLOT = '<script type="application/json" id="page-data">{}</script>';

async function bundle(entry) {
  const result = await build({
    entryPoints: [join(here, "src", entry)],
    bundle: true,
    minify: true,
    write: false,
    format: "iife",
    target: ["es2022", "chrome120", "firefox120", "safari17"],
    charset: "utf8",
    legalComments: "inline",
    logLevel: "warning",
  });
  return result.outputFiles[0].text.trim();
}

const hash = (text) => `'sha256-${createHash("sha256").update(text, "utf8").digest("base64")}'`;

const [template, icon, license, script, style] = await Promise.all([
  readFile(join(here, "src/page.html"), "utf8"),
  readFile(join(here, "src/icon.svg"), "utf8"),
  readFile(join(here, "node_modules/uplot/LICENSE"), "utf8"),
  bundle("main.ts"),
  bundle("style.css"),
]);
const policy = [
  "default-src 'none'",
  `script-src ${hash(script)}`,
  `style-src ${hash(style)}`,
  "img-src data:",
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");
// uPlot is part of the page, so its license goes with it.
const notice = `uPlot is in this page: ${license.trim().replaceAll("--", "- -")}`;
const parts = { notice, policy, icon: encodeURIComponent(icon.trim()), style, script };
const page = template.replace(/\{\{(\w+)\}\}/g, (_, name) => parts[name]);

if (page.split(DATA_SLOT).length !== 2) {
  throw new Error("the page must have exactly one place for its data");
}
await mkdir(join(here, "dist"), { recursive: true });
await writeFile(join(here, "dist/page.html"), page);
console.log(`dist/page.html: ${Math.ceil(Buffer.byteLength(page) / 1000)} kB`);
