/** Writes the sample runs as pages to look at: `npm run samples -- OUTDIR`. */

import { copyFile, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { writePage } from "./browser";
import { empty, hostile, large, plausible, single } from "./sample";

const directory = process.argv[2] ?? "dist/samples";
await mkdir(directory, { recursive: true });
for (const [name, make] of Object.entries({ plausible, large, empty, single, hostile })) {
  await copyFile(await writePage(make()), join(directory, `${name}.html`));
}
