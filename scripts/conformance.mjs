// Runs the official conformance suite through the hub: as a server with the fixture behind it in seven shapes, as a
// client, as an authorization server, and as a server that requires access tokens. `--only hubs` runs it against three
// hubs that share a store in Redis, behind HAProxy, which sends each request to another hub.
//
//   node scripts/conformance.mjs [--only
//   module|stdio|stdio-both|stdio-legacy|http-legacy|http-modern|http-both|client|authorization-server|
//   server-auth|direct|hubs]
//   [--url URL] [--requirements DATE] [--verbose]
//
// `--url` runs the server scenarios against a running server; `direct` runs them against the fixture without the hub.
// Exits with 1 when a scored scenario fails that is not in the expected failures, or one of those passes.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { runAuthorizationServer } from "./conformance-authorization.mjs";
import { runServerAuth } from "./conformance-server-auth.mjs";
import { startHubsBehindBalancer } from "./hubs-behind-balancer.mjs";
import { ensureTools } from "./tools.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const home = join(root, "test", "conformance");
const fixture = join(home, "fixture");
const tasksFixture = join(home, "fixture-tasks");
const register = pathToFileURL(
  join(root, "packages", "toolyard", "dist", "runtimes", "typescript", "register.js"),
).href;
const toolyard = join(root, "packages", "toolyard", "dist", "cli", "main.js");
const DATES = ["2025-11-25", "2026-07-28"];
const START_MS = 30_000;
const RUN_MS = 300_000;
/**
 * Number of concurrent scenarios: one more than the usual number of cores, because much of the time is spent waiting.
 */
const AT_ONCE = 3;

const { values: options } = parseArgs({
  options: {
    only: { type: "string", multiple: true },
    url: { type: "string" },
    requirements: { type: "string" },
    verbose: { type: "boolean", default: false },
  },
});

const tools = ensureTools();
const work = mkdtempSync(join(tmpdir(), "toolyard-conformance-"));
const children = new Set();
let running = 0;
const waiting = [];

/** `test_tool_with_task` sends a request first and becomes a task afterwards; the others are tasks immediately. */
const TASKS = `
[tasks]
mode = "never"
after = "100ms"

[tasks.tools]
test_tool_with_task = "auto"
failing_job = "required"
slow_compute = "always"
confirm_delete = "always"
multi_input = "always"
protocol_error_job = "always"
`;

/**
 * The seven kinds of upstream servers, as configuration. The tools of those called `both` differ between the eras, like
 * those of real servers.
 */
const SHAPES = {
  module: async () => `[modules]\npaths = [${quote(fixture)}, ${quote(tasksFixture)}]\n${TASKS}`,
  stdio: async () => local("stdio-dual.ts"),
  "stdio-both": async () => local("stdio-both.ts"),
  "stdio-legacy": async () => `${local("stdio-dual.ts")}era = "legacy"\n`,
  "http-legacy": async () => remote(await startFixture("http-legacy.ts")),
  "http-modern": async () => remote(await startFixture("http-modern.ts")),
  "http-both": async () => remote(await startFixture("http-both.ts")),
};

/** Scenarios that cannot pass, with the reason next to each in the file. */
const LEGACY_EXPECTED = join(home, "expected-failures.legacy.2026-07-28.yaml");
const EXPECTED = { "http-legacy 2026-07-28": LEGACY_EXPECTED, "stdio-legacy 2026-07-28": LEGACY_EXPECTED };

/** Names of the runs with a fixture that has the task tools, so that the scenarios for tasks are scored. */
const TASKS_SCORED = new Set(["module 2026-07-28", "hubs 2026-07-28"]);

/** Time limit of the suite for the driver, which starts several programs in some scenarios. */
const CLIENT_MS = 240_000;

/** Client scenarios of each revision that do not concern authorisation; the suite defines their scores. */
const CLIENT = {
  "2025-11-25": [
    "initialize",
    "tools_call",
    "elicitation-sep1034-client-defaults",
    "sse-retry",
    "json-schema-2020-12-preservation",
  ],
  "2026-07-28": [
    "tools_call",
    "request-metadata",
    "sep-2322-client-request-state",
    "http-standard-headers",
    "http-custom-headers",
    "http-invalid-tool-headers",
    "json-schema-ref-no-deref",
    "json-schema-2020-12-preservation",
  ],
};
const CLIENT_UNSCORED = new Set(["json-schema-2020-12-preservation"]);
/** Scenarios of an earlier revision, which no requirement set names. */
const BACK_COMPATIBLE = ["auth/2025-03-26-oauth-metadata-backcompat", "auth/2025-03-26-oauth-endpoint-fallback"];

