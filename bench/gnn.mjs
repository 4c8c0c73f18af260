// `npm run bench:gnn`: the CPU time of reading and checking GNN. Other load of the machine affects it only through the
// CPU caches. If GNN_SAMPLES names a copy of the public project (ActiveInferenceInstitute/GeneralizedNotationNotation),
// its Python parser reads the same texts in the same run (GNN_PYTHON: an interpreter that has the packages that the
// project imports, such as psutil).
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { checkGnn, typeCheckDirectory } from "../packages/gnn/dist/index.js";

const HEAD = "## GNNSection\nBench\n## GNNVersionAndFlags\nGNN v1.1\n## ModelName\nBench\n";
const MEGABYTE = 1_000_000;
const FILES = 1000;
const ROUNDS = 5;
/** Time limit of the Python parser, in milliseconds. */
const PATIENCE_MS = 120_000;

const TEXTS = {
  "1 MB of numbers (one B)": numbers(MEGABYTE),
  "1 MB of declarations": lines(MEGABYTE, "StateSpaceBlock", (at) => `x_${at}[3,2,type=float]   # variable ${at}`),
  "1 MB of edges, 5,000 variables": edges(MEGABYTE),
  "1 MB of values, none declared": lines(MEGABYTE, "InitialParameterization", (at) => `value_${at}={(0.1,0.2)}`),
};
const HOSTILE = {
  "(": "InitialParameterization",
  "a>": "Connections",
  "x[": "StateSpaceBlock",
  '"\\': "InitialParameterization",
};

const scratch = mkdtempSync(join(tmpdir(), "toolyard-gnn-bench-"));
process.once("exit", () => rmSync(scratch, { recursive: true, force: true }));

console.log(
  `Node ${process.version}, ${cpus().length} × ${cpus()[0].model}; CPU in ms, least and first of ${ROUNDS}\n`,
);
for (const [name, text] of Object.entries(TEXTS)) {
  const spent = Array.from({ length: ROUNDS }, () => cpuOf(() => checkGnn(text)));
  row(name, `${Math.min(...spent).toFixed(0)} (first ${spent[0].toFixed(0)})`, "goal 300");
}
measureFresh();
await measureFolder();
for (const [unit, section] of Object.entries(HOSTILE)) {
  const text = (size) => `${HEAD}## ${section}\nx={${unit.repeat(size / unit.length)}`;
  const [one, ten] = [MEGABYTE, 10 * MEGABYTE].map((size) =>
    Math.max(
      cpuOf(() => checkGnn(text(size))),
      1,
    ),
  );
  row(`10 MB of ${JSON.stringify(unit)}`, ten.toFixed(0), `${(ten / one).toFixed(1)} times 1 MB`);
}
measurePython();

/** Reads each text once in a new process, as `toolyard gnn check` does; returns the minimum of the rounds. */
function measureFresh() {
  const script = fileURLToPath(new URL("lib/gnn-fresh.mjs", import.meta.url));
  for (const [name, text] of Object.entries(TEXTS)) {
    const path = join(scratch, "text.md");
    writeFileSync(path, text);
    const spent = Array.from({ length: ROUNDS }, () => {
      const { stdout, stderr } = spawnSync(process.execPath, [script, path], { encoding: "utf8" });
      if (!stdout) throw new Error(`A fresh process failed: ${stderr}`);
      return JSON.parse(stdout);
    });
    const least = (key) => Math.min(...spent.map((one) => one[key])).toFixed(0);
    row(`${name}, fresh process`, `${least("cpu")} (${least("wall")} by the clock)`, "goal 300");
  }
}

/** Reads files as users write them, from disk, with all checks. */
async function measureFolder() {
  const folder = join(scratch, "models");
  mkdirSync(folder);
  for (let at = 0; at < FILES; at += 1) writeFileSync(join(folder, `model_${at}.md`), usual(at));
  const before = process.cpuUsage();
  const { results_summary: summary } = await typeCheckDirectory(folder);
  const { user, system } = process.cpuUsage(before);
  if (summary.total_files !== FILES) throw new Error(`${summary.total_files} of ${FILES} files were checked.`);
  row(`${FILES} files of ${(usual(0).length / 1000).toFixed(1)} KB`, ((user + system) / 1000).toFixed(0), "goal 2000");
}

