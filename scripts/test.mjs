// `npm test`: build, types, lint, the test suite, conformance. The last line counts everything:
// `N passed, N failed, N skipped`. A skip whose reason is not listed in test/allowed-skips.json is a failure.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const require = createRequire(import.meta.url);
const scratch = mkdtempSync(join(tmpdir(), "toolyard-test-"));
const total = { passed: 0, failed: 0, skipped: [] };

function run(name, script, args = [], env = {}) {
  console.log(`\n== ${name}`);
  const { status } = spawnSync(process.execPath, [script, ...args], { cwd: root, stdio: "inherit", env: { ...process.env, ...env } });
  return status === 0;
}

/** A step without counts of its own is one check. */
function check(name, script, args) {
  const passed = run(name, script, args);
  total[passed ? "passed" : "failed"] += 1;
  return passed;
}

/** A step that leaves its counts in a file. One that leaves none has failed. */
function counted(name, script, args) {
  const file = join(scratch, `${name}.json`);
  const passed = run(name, script, args, { TOOLYARD_TEST_SUMMARY: file });
  try {
    const summary = JSON.parse(readFileSync(file, "utf8"));
    total.passed += summary.passed;
    total.failed += summary.failed;
    total.skipped.push(...summary.skipped);
    if (!passed && summary.failed === 0) total.failed += 1;
  } catch {
    total.failed += 1;
  }
}

const bin = (name, path) => join(dirname(require.resolve(`${name}/package.json`)), path);

if (check("build", join(root, "scripts/build.mjs"), ["--clean"])) {
  check("types", bin("typescript", "bin/tsc"), ["--noEmit", "-p", "tsconfig.json"]);
  check("requirements", join(root, "scripts/requirements.mjs"), []);
  check("reference", join(root, "scripts/reference.mjs"), ["--check"]);
  check("lint", bin("oxlint", "bin/oxlint"), []);
  // Before the tests: some of them run programs that are among these.
  check("tools", join(root, "scripts/tools.mjs"), []);
  counted("tests", bin("vitest", "vitest.mjs"), ["run", "--reporter=default", "--reporter=./scripts/vitest-summary.mjs"]);
  counted("conformance", join(root, "scripts/conformance.mjs"), []);
}
rmSync(scratch, { recursive: true, force: true });

const allowed = JSON.parse(readFileSync(join(root, "test/allowed-skips.json"), "utf8"));
for (const { test, reason } of total.skipped) {
  const isListed = Object.hasOwn(allowed, reason);
  if (!isListed) total.failed += 1;
  console.log(`skipped: ${test}: ${reason}${isListed ? "" : " (not listed in test/allowed-skips.json)"}`);
}
console.log(`\n${total.passed} passed, ${total.failed} failed, ${total.skipped.length} skipped`);
process.exit(total.failed === 0 ? 0 : 1);
