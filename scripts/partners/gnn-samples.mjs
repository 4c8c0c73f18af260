// `GNN_SAMPLES=FOLDER npm run partners -- gnn-samples`: the public sample models below a folder. Changes each stated
// parameter and reports whether the program changes (used), a note names the parameter (noted), or a changed size is
// reported (compared); anything else is a failure. With GNN_PYMDP_0 and GNN_PYMDP_1, two Pythons that have PyMDP 0.0.7
// and 1.x, compares each run with agents that test/interop/gnn/from_statements.py builds from the file. Needs the
// build.
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { parseGnn, ProgramError, readProgram, simulate, toRunData, viewOf } from "../../packages/gnn/dist/index.js";

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const folder = process.env.GNN_SAMPLES;
if (!folder) throw new Error("GNN_SAMPLES must name a folder with GNN files.");
const LIBRARIES = { "pymdp-0.0.7": process.env.GNN_PYMDP_0, "pymdp-1": process.env.GNN_PYMDP_1 };
const TOLERANCE = 1e-6;
/** Steps of a comparison: PyMDP on JAX takes a second for each step of a large model. */
const STEPS = Number(process.env.GNN_SAMPLE_STEPS ?? 5);

const rows = samplesIn(folder).map((path) => ({
  path,
  text: readFileSync(path, "utf8"),
  ...stateOf(readFileSync(path, "utf8")),
}));
const distances = {};
for (const [library, python] of Object.entries(LIBRARIES))
  if (python) distances[library] = await compared(library, python);
const failures = [];
console.log(`| file | steps | used | compared | noted | ${Object.keys(distances).join(" | ")} |`);
console.log(
  `| --- | ---: | --- | --- | --- | ${Object.keys(distances)
    .map(() => "---:")
    .join(" | ")} |`,
);
for (const { path, program, refusal, parameters } of rows) {
  const name = relative(folder, path);
  if (!program) {
    console.log(
      `| \`${name}\` | refused: ${refusal} | | | | ${Object.keys(distances)
        .map(() => "")
        .join(" | ")} |`,
    );
    continue;
  }
  const of = (kind) =>
    Object.entries(parameters)
      .filter(([, one]) => one === kind)
      .map(([key]) => key)
      .join(", ");
  if (of("ignored")) failures.push(`${name}: ignores ${of("ignored")}`);
  const figures = Object.values(distances).map((byFile) => figureOf(byFile.get(path), name));
  const steps = program.settings.steps ?? 20;
  console.log(`| ${[`\`${name}\``, steps, of("used"), of("compared"), of("noted"), ...figures].join(" | ")} |`);
}
for (const failure of failures) console.log(`FAIL ${failure}`);
console.log(
  `${rows.filter(({ program }) => program).length} of ${rows.length} models run, ${failures.length} failures`,
);
process.exit(failures.length > 0 ? 1 : 0);

function figureOf(result, name) {
  if (!result) return "";
  if (result.error) {
    failures.push(`${name}: ${result.error}`);
    return "error";
  }
  if (result.distance > TOLERANCE) failures.push(`${name}: differs by ${result.distance}`);
  return result.distance.toExponential(1);
}

function samplesIn(path) {
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".md"))
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((file) => isModel(readFileSync(file, "utf8")))
    .toSorted();
}

/** Returns whether a text is a model. Documents that quote models in code fences are omitted. */
function isModel(text) {
  return (
    /^## *StateSpaceBlock/m.test(text) &&
    /^## *(?:GNNSection|ModelName|GNNVersionAndFlags)/m.test(text) &&
    !/^```/m.test(text)
  );
}

function programOf(text) {
  try {
    return { program: readProgram(viewOf(parseGnn(text).file.models[0])) };
  } catch (error) {
    if (error instanceof ProgramError) return { refusal: error.message };
    throw error;
  }
}

/** Returns the program of a text, and the use of each of its parameters. */
function stateOf(text) {
  const { program, refusal } = programOf(text);
  if (!program) return { refusal };
  const { parameters } = viewOf(parseGnn(text).file.models[0]);
  const kinds = parameters.map(({ key, value, span }) => {
    if (program.notes.some((note) => new RegExp(`(?:^|[ ,:])${key.text}(?:[ ,.;]|$)`).test(note)))
      return [key.text, "noted"];
    const changed = programOf(text.slice(0, span.from) + changedLine(key.text, value) + text.slice(span.to));
    if (!changed.program) return [key.text, "used"];
    const [before, after] = [program, changed.program].map((one) => JSON.stringify({ ...one, notes: [] }));
    if (before !== after) return [key.text, "used"];
    return [key.text, changed.program.notes.some((note) => note.includes(key.text)) ? "compared" : "ignored"];
  });
  return { program, parameters: Object.fromEntries(kinds) };
}

function changedLine(name, value) {
  if (value.kind === "number") return `${name}: ${value.value + 17}`;
  if (value.kind === "group") return `${name}: [${value.items.map((item) => (item.value ?? 1) + 17).join(", ")}]`;
  return `${name}: ${value.text.split("").toReversed().join("")}`;
}

/** Returns the distance of each run from PyMDP, by file. */
async function compared(library, python) {
  const jobs = [];
  for (const { path, program } of rows) {
    if (program?.kind !== "discrete" || program.arrangement === "levels") continue;
    const run = await simulate(program, {
      method: library,
      steps: Math.min(program.settings.steps ?? 20, STEPS),
    }).catch((error) => error);
    if (!(run instanceof Error)) jobs.push(JSON.stringify({ file: path, rows: toRunData(run) }));
  }
  const script = join(root, "test", "interop", "gnn", "from_statements.py");
  const { stdout, stderr } = spawnSync(python, [script], {
    input: `${jobs.join("\n")}\n`,
    maxBuffer: 2 ** 28,
    encoding: "utf8",
  });
  if (stdout === "") throw new Error(stderr);
  return new Map(
    stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line))
      .map((one) => [one.file, one]),
  );
}
