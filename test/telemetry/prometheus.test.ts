// Metrics for Prometheus: their own address, the hub's port, and the real Prometheus that scrapes three hubs.
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { createHub, type HubConfig, type LibraryHub } from "../../packages/toolyard/src/index.ts";

const ROOT = join(import.meta.dirname, "../..");
const RULES = join(ROOT, "packaging/prometheus");
const TOKEN = "token-of-the-main-port";
const SCRAPE_TOKEN = "token-of-the-scraper";

/** Returns a port that was free a moment ago. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((done) => server.once("listening", done));
  const { port } = server.address() as AddressInfo;
  await new Promise((done) => server.close(done));
  return port;
}

interface HubAddress {
  readonly hub: LibraryHub;
  readonly url: string;
  readonly metrics: string;
}

async function serve(
  prometheus: object = {},
  server: HubConfig["server"] = {},
  more: HubConfig = {},
): Promise<HubAddress> {
  const port = await freePort();
  const hub = await createHub({
    variables: {},
    settings: {
      logging: { level: "error" },
      ...more,
      server: { port: 0, ...server },
      telemetry: { prometheus: { listen: `127.0.0.1:${port}`, ...prometheus } },
    },
    registerTools: (own) => {
      own.registerTool("echo", ({ text }) => text, { type: "object" }, "Echoes a text");
    },
  });
  onTestFinished(() => hub.close());
  const { address } = await hub.serve();
  return { hub, url: address.url, metrics: `http://127.0.0.1:${port}/metrics` };
}

const bearer = (token: string): RequestInit => ({ headers: { authorization: `Bearer ${token}` } });

describe("# the separate metrics address", () => {
  test("serves metrics in the text format, and nothing else", async () => {
    const { hub, url, metrics } = await serve();
    await hub.call("echo", { text: "hi" });
    const response = await fetch(metrics);
    expect(response.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
    expect(await response.text()).toMatch(
      /^toolyard_calls_total\{source="[^"]+",tool="echo",method="tools\/call",outcome="ok"\} 1$/m,
    );
    expect((await fetch(metrics.replace("/metrics", "/mcp"))).status).toBe(404);
    expect((await fetch(`${url}/metrics`)).status).toBe(404);
    expect((await fetch(metrics, { method: "POST" })).status).toBe(405);
  });

  test("counts searches of every endpoint, and calls that a limit refused", async () => {
    const { hub, url, metrics } = await serve({}, { token: TOKEN }, { limits: { rate_per_minute: 1 } });
    const value = async (series: string): Promise<number> => {
      const text = await (await fetch(metrics)).text();
      return Number(
        text
          .split("\n")
          .find((line) => line.startsWith(`${series} `))
          ?.slice(series.length),
      );
    };
    const rate = 'toolyard_limited_total{limit="rate"}';
    const before = [await value("toolyard_searches_total"), await value(rate)];
    const seconds = await value("toolyard_search_seconds_total");
    const body = (name: string, params: object): RequestInit => ({
      method: "POST",
      headers: { ...bearer(TOKEN).headers, "content-type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: name, params }),
    });
    for (const text of ["a", "b", "c"]) await (await fetch(`${url}/jsonrpc`, body("echo", { text }))).text();
    await hub.search("echo");
    await hub.call("tool_search", { query: "echo" });
    expect(await value("toolyard_searches_total")).toBe(before[0]! + 2);
    expect(await value("toolyard_search_seconds_total")).toBeGreaterThan(seconds);
    expect(await value(rate)).toBe(before[1]! + 2);
  });

  test("requires its token if one is set", async () => {
    const { metrics } = await serve({ token: SCRAPE_TOKEN }, { token: TOKEN });
    expect((await fetch(metrics)).status).toBe(401);
    expect((await fetch(metrics, bearer(TOKEN))).status).toBe(401);
    expect((await fetch(metrics, bearer(SCRAPE_TOKEN))).status).toBe(200);
  });

  test("refuses a page of another origin and an unknown Host", async () => {
    const { metrics } = await serve();
    expect((await fetch(metrics, { headers: { origin: "https://evil.example" } })).status).toBe(403);
  });

  test("is closed with the hub, and free for the next one", async () => {
    const { hub, metrics } = await serve();
    await hub.close();
    await expect(fetch(metrics)).rejects.toThrow("fetch failed");
  });

  test("keeps the hub from being served if it is in use, and the message names it", async () => {
    const { metrics } = await serve();
    const { port } = new URL(metrics);
    await expect(serve({ listen: `127.0.0.1:${port}` })).rejects.toThrow(new RegExp(`${port}`));
  });

  test("is served by the main process with two workers", async () => {
    const { url, metrics } = await serve({}, { workers: 2 });
    const body = { jsonrpc: "2.0", id: 1, method: "echo", params: { text: "hi" } };
    await fetch(`${url}/jsonrpc`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    expect(await (await fetch(metrics)).text()).toContain('tool="echo",method="tools/call",outcome="ok"} 1');
  });
});

describe("the hub's own port", () => {
  test("serves metrics to callers with full rights only", async () => {
    const tokens = { all: { token: TOKEN }, some: { token: SCRAPE_TOKEN, allow: ["echo"] } };
    const { url } = await serve({ main_port: true }, { tokens, base_path: "/tools" });
    expect((await fetch(`${url}/metrics`)).status).toBe(401);
    expect((await fetch(`${url}/metrics`, bearer(SCRAPE_TOKEN))).status).toBe(403);
    expect((await fetch(`${url}/metrics`, bearer(TOKEN))).status).toBe(200);
    expect((await fetch(`${new URL(url).origin}/metrics`, bearer(TOKEN))).status).toBe(404);
  });

  test("does not serve metrics without authentication: the hub does not start", async () => {
    await expect(serve({ main_port: true })).rejects.toThrow(/main_port.*needs callers that authenticate/);
  });
});

test("sessions, users and tool names do not grow the metrics, and no credential is in them", async () => {
  const tokens = Object.fromEntries(
    Array.from({ length: 200 }, (_, index) => [`user-${index}`, { token: `canary-token-number-${index}` }]),
  );
  const { url, metrics } = await serve({}, { tokens });
  const call = (index: number, name: string): Promise<Response> =>
    fetch(`${url}/jsonrpc`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer canary-token-number-${index}` },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: name, params: { text: "canary-argument-value" } }),
    });
  await call(0, "echo");
  await call(0, "guessed");
  const before = (await (await fetch(metrics)).text()).split("\n").length;
  for (let index = 0; index < 200; index += 1) await Promise.all([call(index, "echo"), call(index, `guess-${index}`)]);
  const after = await (await fetch(metrics)).text();
  expect(after.split("\n").length).toBe(before);
  expect(after).not.toMatch(/canary|user-\d|guess-/);
});

const hasPrometheus = spawnSync("promtool", ["--version"]).status === 0;

describe("with the real Prometheus", () => {
  beforeEach(({ skip }) => skip(!hasPrometheus, "Prometheus is not on this machine"));

  test.each([
    ["rules are valid", ["check", "rules", join(RULES, "toolyard.rules.yml")]],
    ["rules alert as their tests state", ["test", "rules", join(RULES, "toolyard.rules.test.yml")]],
  ])("%s", (_title, words) => {
    const { status, stdout, stderr } = spawnSync("promtool", words, { encoding: "utf8" });
    expect([status, status === 0 ? "" : stdout + stderr]).toEqual([0, ""]);
  });

  test("metrics have no finding of promtool", async () => {
    const { hub, metrics } = await serve();
    await hub.call("echo", { text: "hi" });
    const input = await (await fetch(metrics)).text();
    const { status, stderr } = spawnSync("promtool", ["check", "metrics"], { input, encoding: "utf8" });
    expect([status, stderr]).toEqual([0, ""]);
  });

  test("scrapes three hubs, and every query of rules and dashboard finds its metrics", async () => {
    const hubs = await Promise.all([serve(), serve(), serve({ token: SCRAPE_TOKEN })]);
    for (const [index, { hub }] of hubs.entries())
      for (let calls = 0; calls <= index; calls += 1) await hub.call("echo", { text: "hi" });
    await using prometheus = await Prometheus.start(hubs.map(({ metrics }) => new URL(metrics).host));
    await expect
      .poll(() => prometheus.query('sum(toolyard_calls_total{tool="echo"})'), { timeout: 30_000 })
      .toEqual(["6"]);
    expect(await prometheus.query('count(up{job="toolyard"} == 1)')).toEqual(["3"]);
    for (const name of await usedMetrics())
      expect([name, await prometheus.query(`count(${name}) > bool 0`)]).toEqual([name, ["1"]]);
  });
});

/** Returns the names of metrics in the alert rules and in the dashboard. */
async function usedMetrics(): Promise<readonly string[]> {
  const texts = await Promise.all(
    [join(RULES, "toolyard.rules.yml"), join(ROOT, "packaging/grafana/toolyard.json")].map((file) =>
      readFile(file, "utf8"),
    ),
  );
  return [...new Set(texts.join("\n").match(/\b(?:toolyard|process|nodejs)_[a-z_\d]+[a-z]\b/g))];
}