function measurePython() {
  const samples = process.env.GNN_SAMPLES;
  if (!samples) return console.log("\nskipped: the public parser, as GNN_SAMPLES names no folder");
  const texts = { ...TEXTS, [`one file of ${(usual(0).length / 1000).toFixed(1)} KB`]: usual(0) };
  for (const [name, text] of Object.entries(texts)) {
    const path = join(scratch, "text.md");
    writeFileSync(path, text);
    const mine = Math.min(...Array.from({ length: ROUNDS }, () => cpuOf(() => checkGnn(text))));
    const theirs = pythonMs(join(samples, "src"), path);
    row(`public parser: ${name}`, theirs, Number(theirs) ? `${(Number(theirs) / mine).toFixed(1)} times ours` : "");
  }
}

function pythonMs(source, path) {
  const script = fileURLToPath(new URL("lib/gnn_parse.py", import.meta.url));
  const { stdout, stderr, error } = spawnSync(process.env.GNN_PYTHON ?? "python3", [script, source, path], {
    encoding: "utf8",
    timeout: PATIENCE_MS,
  });
  if (error) return error.code === "ETIMEDOUT" ? `more than ${PATIENCE_MS} ms` : error.message;
  return /^ms (\S+)/m.exec(stdout)?.[1] ?? `fails: ${stderr.trim().split("\n").at(-1)}`;
}

function cpuOf(work) {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

function row(...cells) {
  console.log(cells.map((cell, at) => cell.padEnd(at === 0 ? 56 : 24)).join(""));
}

function numbers(size) {
  const states = Math.round(Math.sqrt(size / 4 / 10));
  const column = `(${Array.from({ length: states }, () => (1 / states).toFixed(6)).join(", ")})`;
  const action = `  (\n${Array.from({ length: states }, () => `    ${column}`).join(",\n")}\n  )`;
  const declared = `## StateSpaceBlock\nB[${states},${states},4,type=float]\ns[${states}]\n## Connections\ns>B\n`;
  const actions = Array.from({ length: 4 }, () => action).join(",\n");
  return `${HEAD}${declared}## InitialParameterization\nB={\n${actions}\n}\n`;
}

function lines(size, section, line) {
  const parts = [`${HEAD}## ${section}`];
  for (let at = 0, length = 0; length < size; at += 1) length += parts[parts.push(line(at)) - 1].length + 1;
  return parts.join("\n");
}

function edges(size) {
  const declared = Array.from({ length: 5000 }, (_, at) => `x_${at}[2]`).join("\n");
  const between = (at) => `x_${at % 5000}>x_${(at * 7919 + Math.floor(at / 5000)) % 5000}`;
  return lines(size, `StateSpaceBlock\n${declared}\n## Connections`, between);
}

/** Returns a model of about 5 KB: 40 variables, 40 edges, A and B of 10 states. */
function usual(seed) {
  const rows = (count, row) => `{\n${Array.from({ length: count }, () => `  ${row}`).join(",\n")}\n}`;
  const tenth = `(${Array.from({ length: 10 }, () => "0.1").join(", ")})`;
  const square = `(${Array.from({ length: 10 }, () => tenth).join(", ")})`;
  return [
    `${HEAD}## StateSpaceBlock`,
    ...Array.from({ length: 40 }, (_, at) => `s_${at}[3,2,type=float]   # variable ${at} of model ${seed}`),
    "A[10,10,type=float]\nB[10,10,4,type=float]\nD[10,type=float]\n## Connections\nD>s_0\ns_0-A\ns_0-B",
    ...Array.from({ length: 39 }, (_, at) => `s_${at}>s_${at + 1}`),
    `## InitialParameterization\nA=${rows(10, tenth)}\nB=${rows(4, square)}`,
    `D={${tenth}}`,
    "## Time\nDynamic\nDiscreteTime=t\n## ActInfOntologyAnnotation\nA=LikelihoodMatrix\nB=TransitionMatrix",
  ].join("\n");
}
