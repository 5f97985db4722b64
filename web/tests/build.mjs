// Bundles the tests and scripts, so that Node runs them without understanding TypeScript.
import { readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const sources = (await readdir(here)).filter((name) => name.endsWith(".ts"));
await build({
  entryPoints: sources.map((name) => join(here, name)),
  outdir: join(here, "../dist/tests"),
  outExtension: { ".js": ".mjs" },
  bundle: true,
  packages: "external",
  platform: "node",
  format: "esm",
  target: "node20",
  logLevel: "warning",
});
