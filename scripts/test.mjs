// `npm test [-- --tier unit|main|rest|all] [--strict]`: build, types, lint, the tests of a tier, conformance. The last
// lines name every failure and count everything: `N passed, N failed, N skipped`. A skip whose reason is not listed in
// test/allowed-skips.json is a failure. `scripts/tiers.mjs` defines the tiers; `main` is the default.
//
// If at most three tests fail, their files run again with nothing next to them. A test that passes then is printed as
// unsteady: it counts as passed, so that a busy machine does not hide what a change broke, and has to be fixed.
// `--strict` counts it as failed.
//
// TOOLYARD_TEST_COUNTS names a file that carries the counts from one run to the next: `.ci/run` runs `npm test` and
// then `--tier rest`, whose last line counts both.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { withEarlierCounts } from "./test-counts.mjs";
import { GOAL_MINUTES, TIERS } from "./tiers.mjs";

const { tier, isStrict } = readOptions();
const root = dirname(dirname(fileURLToPath(import.meta.url)));
const require = createRequire(import.meta.url);
const scratch = mkdtempSync(join(tmpdir(), "toolyard-test-"));
const total = { passed: 0, failures: [], skipped: [] };
/** Maximum number of failed tests that a busy machine may have caused. */
const MAX_UNSTEADY = 3;
const began = performance.now();

function run(name, [script, ...args], env = {}) {
  console.log(`\n== ${name}`);
  const { status } = spawnSync(process.execPath, [script, ...args], {
    cwd: root,
    stdio: "inherit",
    env: { ...process.env, ...env },
  });
  return status === 0;
}

/** Runs a step without counts as one check. */
function check(name, script, args) {
  const passed = run(name, [script, ...args]);
  if (passed) total.passed += 1;
  else total.failures.push({ test: name, message: "see above" });
  return passed;
}

/**
 * Starts a step that mostly waits for the network and the disk: it runs concurrently, and its output is printed at the
 * end.
 */
function begin(name, script) {
  const child = spawn(process.execPath, [script], { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
  const parts = [];
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (part) => parts.push(part));
  const ended = once(child, "close").catch((error) => [error.message]);
  return async () => {
    const [code] = await ended;
    console.log(`\n== ${name}\n${Buffer.concat(parts).toString().trimEnd()}`);
    if (code === 0) total.passed += 1;
    else total.failures.push({ test: name, message: `it ended with ${code}, see above` });
  };
}

/** Runs a step that writes its counts to a file. Without the file it has failed. */
function counted(name, script, args) {
  const file = join(scratch, `${name}.json`);
  const passed = run(name, [script, ...args], { TOOLYARD_TEST_SUMMARY: file, ...BUILT });
  const summary = readSummary(file) ?? { passed: 0, failures: [], skipped: [] };
  if (!passed && summary.failures.length === 0)
    summary.failures.push({ test: name, message: "it ended without a count, see above" });
  return summary;
}

function readSummary(file) {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return undefined;
  }
}

function add({ passed, failures, skipped }) {
  total.passed += passed;
  total.failures.push(...failures);
  total.skipped.push(...skipped);
}

/** Repeats the test files with failures, one at a time, if there were few. */
function withoutTheUnsteady(summary) {
  const { failures } = summary;
  const files = [...new Set(failures.map(({ file }) => file))];
  if (isStrict || failures.length === 0 || failures.length > MAX_UNSTEADY || files.includes(undefined)) return summary;
  const again = counted("the failed tests again, alone", vitest, [...VITEST_ARGS, "--no-file-parallelism", ...files]);
  if (again.failures.length > 0) return summary;
  for (const { file, test, message } of failures) console.log(`\nunsteady: ${file}: ${test}\n${message}`);
  return { ...summary, passed: summary.passed + failures.length, failures: [] };
}

