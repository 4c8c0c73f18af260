import { afterEach, describe, expect, onTestFinished, test } from "vitest";
import { OptionError } from "../../core/errors.ts";
import type { SourceReport } from "../../core/ports/hub-port.ts";
import { processActivity } from "../../core/process-activity.ts";
import { CallCounts } from "../statistics/call-counts.ts";
import type { FinishedCall } from "../statistics/statistics-row.ts";
import { HubMetrics } from "./hub-metrics.ts";
import { labelText, MetricsText } from "./metrics-text.ts";
import { resolvePrometheus, type PrometheusConfig } from "./options.ts";

const CALL: FinishedCall = {
  source: "files",
  target: "files__read",
  method: "tools/call",
  kind: "ok",
  durationMs: 3,
  argumentBytes: 10,
  resultBytes: 20,
};

let open: HubMetrics | undefined;
afterEach(() => {
  open?.close();
  open = undefined;
});

interface Bench {
  readonly calls?: readonly Partial<FinishedCall>[];
  readonly sources?: readonly SourceReport[];
  readonly redact?: (text: string) => string;
  readonly maxTools?: number;
  readonly maxHistograms?: number;
}

function lines({ calls = [], sources = [], redact = (text) => text, maxTools = 1000, maxHistograms = 200 }: Bench) {
  const callStatistics = new CallCounts(maxTools);
  for (const call of calls) callStatistics.add({ ...CALL, ...call });
  open = new HubMetrics({ callStatistics, hub: () => ({ sources: () => sources }), redact, maxHistograms });
  return { metrics: open, callStatistics, lines: open.text().split("\n") };
}

function report(id: string, state: string, more: object = {}): SourceReport {
  return { source: { id, kind: "stdio" }, status: { state, ...more }, tools: 4, problems: [] } as never;
}

test("writes the commands to the shared store, the failed ones and their time in seconds", () => {
  const before = { ...processActivity };
  Object.assign(processActivity, { storeCommands: 4, storeFailures: 1, storeMs: 250 });
  onTestFinished(() => void Object.assign(processActivity, before));
  expect(lines({}).lines).toEqual(
    expect.arrayContaining([
      "# TYPE toolyard_store_seconds_total counter",
      "toolyard_store_commands_total 4",
      "toolyard_store_failures_total 1",
      "toolyard_store_seconds_total 0.25",
    ]),
  );
});

test("writes the searches and their time, and refused calls by limit with a fixed number of series", () => {
  const before = structuredClone(processActivity);
  onTestFinished(() => void Object.assign(processActivity, before));
  const limited = { rate: 3, "in-flight": 0, full: 0, store: 0, queue: 1, other: 2 };
  Object.assign(processActivity, { searches: 5, searchMs: 1500, limited });
  const { lines: all } = lines({});
  expect(all).toContain("toolyard_searches_total 5");
  expect(all).toContain("toolyard_search_seconds_total 1.5");
  expect(all.filter((line) => line.startsWith("toolyard_limited_total"))).toEqual(
    Object.entries(limited).map(([limit, count]) => `toolyard_limited_total{limit="${limit}"} ${count}`),
  );
});

