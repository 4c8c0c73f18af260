// The cost of tracing: processor time of a hub in its own process for each `tools/call`, with a collector that accepts
// everything.
import { fork } from "node:child_process";
import { once } from "node:events";
import { Agent, createServer, request } from "node:http";
import { least, median } from "../lib/measure.mjs";

const HUB = new URL("../servers/otlp-hub.mjs", import.meta.url);
const CALLS = 2000;
/** Rounds before the first figure, in which half of the calls have a sampled context, so that all code is compiled. */
const WARM_ROUNDS = 10;
const CONTEXT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const SETTINGS = {
  off: {},
  "1 in 100": { OTEL_TRACES_SAMPLER: "parentbased_traceidratio", OTEL_TRACES_SAMPLER_ARG: "0.01" },
  all: { OTEL_TRACES_SAMPLER: "parentbased_always_on" },
};
const LIMITS = { "1 in 100": "3 %", all: "25 %" };

/** Rounds of the hubs alternate, so that changes of the machine's speed affect each hub. */
export async function measureOtlp({ quick, report }) {
  const collector = createServer((incoming, answer) => incoming.resume().on("end", () => answer.end()));
  collector.listen(0, "127.0.0.1");
  await once(collector, "listening");
  const endpoint = `http://127.0.0.1:${collector.address().port}`;
  const hubs = await Promise.all(Object.entries(SETTINGS).map((entry) => startHub(entry, endpoint)));
  for (let round = 0; round < WARM_ROUNDS; round += 1)
    for (const hub of hubs) await cpuPerCall(hub, (number) => (number % 2 === 0 ? { traceparent: CONTEXT } : {}));
  for (const hub of hubs) await cpuPerCall(hub);
  for (let round = 0; round < (quick ? 8 : 30); round += 1)
    for (const hub of hubs) hub.figures.push(await cpuPerCall(hub));
  const [off] = hubs;
  report("a call without OTLP", `CPU ${least(off.figures).toFixed(1)} µs (median ${median(off.figures).toFixed(1)})`);
  for (const { name, figures } of hubs.slice(1)) {
    const more = figures.map((us, round) => (us / off.figures[round] - 1) * 100);
    const [lowest, middle] = [(least(figures) / least(off.figures) - 1) * 100, median(more)];
    report(`tracing ${name}`, `${middle.toFixed(1)} % more CPU (of the least ${lowest.toFixed(1)} %)`, LIMITS[name]);
  }
  for (const { child, agent } of hubs) {
    agent.destroy();
    child.disconnect();
    await once(child, "exit");
  }
  collector.close();
}

async function startHub([name, sampler], endpoint) {
  const own = name === "off" ? {} : { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: endpoint, ...sampler };
  const child = fork(HUB, { env: { ...process.env, ...own } });
  const [{ url }] = await once(child, "message");
  return {
    name,
    child,
    url: new URL(`${url}/jsonrpc`),
    agent: new Agent({ keepAlive: true, maxSockets: 8 }),
    figures: [],
  };
}

async function cpuPerCall({ child, url, agent }, headersOf = () => ({})) {
  const before = await cpuOf(child);
  let left = CALLS;
  const worker = async () => {
    while (left-- > 0) await call(url, agent, headersOf(left));
  };
  await Promise.all(Array.from({ length: 8 }, worker));
  return (await cpuOf(child)) - before;
}

/** Returns the processor time so far, divided by the number of calls of a round, in microseconds. */
async function cpuOf(child) {
  child.send("cpu");
  const [{ cpu }] = await once(child, "message");
  return (cpu.user + cpu.system) / CALLS;
}

function call(url, agent, headers) {
  const body = '{"jsonrpc":"2.0","id":1,"method":"echo","params":{"text":"hello"}}';
  return new Promise((resolve, reject) => {
    const sent = request(
      url,
      { method: "POST", agent, headers: { "content-type": "application/json", ...headers } },
      (answer) => answer.resume().on("end", resolve),
    );
    sent.on("error", reject);
    sent.end(body);
  });
}
