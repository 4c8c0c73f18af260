// `npm run bench [-- --quick] [part …]`: the cost of the hub, in one run on one machine, printed as a table and written
// to bench/results.md. bench/README.md explains each line and the results.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { root } from "./lib/hub.mjs";
import { measureAccess } from "./parts/access.mjs";
import { measureAgent } from "./parts/agent.mjs";
import { measureAsks } from "./parts/asks.mjs";
import { measureCalls } from "./parts/calls.mjs";
import { measureCode } from "./parts/code.mjs";
import { measureConsole } from "./parts/console.mjs";
import { measureHop } from "./parts/hop.mjs";
import { measureLists } from "./parts/lists.mjs";
import { measurePeers } from "./parts/peers.mjs";
import { measureScripts } from "./parts/scripts.mjs";
import { measureSessions } from "./parts/sessions.mjs";
import { measureSignIn } from "./parts/sign-in.mjs";
import { measureStalls } from "./parts/stalls.mjs";
import { measureStart } from "./parts/start.mjs";
import { measureOtlp } from "./parts/otlp.mjs";
import { measureTelemetry } from "./parts/telemetry.mjs";
import { measureWorkers } from "./parts/workers.mjs";

const PARTS = {
  start: measureStart,
  lists: measureLists,
  stalls: measureStalls,
  hop: measureHop,
  calls: measureCalls,
  "sign-in": measureSignIn,
  access: measureAccess,
  asks: measureAsks,
  scripts: measureScripts,
  code: measureCode,
  agent: measureAgent,
  console: measureConsole,
  sessions: measureSessions,
  workers: measureWorkers,
  telemetry: measureTelemetry,
  otlp: measureOtlp,
  peers: measurePeers,
};

const quick = process.argv.includes("--quick");
const scratch = mkdtempSync(join(tmpdir(), "toolyard-bench-"));
const rows = [];
const notes = [];
let folders = 0;

const bench = {
  quick,
  /** Returns a new folder, removed at the end. */
  folder() {
    const path = join(scratch, String((folders += 1)));
    mkdirSync(path);
    return path;
  },
  /** Adds a sentence to the head of the results. */
  note(text) {
    notes.push(text);
    console.log(text);
  },
  report(what, value, goal = "") {
    rows.push(`| ${what} | ${value} | ${goal} |`);
    console.log(`${what.padEnd(56)} ${value.padEnd(80)} ${goal}`);
  },
};

/** Returns the named parts; by default everything, or only the hop with `--quick`. */
function wanted() {
  const named = process.argv.slice(2).filter((word) => !word.startsWith("-"));
  const unknown = named.find((name) => !(name in PARTS));
  if (unknown !== undefined) throw new Error(`There is no part \`${unknown}\`: ${Object.keys(PARTS).join(", ")}.`);
  if (named.length > 0) return named;
  return quick ? ["hop"] : Object.keys(PARTS);
}

const machine = `Node ${process.version}, ${process.platform} ${process.arch}, ${cpus().length} × ${cpus()[0].model}`;
console.log(`${machine}\n`);
// Started programs end with this process: by themselves, or when the process exits.
process.once("exit", () => rmSync(scratch, { recursive: true, force: true, maxRetries: 5 }));
for (const [signal, code] of Object.entries({ SIGINT: 130, SIGTERM: 143, SIGHUP: 129 }))
  process.once(signal, () => process.exit(code));
for (const name of wanted()) await PARTS[name](bench);

if (!quick && wanted().length === Object.keys(PARTS).length) {
  const head =
    `# Results\n\n${[`${machine}; \`npm run bench\`.`, ...notes].join(" ")} Each figure is the least of several ` +
    "rounds, since other programs only add time; the [README](README.md) describes each measurement.";
  writeFileSync(
    join(root, "bench/results.md"),
    `${head}\n\n| what | measured | goal |\n|---|---|---|\n${rows.join("\n")}\n`,
  );
}