describe("calls", () => {
  test("are counted by tool, source, method and outcome, with a cumulative histogram in seconds", () => {
    const { lines: all } = lines({ calls: [{}, { durationMs: 700 }, { kind: "timeout", durationMs: 400_000 }] });
    const labels = 'source="files",tool="files__read",method="tools/call"';
    expect(all).toContain(`toolyard_calls_total{${labels},outcome="ok"} 2`);
    expect(all).toContain(`toolyard_calls_total{${labels},outcome="timeout"} 1`);
    expect(all).toContain(`toolyard_call_duration_seconds_bucket{${labels},le="0.0025"} 0`);
    expect(all).toContain(`toolyard_call_duration_seconds_bucket{${labels},le="0.005"} 1`);
    expect(all).toContain(`toolyard_call_duration_seconds_bucket{${labels},le="1"} 2`);
    expect(all).toContain(`toolyard_call_duration_seconds_bucket{${labels},le="300"} 2`);
    expect(all).toContain(`toolyard_call_duration_seconds_bucket{${labels},le="+Inf"} 3`);
    expect(all).toContain(`toolyard_call_duration_seconds_count{${labels}} 3`);
    expect(all).toContain(`toolyard_call_duration_seconds_sum{${labels}} 400.703`);
    expect(all).toContain('toolyard_call_result_bytes_total{source="files"} 60');
  });

  test("are in the next scrape if they end after a scrape", () => {
    const { metrics, callStatistics } = lines({ calls: [{}] });
    callStatistics.add({ ...CALL, kind: "denied" });
    expect(metrics.text()).toContain('method="tools/call",outcome="denied"} 1\n');
  });

  test("of tools beyond the limit share the histogram `other` of their source, and keep their own counts", () => {
    const { lines: all } = lines({
      calls: [{}, { target: "b" }, { target: "c" }, { target: "d", source: "web" }],
      maxHistograms: 1,
    });
    const counts = all.filter((line) => line.startsWith("toolyard_call_duration_seconds_count"));
    expect(counts).toEqual([
      'toolyard_call_duration_seconds_count{source="files",tool="files__read",method="tools/call"} 1',
      'toolyard_call_duration_seconds_count{source="files",tool="other",method="tools/call"} 2',
      'toolyard_call_duration_seconds_count{source="web",tool="other",method="tools/call"} 1',
    ]);
    expect(all.filter((line) => line.startsWith("toolyard_calls_total"))).toHaveLength(4);
  });

  test("with 10,000 tool names and 10,000 guessed names write no more lines than the limits allow", () => {
    const calls: Partial<FinishedCall>[] = [];
    for (let index = 0; index < 10_000; index += 1) calls.push({ target: `tool-${index}` });
    const { metrics, callStatistics } = lines({ calls, maxTools: 50, maxHistograms: 10 });
    const before = metrics.text().split("\n").length;
    const { source: _source, ...unresolved } = CALL;
    for (let index = 0; index < 10_000; index += 1) callStatistics.add({ ...unresolved, target: `guess-${index}` });
    const after = metrics.text();
    // Lines of one more row: calls, seconds, a histogram of 17 buckets with sum and count, two sizes and tokens.
    expect(after.split("\n").length - before).toBe(1 + 1 + 19 + 3);
    expect(after.split("\n").length).toBeLessThan(500);
    expect(after).not.toContain("guess-");
  });

  test("show no secret of the configuration in a name", () => {
    const { metrics } = lines({
      calls: [{ target: "read_my-secret", source: "my-secret" }],
      sources: [report("my-secret", "ready")],
      redact: (text) => text.replaceAll("my-secret", "***"),
    });
    expect(metrics.text()).not.toContain("my-secret");
  });
});

test("names that differ only in secrets are one series with the sum of their values", () => {
  const calls = ["one", "two"].flatMap((secret) => [
    { target: `read_${secret}-secret`, source: `${secret}-secret` },
    { target: "list", source: `${secret}-secret` },
  ]);
  const { lines: all } = lines({
    calls,
    sources: [report("one-secret", "ready", { restarts: 1 }), report("two-secret", "down", { restarts: 2 })],
    redact: (text) => text.replaceAll(/(?:one|two)-secret/g, "***"),
  });
  const names = all.filter((line) => line !== "" && !line.startsWith("#")).map((line) => line.replace(/ [^ ]+$/, ""));
  expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
  const labels = 'source="***",tool="read_***",method="tools/call"';
  expect(all).toContain(`toolyard_calls_total{${labels},outcome="ok"} 2`);
  expect(all).toContain(`toolyard_call_duration_seconds_count{${labels}} 2`);
  expect(all).toContain('toolyard_source_restarts_total{source="***"} 3');
  expect(all).toContain('toolyard_source_up{source="***",kind="stdio"} 0');
});

