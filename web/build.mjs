// Bundles the front end: page.html, one file with everything in it, and simulation.mjs, the page's simulation for Node.
//
// `make web` runs it. Python puts the title and the data of a page in the place of ⟦title⟧ and ⟦data⟧.

import { build } from "esbuild";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const out = process.argv[2] ?? join(here, "..", "src", "footfall", "pages", "bundle");
const common = { bundle: true, minify: true, write: false, target: "es2022", logLevel: "warning", legalComments: "none" };

async function bundled(entry, options = {}) {
  const made = await build({ ...common, entryPoints: [join(here, "src", entry)], outdir: "out", ...options });
  return made.outputFiles.find((file) => file.path.endsWith(".js")).text;
}

// `import code from "worker:./worker.ts"` gives the bundled program as a text.
const workers = {
  name: "workers",
  setup(made) {
    made.onResolve({ filter: /^worker:/ }, ({ path }) => ({ path: path.slice("worker:./".length), namespace: "worker" }));
    made.onLoad({ filter: /.*/, namespace: "worker" }, async ({ path }) => ({
      contents: await bundled(path, { format: "iife" }),
      loader: "text",
    }));
  },
};

const script = await bundled("main.ts", { format: "iife", plugins: [workers] });
const style = await build({ ...common, entryPoints: [join(here, "src", "style.css")] });
const template = await readFile(join(here, "src", "page.html"), "utf8");
// Functions, because $ means something in a replacement; "</script" cannot stand in a script element.
const page = template
  .replace("⟦style⟧", () => style.outputFiles[0].text)
  .replace("⟦script⟧", () => script.replaceAll("</script", "<\\/script"));
await mkdir(out, { recursive: true });
await writeFile(join(out, "page.html"), page);
await writeFile(join(out, "simulation.mjs"), await bundled("simulation.ts", { format: "esm" }));
console.log(`${join(out, "page.html")}: ${(page.length / 1000).toFixed(0)} kB`);
