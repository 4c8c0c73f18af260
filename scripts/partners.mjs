// `npm run partners [-- --only python-1,go-sdk --transport stdio --era legacy --scenario whole --jobs 2 --json FILE
// --verbose]`: clients and servers in other languages, each pairing once directly and once with the hub between them. A
// difference is either named in test/interop/known-differences.json, with its reason, or is a fault.
//
// `--only CLIENT,SERVER` is one pairing; a `*` instead of a name means every one. Needs the built hub, Python, Go and
// Rust; a partner with a missing toolchain is skipped with a message.
import { existsSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { differencesOf, KNOWN } from "./partners/compare.mjs";
import { installPartners, PARTNERS } from "./partners/install.mjs";
import { runCase, SCENARIOS, TRANSPORTS } from "./partners/run-case.mjs";

// Programs rendered from GNN models are a separate kind of partner.
if (process.argv[2] === "gnn") await import("./partners/gnn.mjs");
// Public sample models of GNN are a separate kind of partner.
if (process.argv[2] === "gnn-samples") await import("./partners/gnn-samples.mjs");
// An authorization server with its servers, and clients that sign in to a hub, are a separate kind of partner.
if (process.argv[2] === "sign-in") await import("./partners/sign-in.mjs");
// Keycloak as the identity provider of a hub is a separate kind of partner.
if (process.argv[2] === "keycloak") await import("./partners/keycloak.mjs");
// A client and a server with tasks of 2025-11-25 are a separate kind of partner.
if (process.argv[2] === "tasks") await import("./partners/tasks.mjs");
// A collector of OpenTelemetry is a separate kind of partner.
if (process.argv[2] === "telemetry") await import("./partners/telemetry.mjs");
// Clients that call the nine tools of the document library are a separate kind of partner.
if (process.argv[2] === "library") await import("./partners/library.mjs");

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const ERAS = ["legacy", "modern"];
const NAMES = PARTNERS.map(({ name }) => name);

const options = readOptions();
if (!existsSync(join(root, "packages", "toolyard", "dist", "cli", "main.js")))
  throw new Error("packages/toolyard/dist/cli/main.js is not there. Run `npm run build` first.");

// A signal that ends this process also ends the programs that it started.
for (const [signal, code] of Object.entries({ SIGINT: 130, SIGTERM: 143, SIGHUP: 129 }))
  process.once(signal, () => process.exit(code));

const began = performance.now();
const wanted = casesOf(PARTNERS);
const { ready, skipped } = await installPartners(
  new Set(wanted.flatMap(({ client, server }) => [client.name, server.name])),
);
const cases = wanted.filter(({ client, server }) => ready.includes(client) && ready.includes(server));
const results = await pooled(cases, options.jobs, async (entry) => {
  const since = performance.now();
  const observed = await runCase(entry);
  const differences = differencesOf(
    { ...entry, client: entry.client.name, server: entry.server.name },
    observed.direct,
    observed.hub,
  );
  const faults = differences.filter(({ reason }) => reason === undefined);
  const row = {
    name: nameOf(entry),
    server: entry.server.name,
    seconds: Math.round((performance.now() - since) / 1000),
    differences,
    faults,
    observed,
  };
  console.log(`${faults.length === 0 ? "ok  " : "FAIL"} ${row.name} (${row.seconds} s)${noteOf(row)}`);
  if (options.verbose)
    console.log(`    direct ${JSON.stringify(observed.direct)}\n    hub    ${JSON.stringify(observed.hub)}`);
  return row;
});
report();

/** Returns the cases. A cold start needs a server that its client starts, so it is only tested on stdio. */
function casesOf(partners) {
  const pairs = partners
    .filter(({ name }) => isPicked(0, name))
    .flatMap((client) => partners.filter(({ name }) => isPicked(1, name)).map((server) => ({ client, server })))
    .flatMap((pair) => pair.client.eras.filter((era) => isWanted("era", era)).map((era) => ({ ...pair, era })));
  const ways = SCENARIOS.filter((name) => isWanted("scenario", name))
    .flatMap((scenario) => Object.keys(TRANSPORTS).map((transport) => ({ scenario, transport })))
    .filter(
      ({ scenario, transport }) => isWanted("transport", transport) && (scenario === "whole" || transport === "stdio"),
    );
  return ways.flatMap((way) => pairs.map((pair) => ({ ...pair, ...way })));
}

function isPicked(place, name) {
  return options.only === undefined || options.only[place] === "*" || options.only[place] === name;
}

function isWanted(key, name) {
  return options[key] === undefined || options[key].includes(name);
}

function nameOf({ client, server, transport, era, scenario }) {
  return `${client.name} × ${server.name}, ${transport}, ${era}, ${scenario}`;
}

function noteOf({ differences, faults }) {
  const known = differences.length - faults.length;
  return [
    known > 0 ? ` ${known} known` : "",
    faults.length > 0 ? ` ${faults.length} unexpected: ${faults.map(({ path }) => path).join(", ")}` : "",
  ].join("");
}

function report() {
  reportFaults();
  if (results.length > 0) reportTable();
  if (options.json) writeFileSync(options.json, JSON.stringify(results, undefined, 1));
  for (const { name, reason } of skipped) console.log(`skipped: ${name}: ${reason}`);
  if (cases.length === casesOf(PARTNERS).length && options.isWhole) {
    for (const { paths, reason } of KNOWN.filter(({ isSeen }) => !isSeen))
      console.log(`no longer seen: ${paths.join(", ")} (${reason})`);
  }
  const failed = results.filter(({ faults }) => faults.length > 0).length;
  console.log(`\npartners: ${Math.round((performance.now() - began) / 1000)} s`);
  console.log(`${results.length - failed} passed, ${failed} failed, ${wanted.length - cases.length} skipped`);
  process.exit(failed > 0 || wanted.length === 0 ? 1 : 0);
}

/** Prints faults; equal faults of several cases are one entry. */
function reportFaults() {
  const groups = new Map();
  for (const { name, server, faults } of results) {
    for (const { path, direct, hub } of faults) {
      const key = `${path}\n  direct: ${direct}\n  hub:    ${hub}`.replaceAll(server, "SERVER");
      groups.set(key, [...(groups.get(key) ?? []), name]);
    }
  }
  for (const [key, names] of groups)
    console.log(`\n${key}\n  in ${names.length}: ${names.slice(0, 12).join("; ")}${names.length > 12 ? "; …" : ""}`);
}

/** Prints a row per client and a column per server: passed cases of those that ran. */
function reportTable() {
  const servers = NAMES.filter((name) => results.some((row) => row.name.includes(` × ${name},`)));
  console.log(`\n| client \\ server | ${servers.join(" | ")} |\n|---|${servers.map(() => "---:|").join("")}`);
  for (const client of NAMES) {
    const cells = servers.map((server) => {
      const rows = results.filter(({ name }) => name.startsWith(`${client} × ${server},`));
      return rows.length === 0 ? "" : `${rows.filter(({ faults }) => faults.length === 0).length} of ${rows.length}`;
    });
    if (cells.some(Boolean)) console.log(`| ${client} | ${cells.join(" | ")} |`);
  }
}

function readOptions() {
  const text = { type: "string" };
  const { values } = parseArgs({
    options: {
      only: text,
      transport: text,
      era: text,
      scenario: text,
      jobs: text,
      json: text,
      verbose: { type: "boolean", default: false },
    },
  });
  const lists = { transport: Object.keys(TRANSPORTS), era: ERAS, scenario: SCENARIOS };
  const chosen = Object.fromEntries(
    Object.entries(lists).map(([key, known]) => [key, listOf(values[key], known, key)]),
  );
  const only = values.only?.split(",");
  if (only && (only.length !== 2 || only.some((name) => name !== "*" && !NAMES.includes(name)))) {
    throw new Error(`--only takes CLIENT,SERVER of ${NAMES.join(", ")} or *, got "${values.only}".`);
  }
  const jobs = Number(values.jobs ?? 2);
  if (!Number.isInteger(jobs) || jobs < 1 || jobs > 16)
    throw new Error(`--jobs takes a number from 1 to 16, got "${values.jobs}".`);
  return {
    ...chosen,
    only,
    jobs,
    json: values.json,
    verbose: values.verbose,
    isWhole: !only && Object.keys(lists).every((key) => !values[key]),
  };
}

function listOf(words, known, key) {
  const list = words?.split(",");
  const unknown = list?.find((word) => !known.includes(word));
  if (unknown !== undefined) throw new Error(`--${key} takes ${known.join(", ")}, got "${unknown}".`);
  return list;
}

async function pooled(items, size, work) {
  const done = [];
  let next = 0;
  const worker = async () => {
    while (next < items.length) {
      const at = next++;
      done[at] = await work(items[at]);
    }
  };
  await Promise.all(Array.from({ length: size }, worker));
  return done;
}
