// `npm run partners -- gnn [--only pymdp,numpy] [--verbose]`: runs programs rendered from GNN models with the libraries
// that they are for, twenty steps each, and compares their beliefs with test/interop/gnn/reference.py. networkx and
// igraph read the graphs of models (`graphs`). Needs the build and Python; missing programs are skipped with a message.
// Programs of a target run in one process, in sequence.
import { createHash } from "node:crypto";
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { cache } from "./install.mjs";
import { PythonWorker } from "./python-worker.mjs";
import { lackOf } from "./versions.mjs";

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const home = join(root, "test", "interop", "gnn");
const families = join(root, "test", "fixtures", "gnn", "families");
const out = join(cache, "gnn-programs");
/** Time limit of one installation, compilation or run; a busy machine is slow. */
const CHILD_MS = 7_200_000;
/** Variables for caches of compiled files: of Python, of JAX, and of Stan, which uses XDG_CACHE_HOME. */
const env = {
  ...process.env,
  PYTHONPYCACHEPREFIX: join(cache, "gnn-compiled"),
  XDG_CACHE_HOME: join(cache, "gnn-caches"),
  JAX_COMPILATION_CACHE_DIR: join(cache, "gnn-jax"),
  JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS: "0",
  JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES: "-1",
  PYTHONWARNINGS: "ignore",
};
const STEPS = "20";
const SEED = "3";

/**
 * Program that runs each target, and the algorithm with which it must agree; `parser` if it is only parsed. Targets
 * that take gigabytes are not installed: a variable names the Python that has them.
 */
const TARGETS = {
  pymdp: { environment: "pymdp-1", flavour: "1" },
  pymdp_0_0_7: { environment: "pymdp-0.0.7", flavour: "0" },
  numpy: { environment: "pymdp-0.0.7", flavour: "1" },
  jax: { environment: "pymdp-1", flavour: "1" },
  pytorch: { module: "torch", flavour: "1", parser: "parse_python.py", interpreter: "GNN_PYTORCH" },
  rxinfer: { parser: "parse_julia.py", environment: "parsers" },
  stan: { environment: "stan", runner: "run_stan.py" },
  graphs: { environment: "graphs", reader: "read_graphs.py" },
};
/** Exports of the graph, with the file endings that the reader expects. */
const GRAPHS = { json: "json", graphml: "graphml", gexf: "gexf", json_adjacency_list: "adjacency" };
/** Folders next to the families, with groups, time steps, labels and other scripts. */
const SAMPLES = ["hard_syntax"];
/** Constructs that a target cannot express; the test of refusals has the sentences. */
const REFUSED = {
  pymdp: ["linear"],
  pymdp_0_0_7: ["linear", "messages", "coupled"],
  rxinfer: ["messages"],
  stan: ["two_room", "two_factors", "two_agents", "two_levels", "tall", "learning", "coupled", "messages"],
};

const { values, positionals } = parseArgs({
  options: { only: { type: "string" }, verbose: { type: "boolean", default: false } },
  allowPositionals: true,
});
const wanted = values.only?.split(",") ?? Object.keys(TARGETS);
const unknown = wanted.find((name) => !Object.hasOwn(TARGETS, name));
if (unknown !== undefined || positionals.length > 1)
  throw new Error(`--only takes ${Object.keys(TARGETS).join(", ")}, got "${unknown ?? positionals.join(" ")}".`);

const { exportGnn, parseGnn, programCosts, readProgram, renderProgram, viewOf } =
  await import("../../packages/gnn/dist/index.js");
const began = performance.now();
const counts = { passed: 0, failed: 0, skipped: 0 };
mkdirSync(out, { recursive: true });
const python = await run(["python3", "--version"]).catch(() => undefined);
const lack = lackOf({ command: "python3", wanted: "3.11" }, python);
if (lack) console.log(`skipped: everything: ${lack}`);
else for (const target of wanted) await runTarget(target);
console.log(`\npartners gnn: ${Math.round((performance.now() - began) / 1000)} s`);
console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
process.exit(counts.failed > 0 ? 1 : 0);

