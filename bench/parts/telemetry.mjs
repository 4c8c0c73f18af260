// The cost of telemetry: counting one call, its audit line, and writing the metrics of a hub with many tools.
import { createAudit } from "../../packages/toolyard/build/telemetry/audit.js";
import { HashChain } from "../../packages/toolyard/build/telemetry/audit/hash-chain.js";
import { Redactor } from "../../packages/toolyard/build/telemetry/redactor.js";
import { CallCounts } from "../../packages/toolyard/build/telemetry/statistics/call-counts.js";
import { HubMetrics } from "../../packages/toolyard/build/telemetry/prometheus/hub-metrics.js";
import { least, median } from "../lib/measure.mjs";

const TOOLS = 5000;
const CALLS = 1_000_000;
const LINES = 100_000;

export function measureTelemetry({ quick, report }) {
  const rounds = quick ? 3 : 10;
  const counting = Array.from({ length: rounds }, cpuOfCounting);
  report("counting a call", `CPU ${least(counting).toFixed(2)} µs (median ${median(counting).toFixed(2)})`, "1 µs");
  const auditing = Array.from({ length: rounds }, cpuOfAudit);
  const audit = [least(auditing), median(auditing)].map((us) => us.toFixed(1));
  report("the audit line of a call, with its chain", `CPU ${audit[0]} µs (median ${audit[1]})`, "10 µs");
  const writing = cpuOfMetrics(rounds);
  const told = [least(writing), median(writing)].map((ms) => ms.toFixed(1));
  report(`/metrics with ${TOOLS} tools that were called`, `CPU ${told[0]} ms (median ${told[1]})`, "20 ms");
}

/** Returns the CPU time per call, in microseconds. */
function cpuOfCounting() {
  const counts = new CallCounts(1000);
  const calls = Array.from({ length: 2000 }, (_, index) => callOf(index));
  const before = process.cpuUsage();
  for (let turn = 0; turn < CALLS; turn += 1) counts.add(calls[turn % calls.length]);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / CALLS;
}

/** Returns the CPU time per line, in microseconds, without the write to the disk. */
function cpuOfAudit() {
  const redactor = new Redactor();
  for (let index = 0; index < 100; index += 1) redactor.add(`secret-of-the-configuration-${index}`);
  const chain = new HashChain();
  const audit = createAudit([{ write: (line) => void chain.append(line.text()), close: async () => {} }], { redactor });
  const line = { ...callOf(1), time: new Date().toISOString(), call: "call-1", endpoint: "mcp-http", attempts: 1 };
  const whole = { ...line, principal: "ann", client: "claude", decision: "allowed", credentials: "hub" };
  const before = process.cpuUsage();
  for (let turn = 0; turn < LINES; turn += 1) audit.write(whole);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / LINES;
}

/** Returns the CPU time of each reading, in milliseconds. 500 tools are called between two readings. */
function cpuOfMetrics(rounds) {
  const callStatistics = new CallCounts(TOOLS);
  for (let index = 0; index < TOOLS; index += 1) callStatistics.add(callOf(index));
  const hub = () => ({ sources: () => [] });
  const metrics = new HubMetrics({ callStatistics, hub, redact: (text) => text, maxHistograms: 200 });
  try {
    metrics.text();
    return Array.from({ length: rounds * 5 }, (_, round) => {
      for (let index = 0; index < 500; index += 1) callStatistics.add(callOf(round * 500 + index));
      const before = process.cpuUsage();
      Buffer.from(metrics.text());
      const { user, system } = process.cpuUsage(before);
      return (user + system) / 1000;
    });
  } finally {
    metrics.close();
  }
}

function callOf(index) {
  const source = `server${index % 50}`;
  const facts = { durationMs: (index * 13) % 5000, argumentBytes: 50, resultBytes: 500, method: "tools/call" };
  return { ...facts, source, target: `${source}__some_tool_${index % TOOLS}`, kind: index % 7 ? "ok" : "timeout" };
}