class Prometheus implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #folder: string;
  readonly #url: string;

  private constructor(child: ChildProcess, folder: string, url: string) {
    this.#child = child;
    this.#folder = folder;
    this.#url = url;
  }

  static async start(targets: readonly string[]): Promise<Prometheus> {
    const folder = await mkdtemp(join(tmpdir(), "toolyard-prometheus-"));
    const port = await freePort();
    const job = { job_name: "toolyard", authorization: { credentials: SCRAPE_TOKEN } };
    const config = {
      global: { scrape_interval: "1s", evaluation_interval: "1s" },
      rule_files: [join(RULES, "toolyard.rules.yml")],
      scrape_configs: [{ ...job, static_configs: [{ targets }] }],
    };
    await writeFile(join(folder, "prometheus.yml"), JSON.stringify(config));
    const address = `127.0.0.1:${port}`;
    const child = spawn(
      "prometheus",
      [
        `--config.file=${join(folder, "prometheus.yml")}`,
        `--storage.tsdb.path=${join(folder, "data")}`,
        `--web.listen-address=${address}`,
      ],
      { stdio: "ignore" },
    );
    return new Prometheus(child, folder, `http://${address}`);
  }

  /** Returns the values of an instant query; nothing while it does not answer. */
  async query(query: string): Promise<readonly string[]> {
    const url = `${this.#url}/api/v1/query?${new URLSearchParams({ query }).toString()}`;
    const response = await fetch(url).catch(() => undefined);
    if (response?.ok !== true) return [];
    const { data } = (await response.json()) as { data: { result: readonly { value: readonly [number, string] }[] } };
    return data.result.map(({ value }) => value[1]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const exited = new Promise((done) => this.#child.once("exit", done));
    this.#child.kill("SIGTERM");
    await exited;
    await rm(this.#folder, { recursive: true, force: true });
  }
}