async function runTarget(target) {
  const own = readdirSync(families).map((file) => file.replace(/\.md$/, ""));
  const every = target === "graphs" ? [...own, ...SAMPLES] : own;
  const models = every.filter((model) => !REFUSED[target]?.includes(model)).toSorted();
  const way = await wayOf(target).catch((error) => ({
    work: () => {
      throw new Error(`It cannot be installed. ${error.message}`);
    },
  }));
  if (way.reason) console.log(`skipped: ${target}: ${way.reason}`);
  await report(`${target}, as the command writes it`, () => expectCommand(target, models[0]));
  const worker = new PythonWorker(way.binary, { cwd: out, env, timeoutMs: CHILD_MS });
  for (const model of models) await report(`${target}, ${model}`, () => way.work(model, worker));
  await worker.close();
}

async function report(name, work) {
  const since = performance.now();
  try {
    const said = await work();
    counts.passed += 1;
    console.log(`ok   ${name}: ${said} (${Math.round((performance.now() - since) / 1000)} s)`);
  } catch (error) {
    counts.failed += 1;
    console.log(`FAIL ${name}: ${values.verbose ? error.message : error.message.slice(-600)}`);
  }
}

/** Returns how a target is tested here, with which Python, and the reason if it is not tested completely. */
async function wayOf(target) {
  const { environment, module, parser, interpreter, runner, reader } = TARGETS[target];
  if (module) {
    const binary = process.env[interpreter] ?? "python3";
    const there = await run([binary, "-c", `import numpy, ${module}`]).catch(() => undefined);
    if (there !== undefined) return { binary, work: (model, worker) => compare(target, model, worker) };
    return {
      reason: `${module} is not installed (${interpreter}: a Python that has it); parsed only`,
      binary: "python3",
      work: (model, worker) => parse(target, model, worker),
    };
  }
  const binary = await installed(environment);
  if (runner) return { binary, work: (model, worker) => sample(target, model, worker) };
  if (reader) return { binary, work: readGraphs };
  if (parser)
    return {
      reason: "Julia is not used; parsed only",
      binary,
      work: (model, worker) => parse(target, model, worker),
    };
  return { binary, work: (model, worker) => compare(target, model, worker) };
}

async function compare(target, model, worker) {
  const differences = [];
  for (const policyLength of model === "two_room" ? [1, 2] : [1]) {
    const program = render(target, model, { policyLength });
    const rows = `${program}.jsonl`;
    writeFileSync(rows, await worker.run([program, STEPS, SEED]));
    const { flavour } = TARGETS[target];
    const reference = [join(home, "reference.py"), sourceOf(model), rows, flavour, String(policyLength)];
    differences.push((await worker.run(reference)).trim());
  }
  if (target === "numpy" && model !== "linear") await measure(model, worker);
  return `${STEPS} steps, largest difference ${differences.join(" and ")}`;
}

/** Compares the memory and the operations of a program in one step with the estimate. */
async function measure(model, worker) {
  const counted = JSON.parse(await worker.run([join(home, "measure.py"), render("numpy", model)]));
  const { tensorBytes, operationsPerStep } = programCosts(programOf(model));
  const share = operationsPerStep / counted.operations;
  console.log(
    `     ${model}: ${counted.bytes} bytes, estimated ${tensorBytes}; ${counted.operations} operations, estimated ` +
      `${operationsPerStep} (${share.toFixed(2)})`,
  );
  if (tensorBytes !== counted.bytes || share < 0.5 || share > 2)
    throw new Error(`The costs of ${model} differ from the estimate.`);
}

async function parse(target, model, worker) {
  await worker.run([join(home, TARGETS[target].parser), render(target, model)]);
  return "parsed";
}