const quote = (text) => JSON.stringify(text);
const local = (file) =>
  "[mcp.stdio_servers.fixture]\ncommand = " +
  `[${[process.execPath, "--import", register, join(fixture, file)].map(quote).join(", ")}]\nnamespace = ""\n`;
const remote = (url) => `[[mcp.remote_servers]]\nalias = "fixture"\nnamespace = ""\nurl = ${quote(url)}\n`;
const dates = options.requirements ? [options.requirements] : DATES;
const NOTHING_EXPECTED = { expected: new Set(), either: new Set() };
const isWanted = (name) => !options.only || options.only.includes(name);

try {
  const results = await runAll();
  report(results);
  process.exitCode = results.length > 0 && results.every((result) => result.ok) ? 0 : 1;
} finally {
  await Promise.all(Array.from(children, stop));
  rmSync(work, { recursive: true, force: true });
}

async function runAll() {
  if (options.url) return each(dates, (date) => runServer(options.url, `url ${date}`, date));
  if (options.only?.includes("direct")) return runDirect();
  if (!existsSync(toolyard))
    throw new Error("packages/toolyard/dist/cli/main.js is not there. Run `npm run build` first.");
  if (options.only?.includes("hubs")) return runHubs();
  const shapes = Object.keys(SHAPES).filter(isWanted);
  const results = [
    ...shapes.map((name) => inTurn(() => runShape(name))),
    isWanted("client") ? runClients() : [],
    isWanted("authorization-server") ? runAuthorizationServer({ work, toolyard, tools, startHub, children }) : [],
    isWanted("server-auth") ? runServerAuth({ work, tools, startHub, children }) : [],
  ];
  return (await Promise.all(results)).flat();
}

async function runShape(name) {
  const config = join(work, `${name}.toml`);
  // Lists wait up to 60 s for the servers, because the suite starts immediately, even if this machine starts the
  // servers slowly.
  writeFileSync(config, `[catalog]\ncold_wait = "60s"\n\n${await SHAPES[name]()}`);
  const { url, child } = await startHub(config);
  const results = await each(dates, (date) => runServer(url, `${name} ${date}`, date));
  await stop(child);
  return results;
}

/** Runs both requirement sets against three hubs behind a balancer without session affinity. */
async function runHubs() {
  const shape = `[catalog]\ncold_wait = "60s"\n\n${await SHAPES.module()}`;
  const url = await startHubsBehindBalancer({ work, shape, startProgram: startAndReadLine });
  return each(dates, (date) => runServer(url, `hubs ${date}`, date));
}

async function runDirect() {
  const modern = await startFixture("http-modern.ts");
  const legacy = await startFixture("http-legacy.ts");
  const both = await startFixture("http-both.ts");
  const runs = [
    [legacy, "http-legacy", "2025-11-25"],
    [modern, "http-modern", "2026-07-28"],
    [both, "http-both", "2025-11-25"],
    [both, "http-both", "2026-07-28"],
  ];
  return each(runs, ([url, name, date]) => runServer(url, `direct ${name} ${date}`, date));
}

/**
 * Runs a requirement set against an endpoint. Expected failures are judged here, since the suite counts its warnings
 * too.
 */
