// A process that searches the benchmark's largest catalog for the first time, as a hub does, and prints the cost: time
// with `time`, memory with `memory`.
import { readFileSync } from "node:fs";
import { Catalog } from "../../packages/toolyard/build/catalog/catalog.js";
import { resolveCatalog } from "../../packages/toolyard/build/catalog/options.js";
import { LOCAL_PRINCIPAL } from "../../packages/toolyard/build/core/calls/call.js";
import { Emitter } from "../../packages/toolyard/build/core/events.js";
import { SILENT_LOGGER } from "../../packages/toolyard/build/core/ports/ports.js";
import { EMPTY_LISTING } from "../../packages/toolyard/build/core/sources/records.js";
import { byServer, readBenchmark } from "./benchmark.mjs";

const QUERY = "get rid of some stored records";
const VIEW = { mode: "normal", principal: LOCAL_PRINCIPAL };
/** The default of `search.embedding_wait_ms`. */
const WAIT_MS = 500;
const ANNOUNCED_MS = 300;

/** List for which the last search requested evidence. */
let asked;
const tools = readBenchmark().tools.filter(({ catalog }) => catalog === "mcp");
const catalog = new Catalog(resolveCatalog(), Array.from(byServer(tools), providerOf));
await catalog.snapshot();
// The cost of announcing the lists is not part of the search.
await new Promise((resolve) => setTimeout(resolve, ANNOUNCED_MS));
const search = async () => (await catalog.search(QUERY, VIEW, { limit: 5, why: true })).hits;
// This timer keeps the process running, because background work does not.
const awake = setInterval(() => {}, 1000);
const found = process.argv[2] === "memory" ? await measureMemory() : await measureTime();
process.stdout.write(JSON.stringify({ tools: tools.length, ...found }));
clearInterval(awake);

async function measureTime() {
  const turns = watchTurns();
  const [began, atFirst] = [performance.now(), process.cpuUsage()];
  const table = await attachTable();
  const [first] = await search();
  const firstMs = performance.now() - began;
  while (!(await table.prepare(asked)));
  const indexCpuMs = cpuSince(atFirst);
  const atIndexed = process.cpuUsage();
  await table.settled();
  const neighboursCpuMs = cpuSince(atIndexed);
  return { firstMs, indexCpuMs, neighboursCpuMs, longestMs: turns(), wasInTime: (first?.why?.meaning ?? 0) > 0 };
}

async function measureMemory() {
  await search();
  const words = heapMb();
  const table = await attachTable();
  await search();
  await table.settled();
  await search();
  return { tableMb: heapMb() - words };
}

async function attachTable() {
  const [{ TableSearch }, { loadTokenTable }] = await Promise.all([
    import("../../packages/toolyard/build/catalog/search/likeness/table-search.js"),
    import("../../packages/toolyard/build/models/table/token-table.js"),
  ]);
  const made = new TableSearch({ load: loadTokenTable, waitMs: WAIT_MS, logger: SILENT_LOGGER });
  const evidence = (query, list) => {
    asked = list;
    return made.evidence(query, list);
  };
  catalog.searchWith(async () => ({ evidence, close: () => made.close() }));
  return made;
}

/**
 * Returns a function that returns the most CPU time of this thread between two turns of the event loop, in
 * milliseconds.
 */
function watchTurns() {
  let [most, last, isOver] = [0, threadMs(), false];
  const look = () => {
    const now = threadMs();
    most = Math.max(most, now - last);
    last = now;
    if (!isOver) setImmediate(look);
  };
  setImmediate(look);
  return () => {
    isOver = true;
    return most;
  };
}

function threadMs() {
  return Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, "latin1").split(" ", 1)[0]) / 1e6;
}

function cpuSince(before) {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

function heapMb() {
  globalThis.gc();
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / 1e6;
}

function providerOf([server, own], order) {
  const source = { id: server, kind: "stdio", namespace: server, order };
  const list = own.map(({ name, description = "", inputSchema = { type: "object" } }) => ({
    source,
    name,
    description,
    inputSchema,
    keywords: [],
    visibility: "native",
    definition: { name, description, inputSchema },
  }));
  const listing = { ...EMPTY_LISTING, tools: list };
  return {
    source,
    events: { changed: new Emitter(), resourceUpdated: new Emitter(), log: new Emitter() },
    open: () => {},
    listing: () => listing,
    coldStart: () => undefined,
    close: async () => {},
  };
}