/** Compiles with the target's compiler; with a C++ compiler too, its samples are compared with the reference. */
async function sample(target, model, worker) {
  return (await worker.run([join(home, TARGETS[target].runner), render(target, model), sourceOf(model)])).trim();
}

/** Writes the graph of a model in the formats of other readers, and returns their findings. */
async function readGraphs(model, worker) {
  const exported = join(out, `${model}.graph`);
  for (const [format, ending] of Object.entries(GRAPHS))
    writeFileSync(`${exported}.${ending}`, exportOf(model, format));
  return (await worker.run([join(home, TARGETS.graphs.reader), exported])).trim();
}

/** Writes a model as a program and returns its path. */
function render(target, model, options = {}) {
  const program = join(out, `${model}.${target}.${{ rxinfer: "jl", stan: "stan" }[target] ?? "py"}`);
  writeFileSync(program, renderProgram(programOf(model), target, options));
  return program;
}

/** Asserts that `toolyard gnn` writes the tested program. */
async function expectCommand(target, model) {
  const isGraph = target === "graphs";
  const formats = isGraph ? Object.keys(GRAPHS) : [target];
  for (const format of formats) {
    const written = await gnn([isGraph ? "export" : "render", sourceOf(model), "--to", format]);
    const own = isGraph ? exportOf(model, format) : renderProgram(programOf(model), format);
    if (written.trimEnd() !== own.trimEnd()) throw new Error(`${model} as ${format} differs:\n${written}`);
  }
  return `${model}, ${formats.join(", ")}`;
}

function gnn(args) {
  return run([process.execPath, join(root, "packages", "toolyard", "dist", "cli", "main.js"), "gnn", ...args]);
}

function exportOf(model, format) {
  return exportGnn(parseGnn(textOf(model)).file, format);
}

function programOf(model) {
  return readProgram(viewOf(parseGnn(textOf(model)).file.models[0]));
}

function textOf(model) {
  return readFileSync(sourceOf(model), "utf8");
}

/** Returns the path of a model. Samples are next to the folder of families. */
function sourceOf(model) {
  return join(families, SAMPLES.includes(model) ? ".." : ".", `${model}.md`);
}

/**
 * Returns the Python of a separate virtual environment. The environment is created again if its list of packages has
 * changed.
 */
async function installed(name) {
  const list = join(home, `requirements-${name}.txt`);
  const folder = join(cache, `gnn-${name}`);
  const binary = join(folder, ...(process.platform === "win32" ? ["Scripts", "python.exe"] : ["bin", "python"]));
  const stamp = `${folder}.installed`;
  const digest = createHash("sha256").update(readFileSync(list)).digest("hex");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === digest) return binary;
  process.stderr.write(`Installing ${name} …\n`);
  rmSync(folder, { recursive: true, force: true });
  await run(["python3", "-m", "venv", folder]);
  // The list is complete, so pip need not resolve dependencies. Nothing is compiled at the installation, because only a
  // small part of the modules is imported.
  const how = ["--quiet", "--disable-pip-version-check", "--no-deps", "--no-compile"];
  const pip = ["-m", "pip", "install", ...how, "-r", list];
  await run([binary, ...pip]);
  writeFileSync(stamp, digest);
  return binary;
}

function run([command, ...args]) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: out, stdio: ["ignore", "pipe", "pipe"], timeout: CHILD_MS, env });
    const [output, errors] = [[], []];
    child.stdout.on("data", (part) => output.push(part));
    child.stderr.on("data", (part) => errors.push(part));
    child.on("error", reject);
    child.on("close", (code, signal) => {
      if (code === 0) return resolve(Buffer.concat(output).toString());
      const how = code ?? `${signal} (each has ${CHILD_MS / 60_000} minutes)`;
      const said = Buffer.concat([...output, ...errors]);
      reject(new Error(`${[command, ...args].join(" ")} ended with ${how}:\n${said}`));
    });
  });
}
