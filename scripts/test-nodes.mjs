// `npm run test:nodes [-- --only 22,24 --as user] [folder or file …]`: runs the tests of untrusted code (sandbox,
// scripts, bridges), of attacked parts, and of faults on each supported release of Node, as root and as a plain user;
// or the named tests. The binaries come from test/nodes. The last figures are in test/RESULTS.md.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, chmodSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { ensureInstalled } from "./tools.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const SUITES = [
  "test/sandbox",
  "test/scripts",
  "test/calling",
  "packages/toolyard/src/runtimes",
  "packages/toolyard/src/sandbox",
  "packages/toolyard/src/providers/scripts",
  "packages/toolyard/src/providers/folders",
  "packages/toolyard/src/providers/defaults",
  "packages/toolyard/src/process",
  "test/security",
  "test/faults",
  "test/interop",
];
const MAJORS = ["20", "22", "24", "26"];
const NOBODY = 65534;

if (process.platform !== "linux" || process.arch !== "x64")
  throw new Error("The binaries of test/nodes are for Linux on x64.");
const options = readOptions(process.argv.slice(2));
const modules = ensureInstalled("test/nodes");
// Installs Deno, for the sandbox engine with that name.
ensureInstalled("test/tools");
const built = spawnSync(process.execPath, [join(root, "scripts/build.mjs")], { stdio: "inherit" });
if (built.status !== 0) process.exit(1);

const isRoot = process.getuid() === 0;
const rows = [];
for (const major of options.only) {
  for (const user of options.as) {
    if (user === "root" && !isRoot) continue;
    rows.push(runSuites(major, user));
  }
}

console.log(`\n| Node | as | passed | failed | skipped | time |\n|---|---|---:|---:|---:|---:|`);
for (const { version, user, passed, failed, skipped, seconds } of rows)
  console.log(`| ${version} | ${user} | ${passed} | ${failed} | ${skipped} | ${seconds} s |`);
const sum = (key) => rows.reduce((total, row) => total + row[key], 0);
console.log(`\n${sum("passed")} passed, ${sum("failed")} failed, ${sum("skipped")} skipped`);
process.exit(sum("failed") > 0 || rows.some((row) => !row.isWhole) ? 1 : 0);

function runSuites(major, user) {
  const node = join(modules, `node${major}`, "bin", "node");
  const version = spawnSync(node, ["--version"], { encoding: "utf8" }).stdout.trim();
  const home = mkdtempSync(join(tmpdir(), "toolyard-node-"));
  chmodSync(home, 0o777);
  const summary = join(home, "summary.json");
  console.log(`\n== Node ${version} as ${user}`);
  const vitest = [
    join(root, "node_modules/vitest/vitest.mjs"),
    "run",
    "--configLoader",
    "runner",
    "--reporter=dot",
    "--reporter=./scripts/vitest-summary.mjs",
    ...options.suites,
  ];
  const dropped =
    isRoot && user === "user" ? ["setpriv", `--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups"] : [];
  const [command, ...args] = [...dropped, node, ...vitest];
  const began = performance.now();
  const { status } = spawnSync(command, args, { cwd: root, stdio: "inherit", env: environmentOf(node, home, summary) });
  const seconds = Math.round((performance.now() - began) / 1000);
  const counts = readCounts(summary);
  rmSync(home, { recursive: true, force: true });
  return { version, user, seconds, isWhole: status === 0, ...counts };
}

/** Makes `node` mean this release for every program of the tests. */
function environmentOf(node, home, summary) {
  return {
    ...process.env,
    PATH: `${dirname(node)}:${process.env.PATH}`,
    HOME: home,
    TMPDIR: home,
    TOOLYARD_TEST_SUMMARY: summary,
  };
}

function readCounts(file) {
  try {
    const { passed, failed, skipped } = JSON.parse(readFileSync(file, "utf8"));
    for (const { test, reason } of skipped) console.log(`skipped: ${test}: ${reason}`);
    return { passed, failed, skipped: skipped.length };
  } catch {
    return { passed: 0, failed: 1, skipped: 0 };
  }
}

function readOptions(words) {
  const unknownOption = words.find((word) => word.startsWith("--") && !["--only", "--as"].includes(word));
  if (unknownOption !== undefined) throw new Error(`Unknown option \`${unknownOption}\`. Use --only or --as.`);
  const valueOf = (name) => (words.includes(name) ? (words[words.indexOf(name) + 1] ?? "") : undefined);
  const only = valueOf("--only")?.split(",") ?? MAJORS;
  const unknown = only.find((major) => !MAJORS.includes(major));
  if (unknown !== undefined) throw new Error(`--only takes ${MAJORS.join(", ")}, got "${unknown}".`);
  const named = words.filter((word, at) => !word.startsWith("--") && !["--only", "--as"].includes(words[at - 1]));
  return {
    only,
    as: valueOf("--as")?.split(",") ?? ["root", "user"],
    suites: named.length > 0 ? named : SUITES,
  };
}