async function runServer(url, name, date) {
  const { code, output } = await runSuite([
    "server",
    "--url",
    url,
    "--requirements",
    date,
    "-o",
    join(work, name.replaceAll(" ", "-")),
  ]);
  const { expected, either } = EXPECTED[name] ? namesIn(EXPECTED[name]) : NOTHING_EXPECTED;
  const unscored = new Set(
    Array.from(
      output.matchAll(/^ {2}[✓✗] (\S+) \((?:extension|pending|added-after-release)\)/gmu),
      (match) => match[1],
    ),
  );
  const scenarios = Array.from(
    output.matchAll(/^[✓✗] (\S+): (\d+) passed, (\d+) failed/gmu),
    ([, scenario, passed, failed]) => ({
      scenario,
      passed: Number(passed),
      failed: Number(failed),
      // The suite does not score extensions, so the scenarios for tasks are scored here.
      scored: !unscored.has(scenario) || (TASKS_SCORED.has(name) && scenario.startsWith("tasks-")),
      expected: expected.has(scenario) || (either.has(scenario) && Number(failed) > 0),
    }),
  );
  const hasFailed = scenarios.some((row) => row.scored && row.failed > 0);
  const isJudged = scenarios.length > 0 && (code === 0) !== hasFailed;
  const ok = isJudged && scenarios.every((row) => !row.scored || row.expected === row.failed > 0);
  if (options.verbose) process.stderr.write(output);
  return { name, ok, scenarios, detail: ok ? "" : isJudged ? failuresOf(output) : output };
}

/** Returns the entries of a file of expected failures: those that always fail, and those that may fail or pass. */
function namesIn(file) {
  const [always, either = ""] = readFileSync(file, "utf8").split(/^either:$/mu);
  const entries = (text) => new Set(Array.from(text.matchAll(/^\s*- ([^\s#]+)/gmu), (match) => match[1]));
  return { expected: entries(always), either: entries(either) };
}

async function runClients() {
  const driver = [process.execPath, "--import", register, join(home, "client-driver.ts")].join(" ");
  const jobs = (await each(dates, clientJobs)).flat();
  const rows = await Promise.all(jobs.map((job) => inTurn(() => runClient(driver, job))));
  return dates.map((date) => {
    const own = rows.filter((entry) => entry.date === date);
    return {
      name: `client ${date}`,
      ok: own.every(({ row }) => !row.scored || row.failed === 0),
      scenarios: own.map(({ row }) => row),
      detail: own
        .map(({ output }) => output)
        .filter(Boolean)
        .join("\n"),
    };
  });
}

async function runClient(driver, { date, scenario }) {
  const { code, output } = await runSuite([
    "client",
    "--command",
    driver,
    "--scenario",
    scenario,
    "--timeout",
    String(CLIENT_MS),
    "--spec-version",
    date,
    // Scenarios of extensions must be forced, because extensions belong to no revision.
    ...(CLIENT_UNSCORED.has(scenario) ? ["--force"] : []),
    "-o",
    join(work, `client-${date}-${scenario}`),
  ]);
  if (options.verbose) process.stderr.write(output);
  const counts = /Passed: (\d+)\/\d+, (\d+) failed/u.exec(output) ?? [];
  const row = {
    scenario,
    passed: Number(counts[1] ?? 0),
    failed: code === 0 ? 0 : Math.max(1, Number(counts[2] ?? 1)),
    scored: !CLIENT_UNSCORED.has(scenario),
    expected: false,
  };
  return { date, row, output: code === 0 ? "" : failuresOf(output) };
}

function failuresOf(output) {
  return output
    .split("\n")
    .filter((line) => /✗|Failed|failed|FAILURE|Error|Details/u.test(line) && !/ 0 failed/u.test(line))
    .slice(0, 60)
    .join("\n");
}

function runSuite(args) {
  return new Promise((resolve, reject) => {
    const child = spawn(tools.node, [tools.conformance, ...args], {
      cwd: work,
      stdio: ["ignore", "pipe", "pipe"],
      timeout: RUN_MS,
    });
    children.add(child);
    const parts = [];
    child.stdout.on("data", (part) => parts.push(part));
    child.stderr.on("data", (part) => parts.push(part));
    child.on("error", reject);
    child.on("close", (code) => {
      children.delete(child);
      resolve({ code, output: Buffer.concat(parts).toString() });
    });
  });
}

function startFixture(file) {
  return startAndReadUrl([process.execPath, "--import", register, join(fixture, file)]).then(({ url }) => url);
}

function startHub(config) {
  return startAndReadUrl([process.execPath, toolyard, "serve", "--config", config, "--port", "0", "--json"]);
}

/** Starts a server and waits for the first URL with `/mcp` on its standard output. */
async function startAndReadUrl(command) {
  const { value: url, child } = await startAndReadLine(command, (line) => /https?:\/\/[^\s"']+\/mcp/u.exec(line)?.[0]);
  return { url, child };
}

/** Starts a program and waits for the first line of its standard output for which `read` returns a value. */
function startAndReadLine([command, ...args], read) {
  const child = spawn(command, args, {
    cwd: work,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, TOOLYARD_HOME: join(work, "home") },
  });
  children.add(child);
  let errors = "";
  child.stderr.on("data", (part) => {
    errors = (errors + part).slice(-8000);
    if (options.verbose) process.stderr.write(part);
  });
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new Error(`${args.join(" ")} was not ready within ${START_MS} ms.\n${errors}`)),
      START_MS,
    );
    createInterface({ input: child.stdout }).on("line", (line) => {
      const value = read(line);
      if (value === undefined) return;
      clearTimeout(timer);
      resolve({ value, child });
    });
    child.on("error", reject);
    child.on("exit", (code) => {
      children.delete(child);
      clearTimeout(timer);
      reject(new Error(`${args.join(" ")} ended with ${code} before it was ready.\n${errors}`));
    });
  });
}

function stop(child) {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    const timer = setTimeout(() => child.kill("SIGKILL"), 5000);
    child.once("exit", () => {
      clearTimeout(timer);
      resolve();
    });
    child.kill("SIGTERM");
  });
}

