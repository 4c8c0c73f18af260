// `npm run bench:scale`: measures the costs of the store and the relay on this machine (needs redis-server),
// simulates 10, 100 and 1,000 hubs with one million sessions, and writes bench/scale/results.md.
import { writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { measureCosts } from "./measure.mjs";
import { saturation, simulate, usage } from "./simulate.mjs";

const HUBS = [10, 100, 1000];
const costs = await measureCosts();
const round = (value, digits = 1) => Number(value.toFixed(digits)).toLocaleString("en");
const results = HUBS.map((hubs) => {
  const result = simulate(hubs);
  const used = usage(result, costs);
  return { hubs, result, used, order: saturation(used) };
});
const row = (name, cell) => `| ${name} | ${results.map(cell).join(" | ")} |`;
const storeCommands = ({ result }) =>
  round(
    Object.values(result.commands).reduce((sum, rate) => sum + rate, 0),
    0,
  );
const lines = [
  "# Scale",
  "",
  "One million sessions, half legacy, one call per session and minute; " +
    `${cpus()[0]?.model ?? "unknown CPU"}, Node ${process.versions.node}. Written by \`npm run bench:scale\`.`,
  "",
  "## Measured costs",
  "",
  "| operation | µs of the store |",
  "| --- | --- |",
  ...Object.entries(costs.storeUs).map(([name, us]) => `| ${name} | ${round(us, 2)} |`),
  "",
  "| operation | µs of the hubs |",
  "| --- | --- |",
  ...Object.entries(costs.hubUs).map(([name, us]) => `| ${name} | ${round(us, 1)} |`),
  "",
  "| data | bytes |",
  "| --- | --- |",
  ...Object.entries(costs.bytes).map(([name, bytes]) => `| ${name} | ${round(bytes, 0)} |`),
  "",
  "## Simulated",
  "",
  `| hubs | ${HUBS.join(" | ")} |`,
  `| --- | ${HUBS.map(() => "---").join(" | ")} |`,
  row("calls per second", ({ result }) => round(result.calls, 0)),
  row("relayed per second", ({ result }) => round(result.relayed, 0)),
  row("commands of the store per second", storeCommands),
  row("deliveries of notifications per second", ({ result }) => round(result.deliveries, 0)),
  row("cores of the store", ({ used }) => round(used.storeCpu, 2)),
  row("memory of the store, GB", ({ used }) => round(used.storeGb, 2)),
  row("cores of the busiest hub", ({ used }) => round(used.hubCpu, 2)),
  row("heap of a hub, GB", ({ used }) => round(used.hubGb, 2)),
  row("relay traffic of a hub, Mbit/s", ({ used }) => round(used.relayGbit * 1000, 1)),
  row("relayed event streams of a hub", ({ used }) => round(used.connections, 0)),
  row("sessions to take over when a hub fails", ({ result }) => round(result.claimsAfterFailure, 0)),
  row("first to saturate", ({ order }) => `${order[0].name}, ${round(order[0].part * 100, 0)} %`),
  "",
];
const text = lines.join("\n");
console.log(text);
writeFileSync(new URL("results.md", import.meta.url), text);