describe("sources", () => {
  test("have a series for each state, so that a change of state leaves no old series", () => {
    const { lines: all } = lines({ sources: [report("files", "ready"), report("web", "down", { restarts: 3 })] });
    expect(all).toContain('toolyard_source_up{source="files",kind="stdio"} 1');
    expect(all).toContain('toolyard_source_up{source="web",kind="stdio"} 0');
    expect(all).toContain('toolyard_source_state{source="web",state="down"} 1');
    expect(all).toContain('toolyard_source_state{source="web",state="ready"} 0');
    expect(all).toContain('toolyard_source_restarts_total{source="web"} 3');
    expect(all).toContain('toolyard_source_tools{source="files"} 4');
  });
});

test("metrics of the process include memory, processor time, activity and event-loop lag", () => {
  const { lines: all } = lines({});
  for (const name of [
    "toolyard_info{",
    "toolyard_calls_in_flight ",
    "toolyard_queued ",
    "toolyard_sessions ",
    "toolyard_streams ",
    "toolyard_sandbox_runs ",
    "nodejs_eventloop_lag_p99_seconds ",
    "process_resident_memory_bytes ",
    "process_cpu_seconds_total ",
  ])
    expect(all.filter((line) => line.startsWith(name))).toHaveLength(1);
  for (const line of all.filter((one) => one !== "" && !one.startsWith("#")))
    expect(line).toMatch(/^[a-z_\d]+(?:\{.*\})? (?:\d+(?:\.\d+)?(?:e-\d+)?)$/);
});

describe("text format", () => {
  test.each([
    ["plain", 'a="plain"'],
    ['say "hi"', String.raw`a="say \"hi\""`],
    ["back\\slash", String.raw`a="back\\slash"`],
    ["two\nlines", String.raw`a="two\nlines"`],
    ['"} 1\nfake 2', String.raw`a="\"} 1\nfake 2"`],
    ["grüße", 'a="grüße"'],
  ])("escapes the label %j", (value, text) => {
    expect(labelText({ a: value })).toBe(text);
  });

  test.each([
    [Infinity, "a +Inf\n"],
    [Number.NaN, "a NaN\n"],
    [0.25, "a 0.25\n"],
  ])("writes the value %s", (value, text) => {
    expect(new MetricsText().sample("a", value).toString()).toBe(text);
  });
});

describe("options", () => {
  test.each<[PrometheusConfig, object]>([
    [{}, { isOnMainPort: false }],
    [{ listen: "9464" }, { address: { host: "127.0.0.1", port: 9464 } }],
    [{ listen: ":9464" }, { address: { host: "127.0.0.1", port: 9464 } }],
    [{ listen: "[::1]:0" }, { address: { host: "[::1]", port: 0 } }],
    [{ listen: "0.0.0.0:9464", token: "a-token" }, { address: { host: "0.0.0.0", port: 9464, token: "a-token" } }],
    [{ listen: "metrics.local:9464", insecure: true }, { address: { host: "metrics.local", port: 9464 } }],
  ])("accept %j", (config, options) => {
    expect(resolvePrometheus(config)).toMatchObject(options);
  });

  test.each([
    [{ listen: "0.0.0.0:9464" }, /other machines can reach without a token.*prometheus\.token/],
    [{ listen: "example.org:9464" }, /other machines/],
    [{ listen: "127.0.0.1" }, /must be an address such as/],
    [{ listen: "127.0.0.1:99999" }, /must be an address/],
    [{ listen: "http://127.0.0.1:1" }, /must be an address/],
  ])("refuse %j", (config, message) => {
    expect(() => resolvePrometheus(config)).toThrow(OptionError);
    expect(() => resolvePrometheus(config)).toThrow(message);
  });
});