async function each(items, run) {
  const results = [];
  for (const item of items) results.push(await run(item));
  return results;
}

/**
 * Returns the client scenarios of a revision. Those without authorisation are in `CLIENT`; the suite itself lists the
 * others.
 */
async function clientJobs(date) {
  const { output } = await runSuite(["list", "--client", "--requirements", date]);
  const listed = Array.from(new Set(output.match(/\bauth\/[\w-]+/gu) ?? []));
  const unscored = /never scored/iu.exec(output)?.index ?? output.length;
  for (const name of listed) if (output.indexOf(name) > unscored) CLIENT_UNSCORED.add(name);
  const older = date === DATES[0] ? BACK_COMPATIBLE : [];
  for (const name of older) CLIENT_UNSCORED.add(name);
  return [...(CLIENT[date] ?? []), ...listed, ...older].map((scenario) => ({ date, scenario }));
}

/** Runs a task, in order, when fewer than `AT_ONCE` others run. */
async function inTurn(run) {
  if (running < AT_ONCE) running += 1;
  else await new Promise((resolve) => void waiting.push(resolve));
  try {
    return await run();
  } finally {
    const next = waiting.shift();
    if (next) next();
    else running -= 1;
  }
}

function report(results) {
  for (const { name, ok, scenarios, detail } of results) {
    const scored = scenarios.filter((row) => row.scored);
    const passed = scored.filter((row) => row.failed === 0);
    console.log(`\n${ok ? "ok  " : "FAIL"} ${name}: ${passed.length} of ${scored.length} scored scenarios passed`);
    for (const { scenario, passed: good, failed, scored: counts, expected } of scenarios) {
      const note = [expected ? "expected, see the file of expected failures" : "", counts ? "" : "not scored"]
        .filter(Boolean)
        .join(", ");
      console.log(
        `  ${failed === 0 ? "✓" : "✗"} ${scenario.padEnd(48)} ${String(good).padStart(3)} passed ` +
          `${String(failed).padStart(3)} failed${note ? `  (${note})` : ""}`,
      );
    }
    if (!ok && detail) console.log(detail.replace(/^/gmu, "    | "));
  }
  const { TOOLYARD_TEST_SUMMARY: summary } = process.env;
  const total = results.flatMap((result) => result.scenarios).filter((row) => row.scored);
  // An expected failure that passes is a failure too: the file is out of date.
  const failed = total.filter((row) => row.failed > 0 !== row.expected);
  // Counted by run, so that a run without scenarios is detected.
  const lost = results.filter(
    (result) => !result.ok && !result.scenarios.some((row) => row.scored && row.failed > 0 !== row.expected),
  );
  const failures = [...failed.map(({ scenario }) => scenario), ...lost.map(({ name }) => name)].map((test) => ({
    test: `conformance: ${test}`,
    message: "see above",
  }));
  if (summary) writeFileSync(summary, JSON.stringify({ passed: total.length - failed.length, failures, skipped: [] }));
  console.log(
    `\nconformance: ${total.length - failed.length} passed, ${failed.length} failed (scored scenarios; ` +
      `${total.filter((row) => row.expected).length} expected failures among the passed)`,
  );
}
