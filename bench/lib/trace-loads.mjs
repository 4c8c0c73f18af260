// `node --import bench/lib/trace-loads.mjs …` writes the loaded modules to standard error. If a file contains several
// modules, each is written with its path in the source tree.
import { register } from "node:module";

const hooks = `
import { writeSync } from "node:fs";
export async function load(url, context, next) {
  const loaded = await next(url, context);
  const dist = url.slice(0, url.indexOf("/dist/") + "/dist/".length);
  const parts = String(loaded.source ?? "").matchAll(/^\\/\\/ (\\S+\\.js)$/gm);
  writeSync(2, ["", url, ...Array.from(parts, ([, path]) => dist + path)].join("\\nloads ").slice(1) + "\\n");
  return loaded;
}`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`);
