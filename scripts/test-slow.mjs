// `npm run test:slow [-- --times 3 --factor 3 --by quota|systemd|load] [files]`: `npm run test:all` in a fresh clone of
// HEAD, on a machine slowed down by the factor and without bubblewrap; with files, only those tests. The actual
// slowdown is measured before each run and printed. The last figures are in test/RESULTS.md.
import { spawn, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs, stripVTControlCharacters } from "node:util";
import { slowDown, WAYS } from "./slow/slow-down.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const [npm, npx] = process.platform === "win32" ? ["npm.cmd", "npx.cmd"] : ["npm", "npx"];
const options = readOptions();
const scratch = mkdtempSync(join(tmpdir(), "toolyard-slow-"));
// Tests that drop their privileges must still find programs.
chmodSync(scratch, 0o755);
const env = { ...process.env, PATH: pathWithout("bwrap") };
const rows = [];
const children = new Set();

const slow = await slowDown(options);
process.once("SIGINT", () => void finish(130));
process.once("SIGTERM", () => void finish(143));
try {
  console.log(`Slower by ${options.factor}: ${slow.description}`);
  for (let turn = 1; turn <= options.times; turn += 1) rows.push(await runOnce(turn));
  report();
} catch (error) {
  console.error(error);
}
await finish(rows.length === options.times && rows.every(({ isWhole }) => isWhole) ? 0 : 1);

async function runOnce(turn) {
  const clone = join(scratch, `clone-${turn}`);
  console.log(`\n== run ${turn} of ${options.times}: a fresh clone`);
  must("git", ["clone", "--quiet", "--no-hardlinks", root, clone], tmpdir());
  must(npm, ["ci", "--no-audit", "--no-fund", "--loglevel=error"], clone);
  const { before, now } = await measure();
  console.log(
    `A fixed computation, one for each of ${availableParallelism()} cores: ${before.wallMs} ms before ` +
      `(${before.cpuMs} ms of a core each), ${now.wallMs} ms now.`,
  );
  const began = performance.now();
  const { code, output } = await run(
    slow.wrap(
      options.files.length > 0 ? [npx, "vitest", "run", ...options.files] : [npm, "run", "test:all", "--", "--strict"],
    ),
    clone,
  );
  const minutes = (performance.now() - began) / 60_000;
  const left = slow.endWhatIsLeft();
  if (left > 0) console.log(`${left} processes outlived the run.`);
  rmSync(clone, { recursive: true, force: true });
  return { turn, ...countsIn(output), minutes, factor: now.wallMs / before.cpuMs, isWhole: code === 0 && left === 0 };
}

/** Runs the same work on every core, with and without the slowdown. */
async function measure() {
  const script = join(root, "scripts/slow/fixed-work.mjs");
  const all = async (wrap) => {
    const done = await Promise.all(
      Array.from({ length: availableParallelism() }, () => run(wrap([process.execPath, script]), root, "quiet")),
    );
    const times = done.map(({ output }) => JSON.parse(output));
    return {
      wallMs: Math.max(...times.map(({ wallMs }) => wallMs)),
      cpuMs: Math.min(...times.map(({ cpuMs }) => cpuMs)),
    };
  };
  await slow.pause();
  const before = await all((command) => command);
  await slow.resume();
  return { before, now: await all(slow.wrap) };
}

function run([command, ...args], cwd, quiet) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd,
      env,
      stdio: ["ignore", "pipe", "pipe"],
      shell: process.platform === "win32",
    });
    children.add(child);
    const parts = [];
    const take = (stream) => (part) => {
      parts.push(part);
      if (!quiet) stream.write(part);
    };
    child.stdout.on("data", take(process.stdout));
    child.stderr.on("data", quiet ? () => {} : take(process.stderr));
    child.once("error", reject);
    child.once("close", (code) => {
      children.delete(child);
      resolve({ code, output: Buffer.concat(parts).toString() });
    });
  });
}

/** Returns the last counts, and the names of the tests and runs that failed. */
function countsIn(output) {
  const plain = stripVTControlCharacters(output);
  const totals = plain.split("\n").findLast((line) => /^ *(?:Tests )?.*\d+ (?:passed|failed)/u.test(line)) ?? "";
  const count = (what) => Number(new RegExp(`(\\d+) ${what}`, "u").exec(totals)?.[1] ?? 0);
  const failures = Array.from(new Set(Array.from(plain.matchAll(/^ *FAIL +(.+)$/gmu), ([, name]) => name)));
  return { passed: count("passed"), failed: count("failed"), skipped: count("skipped"), failures };
}

/**
 * Returns PATH without a program: each folder that contains the program is replaced by a folder with links to all its
 * other entries.
 */
function pathWithout(program) {
  return (process.env.PATH ?? "")
    .split(delimiter)
    .map((folder, at) => {
      if (!existsSync(join(folder, program))) return folder;
      const links = join(scratch, `path-${at}`);
      mkdirSync(links);
      for (const name of readdirSync(folder)) if (name !== program) symlinkSync(join(folder, name), join(links, name));
      return links;
    })
    .join(delimiter);
}

function must(command, args, cwd) {
  const { status } = spawnSync(command, args, {
    cwd,
    stdio: ["ignore", "inherit", "inherit"],
    shell: process.platform === "win32",
  });
  if (status !== 0) throw new Error(`${command} ${args.join(" ")} ended with ${status}.`);
}

function report() {
  console.log("\n| run | slower by | passed | failed | skipped | minutes |\n|---:|---:|---:|---:|---:|---:|");
  for (const { turn, factor, passed, failed, skipped, minutes } of rows)
    console.log(`| ${turn} | ${factor.toFixed(1)} | ${passed} | ${failed} | ${skipped} | ${minutes.toFixed(1)} |`);
  for (const { turn, failures } of rows) for (const name of failures) console.log(`run ${turn} failed: ${name}`);
}

async function finish(code) {
  for (const child of children) child.kill("SIGTERM");
  await slow.close();
  rmSync(scratch, { recursive: true, force: true });
  process.exit(code);
}

function readOptions() {
  const { values, positionals: files } = parseArgs({
    allowPositionals: true,
    options: {
      times: { type: "string", default: "3" },
      factor: { type: "string", default: "3" },
      by: { type: "string" },
    },
  });
  const times = Number(values.times);
  const factor = Number(values.factor);
  if (!Number.isInteger(times) || times < 1)
    throw new Error(`--times takes a whole number above 0, got "${values.times}".`);
  if (!(factor >= 1)) throw new Error(`--factor takes a number of 1 or more, got "${values.factor}".`);
  if (values.by !== undefined && !WAYS.includes(values.by))
    throw new Error(`--by takes ${WAYS.join(", ")}, got "${values.by}".`);
  return { times, factor, by: values.by, files };
}
