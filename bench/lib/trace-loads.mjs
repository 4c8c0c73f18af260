// `node --import bench/lib/trace-loads.mjs …` says on standard error which modules are loaded.
import { register } from "node:module";

const hooks = `
import { writeSync } from "node:fs";
export function load(url, context, next) {
  writeSync(2, "loads " + url + "\\n");
  return next(url, context);
}`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`);
