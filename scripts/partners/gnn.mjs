// `npm run partners -- gnn [--only pymdp,numpy] [--verbose]`: the programs that GNN models are rendered to, run by the
// libraries that they are for, twenty steps each; what they believed beside test/partners/gnn/reference.py; and the
// graphs of models, read by networkx and igraph (`graphs`). Needs the build and Python; what is not installed is
// skipped and said so.
import { createHash } from "node:crypto";
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { cache } from "./install.mjs";
import { lackOf } from "./versions.mjs";

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const home = join(root, "test", "partners", "gnn");
const families = join(root, "test", "fixtures", "gnn", "families");
const out = join(cache, "gnn-programs");
/** Of one installation, compilation or run: a machine that does much else takes long over each. */
const CHILD_MS = 7_200_000;
const STEPS = "20";
const SEED = "3";

/**
 * Where each target runs, and by which algorithm it must agree; `parser` where it is read only. What takes gigabytes
 * to install is not: a variable names the Python that has it.
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
/** Exports that hold the graph, with the endings under which the reader looks for them. */
const GRAPHS = { json: "json", graphml: "graphml", gexf: "gexf", json_adjacency_list: "adjacency" };
/** Groups, steps of time, labels and other scripts are in these, beside the families. */
const SAMPLES = ["hard_syntax"];
/** What a target cannot express; the test of refusals has the sentences. */
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
  const models = target === "graphs" ? [...own, ...SAMPLES] : own;
  const way = await wayOf(target).catch((error) => ({
    work: () => {
      throw new Error(`It cannot be installed. ${error.message}`);
    },
  }));
  if (way.reason) console.log(`skipped: ${target}: ${way.reason}`);
  for (const model of models.toSorted()) {
    if (REFUSED[target]?.includes(model)) continue;
    if (!way.work) counts.skipped += 1;
    else await report(`${target}, ${model}`, () => way.work(model));
  }
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

/** How a target is tried here, and why not as it should be. */
async function wayOf(target) {
  const { environment, module, parser, interpreter, runner, reader, flavour } = TARGETS[target];
  if (module) {
    const python = process.env[interpreter] ?? "python3";
    const there = await run([python, "-c", `import numpy, ${module}`]).catch(() => undefined);
    if (there === undefined)
      return {
        reason: `${module} is not installed (${interpreter}: a Python that has it); parsed only`,
        work: (model) => parse(target, model, ["python3", parser]),
      };
    return { work: (model) => compare(target, model, { binary: python, flavour }) };
  }
  const binary = await installed(environment);
  if (runner) return { work: (model) => sample(target, model, [binary, runner]) };
  if (reader) return { work: (model) => readGraphs(model, [binary, reader]) };
  if (parser)
    return { reason: "Julia is not used; parsed only", work: (model) => parse(target, model, [binary, parser]) };
  return { work: (model) => compare(target, model, { binary, flavour }) };
}

async function compare(target, model, { binary, flavour }) {
  const differences = [];
  for (const length of model === "two_room" ? ["1", "2"] : ["1"]) {
    const program = await render(target, model, ["--policy-length", length]);
    const rows = `${program}.jsonl`;
    writeFileSync(rows, await run([binary, program, STEPS, SEED]));
    const reference = [binary, join(home, "reference.py"), join(families, `${model}.md`), rows, flavour, length];
    differences.push((await run(reference)).trim());
  }
  if (target === "numpy" && model !== "linear") await measure(binary, model);
  return `${STEPS} steps, largest difference ${differences.join(" and ")}`;
}

/** What a program has and does in one step, counted in it, beside what is estimated. */
async function measure(binary, model) {
  const program = await render("numpy", model);
  const counted = JSON.parse(await run([binary, join(home, "measure.py"), program]));
  const { parseGnn, viewOf, readProgram, programCosts } = await import("../../dist/servers/gnn/index.js");
  const text = readFileSync(join(families, `${model}.md`), "utf8");
  const { tensorBytes, operationsPerStep } = programCosts(readProgram(viewOf(parseGnn(text).file.models[0])));
  const share = operationsPerStep / counted.operations;
  console.log(
    `     ${model}: ${counted.bytes} bytes, estimated ${tensorBytes}; ${counted.operations} operations, estimated ` +
      `${operationsPerStep} (${share.toFixed(2)})`,
  );
  if (tensorBytes !== counted.bytes || share < 0.5 || share > 2)
    throw new Error(`The costs of ${model} are not what was estimated.`);
}

async function parse(target, model, [binary, parser]) {
  await run([binary, join(home, parser), await render(target, model)]);
  return "parsed";
}

/** Compiled by its own compiler; where there is one for C++ too, its samples stand beside the reference. */
async function sample(target, model, [binary, runner]) {
  return (await run([binary, join(home, runner), await render(target, model), join(families, `${model}.md`)])).trim();
}

/** The graph of a model in the formats that others read, and what they find in it. */
async function readGraphs(model, [binary, reader]) {
  const exported = join(out, `${model}.graph`);
  for (const [format, ending] of Object.entries(GRAPHS))
    await gnn(["export", sourceOf(model), "--to", format, "-o", `${exported}.${ending}`]);
  return (await run([binary, join(home, reader), exported])).trim();
}

async function render(target, model, more = []) {
  const ending = { rxinfer: "jl", stan: "stan" }[target] ?? "py";
  const program = join(out, `${model}.${target}.${ending}`);
  await gnn(["render", sourceOf(model), "--to", target, "-o", program, ...more]);
  return program;
}

function gnn(args) {
  return run([process.execPath, join(root, "dist", "cli", "main.js"), "gnn", ...args]);
}

/** Samples lie beside the folder of families. */
function sourceOf(model) {
  return join(families, SAMPLES.includes(model) ? ".." : ".", `${model}.md`);
}

/** The Python of an environment of its own, made when its list has changed. */
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
  // The list is whole, so nothing is left to resolve; what is imported is compiled then, a small part of it all.
  const how = ["--quiet", "--disable-pip-version-check", "--no-deps", "--no-compile"];
  const pip = ["-m", "pip", "install", ...how, "-r", list];
  await run([binary, ...pip]);
  writeFileSync(stamp, digest);
  return binary;
}

function run([command, ...args]) {
  return new Promise((resolve, reject) => {
    const env = { ...process.env, PYTHONPYCACHEPREFIX: join(cache, "gnn-compiled"), PYTHONWARNINGS: "ignore" };
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
