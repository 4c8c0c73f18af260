// `npm run bench:library [-- quality size ingest stalls --chunks 20000,100000]`: the quality of the document library's
// search, its speed, memory and disk use; the cost of reading 500 pages, and the longest block of a hub's event loop
// meanwhile. Collections for the quality are read from the folder in LIBRARY_EVAL; without it, the needed repositories
// and commits are printed. Exits with 1 if words and meaning together find worse than words alone.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { measureIngest } from "./ingest.mjs";
import { measureQuality } from "./quality.mjs";
import { measureScholars } from "./scholar-quality.mjs";

const PARTS = ["quality", "size", "ingest", "stalls"];
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { chunks: { type: "string", default: "20000,100000" } },
});
const unknown = positionals.find((part) => !PARTS.includes(part));
if (unknown !== undefined) throw new Error(`Parts are ${PARTS.join(", ")}, got ${unknown}.`);
const wanted = positionals.length > 0 ? positionals : PARTS;
const folder = mkdtempSync(join(tmpdir(), "toolyard-library-bench-"));
process.once("exit", () => rmSync(folder, { recursive: true, force: true }));

console.log(`Node ${process.version}, ${cpus().length} × ${cpus()[0].model}\n`);
let isWell = true;
if (wanted.includes("quality")) {
  isWell = await measureQuality(report);
  await measureScholars(folder, report);
}
if (wanted.includes("size")) for (const chunks of values.chunks.split(",")) measureSize(Number(chunks));
if (wanted.includes("ingest") || wanted.includes("stalls")) await measureIngest({ folder, report });
process.exit(isWell ? 0 : 1);

function measureSize(chunks) {
  const file = join(folder, `${chunks}.db`);
  const isSmall = chunks <= 20_000;
  const filled = child("fill", file, chunks);
  const asked = child("ask", file, chunks);
  const of = (name) => `${chunks} chunks: ${name}`;
  const time = (list) => `p50 ${at(list, 0.5)} ms, p99 ${at(list, 0.99)} ms`;
  report(
    of("text to searchable"),
    `${filled.perSecond.toFixed(0)}/s (${filled.perCpuSecond.toFixed(0)} per second of CPU)`,
    "2000/s",
  );
  report(of("disk"), `${(filled.bytesEach / 1000).toFixed(1)} kB each`, "4.1 kB");
  report(of("open and first search"), `${asked.first.toFixed(0)} ms`, isSmall ? "400 ms" : "1000 ms");
  report(of("one author"), `${time(asked.times.author)} (CPU ${time(asked.cpu.author)})`, "8 / 30 ms");
  report(of("no filter"), `${time(asked.times.all)} (CPU ${time(asked.cpu.all)})`, "40 / 80 ms");
  report(of("resident"), `${(asked.rss / 1e6).toFixed(0)} MB`, "180 MB");
}

function child(...args) {
  const script = fileURLToPath(new URL("size.mjs", import.meta.url));
  const { stdout, status, stderr } = spawnSync(process.execPath, [script, ...args.map(String)], { encoding: "utf8" });
  if (status !== 0) throw new Error(stderr);
  return JSON.parse(stdout);
}

function at(list, share) {
  return list.toSorted((one, other) => one - other)[Math.floor((list.length - 1) * share)].toFixed(1);
}

function report(name, value, goal = "") {
  console.log(`${name.padEnd(64)}${value}${goal === "" ? "" : `   (goal ${goal})`}`);
}
