// `npm run partners -- library [--only document,python-1] [--verbose]`: third-party clients call the nine tools of the
// document library over stdio, and must get the same answers. `LIBRARY_RAG` names a checkout of
// davidblanc347/linear-coding-agent with models against which the answers are checked. Needs the build and Python;
// missing programs are skipped with a message.
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { isDeepStrictEqual, parseArgs } from "node:util";
import PdfDocument from "pdfkit";
import { installPartners } from "./install.mjs";

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const home = join(root, "test", "interop", "library");
const CHILD_MS = 300_000;
/** Program and environment of each client; the document's client needs only Python. */
const CLIENTS = {
  document: { program: "document.py" },
  "python-1": { program: "sdk_1.py", partner: "python-1" },
  "python-2": { program: "sdk_2.py", partner: "python-2" },
  fastmcp: { program: "fastmcp_client.py", partner: "fastmcp" },
};
const WAYS = {
  service: [process.execPath, join(root, "packages", "library", "dist", "main.js"), "--stdio"],
  hub: [process.execPath, join(root, "packages", "toolyard", "dist", "cli", "main.js"), "serve", "--stdio", "--config"],
};

const { values } = parseArgs({
  options: { only: { type: "string" }, verbose: { type: "boolean", default: false } },
  allowPositionals: true,
});
const wanted = values.only?.split(",") ?? Object.keys(CLIENTS);
const unknown = wanted.find((name) => !Object.hasOwn(CLIENTS, name));
if (unknown !== undefined) throw new Error(`--only takes ${Object.keys(CLIENTS).join(", ")}, got "${unknown}".`);

const began = performance.now();
const work = realpathSync(mkdtempSync(join(tmpdir(), "toolyard-partners-library-")));
const counts = { passed: 0, failed: 0, skipped: 0 };
let first;
try {
  await makeBooks();
  const { ready, skipped } = await installPartners(new Set(wanted.map((name) => CLIENTS[name].partner)));
  for (const { name, reason } of skipped) console.log(`skipped: ${name}: ${reason}`);
  for (const name of wanted) {
    const { program, partner } = CLIENTS[name];
    const python = partner === undefined ? "python3" : ready.find((one) => one.name === partner)?.client[0];
    for (const way of Object.keys(WAYS))
      if (python === undefined) counts.skipped += 1;
      else await report(`${name}, ${way}`, () => ask([python, join(home, program)], way));
  }
  await validate(ready[0]?.client[0]);
} finally {
  rmSync(work, { recursive: true, force: true });
}
console.log(`\npartners library: ${Math.round((performance.now() - began) / 1000)} s`);
console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
process.exit(counts.failed > 0 ? 1 : 0);

async function makeBooks() {
  mkdirSync(join(work, "books"));
  writeFileSync(
    join(work, "books", "clear.md"),
    "---\ntitle: On Clear Ideas\nauthor: Peirce, Charles Sanders\nyear: 1878\n---\n# On Clear Ideas\n\n" +
      "Nominalism denies that anything general is real; whoever asks what a law of nature is has to answer it.\n",
  );
  const document = new PdfDocument({ autoFirstPage: false, info: { Title: "Of Laws", Author: "A. Writer" } });
  const pieces = [];
  document.on("data", (piece) => pieces.push(piece));
  const written = new Promise((done) => document.on("end", done));
  for (const [heading, text] of [
    ["Of Laws", "A law of nature is general. It holds of what was never seen, and nobody ever saw the whole of it."],
    [
      "Of Names",
      "Whoever takes names for things will be a nominalist, and says so whenever there is somebody to hear.",
    ],
  ])
    document.addPage().fontSize(24).text(heading).moveDown().fontSize(11).text(text);
  document.end();
  await written;
  writeFileSync(join(work, "books", "laws.pdf"), Buffer.concat(pieces));
}

/**
 * Calls the tools with a client and a new library, which is at the same path for each client, so that all clients get
 * the same paths.
 */
async function ask(client, way) {
  const data = join(work, "home");
  rmSync(data, { recursive: true, force: true });
  writeFileSync(join(work, "toolyard.toml"), '[services]\nlibrary = true\n[library]\nroots = ["books"]\n');
  const command = way === "hub" ? [...WAYS.hub, join(work, "toolyard.toml")] : WAYS.service;
  const env = { TOOLYARD_HOME: data, LIBRARY_ROOTS: join(work, "books") };
  const told = JSON.parse(await run([...client, JSON.stringify(command), JSON.stringify(env)], { env }));
  if (told.unlisted.length > 0) throw new Error(`Not listed: ${told.unlisted.join(", ")}`);
  expectAnswers(told);
  first ??= told;
  if (!isDeepStrictEqual(told, first)) throw new Error(`The answers differ:\n${differences(told)}`);
  return `${told.told.length} calls`;
}

/** Asserts that every client understands a missing answer, and that no search is wrongly empty. */
function expectAnswers({ told }) {
  const failing = told.filter(({ value }) => value?.failed).map(({ tool }) => tool);
  const expected = ["parse_pdf", "search_chunks", "search_chunks"];
  if (!isDeepStrictEqual(failing, expected)) throw new Error(`These calls failed: ${failing.join(", ")}`);
  const odd = told.find(({ value }) => value?.raised ?? value?.differs);
  if (odd) throw new Error(JSON.stringify(odd));
  const counted = told.filter(({ tool }) => tool === "search_chunks").map(({ value }) => value.total_count);
  if (!isDeepStrictEqual(counted.slice(0, 3), [1, 3, 0])) throw new Error(`Searches found ${counted.join(", ")}.`);
}

function differences({ told }) {
  return told
    .filter((row, at) => !isDeepStrictEqual(row, first.told[at]))
    .map((row) => JSON.stringify(row))
    .join("\n");
}

async function validate(python) {
  const folder = process.env.LIBRARY_RAG && join(process.env.LIBRARY_RAG, "generations", "library_rag");
  if (!folder || !python || !first || !existsSync(join(folder, "mcp_tools", "schemas.py"))) {
    counts.skipped += 1;
    console.log("skipped: models of Library RAG: LIBRARY_RAG names no checkout of davidblanc347/linear-coding-agent");
    return;
  }
  await report("models of Library RAG", async () => {
    const checked = await run([python, join(home, "validate.py"), folder], { input: JSON.stringify(first) });
    return `${checked.trim()} answers`;
  });
}

async function report(name, task) {
  const since = performance.now();
  try {
    const said = await task();
    counts.passed += 1;
    console.log(`ok   ${name}: ${said} (${Math.round((performance.now() - since) / 1000)} s)`);
  } catch (error) {
    counts.failed += 1;
    console.log(`FAIL ${name}: ${values.verbose ? error.message : error.message.slice(-1_500)}`);
  }
}

function run([command, ...args], { env = {}, input = "" } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd: work,
      stdio: ["pipe", "pipe", "pipe"],
      timeout: CHILD_MS,
      env: { ...process.env, PYTHONDONTWRITEBYTECODE: "1", ...env },
    });
    const [output, errors] = [[], []];
    child.stdout.on("data", (part) => output.push(part));
    child.stderr.on("data", (part) => errors.push(part));
    child.on("error", reject);
    child.on("close", (code) => {
      if (code === 0) resolve(Buffer.concat(output).toString());
      else reject(new Error(`${command} ended with ${code}:\n${Buffer.concat([...output, ...errors])}`));
    });
    child.stdin.end(input);
  });
}