const bin = (name, path) => join(dirname(require.resolve(`${name}/package.json`)), path);
const vitest = bin("vitest", "vitest.mjs");
const VITEST_ARGS = ["run", "--reporter=default", "--reporter=./scripts/vitest-summary.mjs"];

/** Environment variable that informs the tests that the programs were just built. */
const BUILT = { TEST_BUILD_IS_NEW: "yes" };

const STEPS = {
  unit: () => runTests(),
  main: async () => {
    await checkSources();
    runTests();
  },
  rest: async () => {
    await begin("tools", join(root, "scripts/tools.mjs"))();
    runTests();
    add(counted("conformance", join(root, "scripts/conformance.mjs"), []));
    checkWindows();
  },
  all: async () => {
    await checkSources();
    runTests();
    add(counted("conformance", join(root, "scripts/conformance.mjs"), []));
    checkWindows();
  },
};

if (check("build", join(root, "scripts/build.mjs"), ["--clean"])) await STEPS[tier]();
rmSync(scratch, { recursive: true, force: true });

/** Runs all checks that do not execute the program. */
async function checkSources() {
  // Some tests run programs of test/tools, so these are installed first.
  const endTools = begin("tools", join(root, "scripts/tools.mjs"));
  check("types", bin("typescript", "bin/tsc"), ["--noEmit", "-p", "tsconfig.json"]);
  check("types of the console", bin("typescript", "bin/tsc"), ["--noEmit", "-p", "packages/toolyard/console"]);
  check("requirements", join(root, "scripts/requirements.mjs"), []);
  check("reference", join(root, "scripts/reference.mjs"), ["--check"]);
  check("format", bin("oxfmt", "bin/oxfmt"), ["--check"]);
  check("lint", bin("oxlint", "bin/oxlint"), ["--type-aware", "--report-unused-disable-directives"]);
  check("lines", join(root, "scripts/lint/lines.mjs"), []);
  await endTools();
}

/** Runs the checks for Windows, on Windows or under Wine. */
function checkWindows() {
  const test = "Windows";
  if (process.platform !== "win32" && spawnSync("wine", ["--version"]).error)
    total.skipped.push({ test, reason: "Wine is not installed" });
  else check(test, join(root, "scripts/test-windows.mjs"), []);
}

function runTests() {
  const projects = TIERS[tier].flatMap((name) => ["--project", name]);
  add(withoutTheUnsteady(counted("tests", vitest, [...VITEST_ARGS, ...projects])));
}

function readOptions() {
  const { values } = parseArgs({
    options: { tier: { type: "string", default: "main" }, strict: { type: "boolean", default: false } },
  });
  if (!Object.hasOwn(TIERS, values.tier))
    throw new Error(`--tier is one of ${Object.keys(TIERS).join(", ")}, not "${values.tier}".`);
  return { tier: values.tier, isStrict: values.strict };
}

const allowed = JSON.parse(readFileSync(join(root, "test/allowed-skips.json"), "utf8"));
for (const { test, reason } of total.skipped) {
  const isListed = Object.hasOwn(allowed, reason);
  if (!isListed) total.failures.push({ test, message: `skipped for a reason that is not listed: ${reason}` });
  console.log(`skipped: ${test}: ${reason}${isListed ? "" : " (not listed in test/allowed-skips.json)"}`);
}
for (const { file, test, message } of total.failures)
  console.log(`\nfailed: ${file ? `${file}: ` : ""}${test}\n${message}`);
const minutes = ((performance.now() - began) / 60_000).toFixed(1);
console.log(`\nThe tier \`${tier}\` took ${minutes} minutes; its goal is ${GOAL_MINUTES[tier]}.`);
const counts = withEarlierCounts(
  process.env.TOOLYARD_TEST_COUNTS,
  { passed: total.passed, failed: total.failures.length, skipped: total.skipped.length },
  tier === "rest",
);
console.log(`\n${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
process.exit(total.failures.length === 0 ? 0 : 1);
