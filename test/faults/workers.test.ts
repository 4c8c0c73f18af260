// `serve --workers`: the guarantees of one process apply to several, and a crashing worker affects no other.
import { execFileSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { mkdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import type { HubConfig } from "../../packages/toolyard/src/index.ts";
import { KeptLine, messagesOf } from "../support/kept-line.ts";
import { createRandom } from "../support/random.ts";
import { allGone, descendants, ServeChild } from "../support/serve-child.ts";
import { legacyServer } from "./fault-hub.ts";

let folder: string;
let modules: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "toolyard-workers-"));
  modules = join(folder, "modules");
  mkdirSync(join(modules, "gate"), { recursive: true });
  // Calls of `gate.wait` are answered when `gate.open` is called, or after `ms`.
  await writeFile(
    join(modules, "gate", "mcp.mjs"),
    `const waiting = new Set();
export function registerTools(hub) {
  const text = { type: "object", properties: { text: { type: "string" }, ms: { type: "integer" } } };
  hub.registerTool("gate.echo", ({ text }) => text ?? "", text, "Echoes");
  hub.registerTool("gate.wait", ({ text, ms }) => new Promise((done) => {
    const end = () => { waiting.delete(end); done(text ?? "waited"); }; waiting.add(end); if (ms) setTimeout(end, ms);
    }), text, "Waits");
  hub.registerTool("gate.open", () => { const count = waiting.size; for (const end of [...waiting]) end(); return count;
    }, { type: "object" }, "Opens");
}
`,
  );
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Starts a hub with the flag `--workers`; 0 leaves the number to the configuration. */
async function start(workers: number, config: HubConfig = {}): Promise<ServeChild> {
  const settings: HubConfig = { modules: { paths: [modules] }, builtin: { execute_code: false }, ...config };
  const served = await ServeChild.start({
    config: settings,
    args: workers === 0 ? [] : ["--workers", String(workers)],
  });
  onTestFinished(() => served[Symbol.asyncDispose]());
  return served;
}

function line(served: ServeChild, session?: string): KeptLine {
  const kept = new KeptLine(served.url, session);
  onTestFinished(() => kept[Symbol.dispose]());
  return kept;
}

function workersOf(served: ServeChild): number[] {
  return descendants(served.pid).filter((pid) => commandOf(pid).includes("http/adapters/workers/main.js"));
}

function commandOf(pid: number): string {
  try {
    return process.platform === "linux"
      ? readFileSync(`/proc/${pid}/cmdline`, "utf8")
      : execFileSync("ps", ["-o", "args=", "-p", String(pid)], { encoding: "utf8" });
  } catch {
    return ""; // The process has ended meanwhile.
  }
}

const textOf = (answer: Awaited<ReturnType<KeptLine["tool"]>>): unknown =>
  (answer.message.result?.["content"] as { text: string }[] | undefined)?.[0]?.text;

test("a session opened through one worker can be used, listened to and ended through another", async () => {
  const served = await start(2);
  expect(workersOf(served)).toHaveLength(2);
  // The first connection is kept, so the second one goes to the other worker.
  const first = await line(served).open();
  const second = line(served, first.session);
  expect(textOf(await second.tool("gate.echo", { text: "there" }))).toBe("there");
  const stream = await line(served, first.session).begin("GET");
  expect(stream.headers["content-type"]).toBe("text/event-stream");
  expect((await second.send("DELETE")).status).toBe(200);
  expect((await first.tool("gate.echo")).status).toBe(404);
  for await (const _ of messagesOf(stream)) expect.unreachable();
});

test("a session that is deleted through another worker ends its running call without an answer", async () => {
  const served = await start(2);
  const first = await line(served).open();
  const second = line(served, first.session);
  const params = { name: "gate.wait", arguments: {} };
  const running = first.send("POST", { jsonrpc: "2.0", id: "slow", method: "tools/call", params });
  // The same session answers this call while the first one waits, so the first one has arrived.
  await expect.poll(async () => textOf(await second.tool("gate.echo", { text: "x" }))).toBe("x");
  expect((await second.send("DELETE")).status).toBe(200);
  expect((await running).text).toBe("");
});

test("cancels a running call through another worker, and sends the caller no result", async () => {
  const served = await start(2);
  const first = await line(served).open();
  const second = line(served, first.session);
  const running = first.send("POST", {
    jsonrpc: "2.0",
    id: "slow",
    method: "tools/call",
    params: { name: "gate.wait", arguments: {} },
  });
  // The same session answers this call while the first one waits, so the first one has arrived.
  await expect.poll(async () => textOf(await second.tool("gate.echo", { text: "x" }))).toBe("x");
  await second.send("POST", { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: "slow" } });
  expect((await running).text).not.toContain('"result"');
});

test("four workers start no more stdio servers than one process does", async () => {
  const config: HubConfig = {
    mcp: { stdio_servers: { one: { command: legacyServer() }, two: { command: legacyServer() } } },
  };
  const counts: number[] = [];
  for (const workers of [1, 4]) {
    const served = await start(workers, config);
    const kept = await Promise.all(Array.from({ length: 8 }, () => line(served).open()));
    await Promise.all(kept.map((one) => one.tool("one__echo", { text: "hi" })));
    await expect.poll(() => descendants(served.pid).length - workersOf(served).length).toBeGreaterThanOrEqual(2);
    counts.push(descendants(served.pid).length - workersOf(served).length);
    expect(workersOf(served)).toHaveLength(workers === 1 ? 0 : 4);
    await served[Symbol.asyncDispose]();
  }
  expect(counts[1]).toBe(counts[0]);
});

test("the limit of calls and the limit of connections apply to all workers together", async () => {
  const served = await start(2, { limits: { rate_per_minute: 4 }, server: { max_connections: 3 } });
  const first = await line(served).open();
  const second = line(served, first.session);
  const answers = [];
  for (let turn = 0; turn < 3; turn += 1)
    answers.push(await first.tool("gate.echo", { text: "x" }), await second.tool("gate.echo", { text: "x" }));
  expect(answers.filter((answer) => textOf(answer) === "x")).toHaveLength(4);
  const third = line(served);
  expect((await third.send("GET", undefined, "/healthz")).status).toBe(200);
  await expect(line(served).send("GET", undefined, "/healthz")).rejects.toThrow();
});

test("the streams of every worker are notified of a changed configuration", async () => {
  const served = await start(2);
  const kept = await Promise.all([line(served).open(), line(served).open()]);
  const streams = await Promise.all(kept.map((one) => line(served, one.session).begin("GET")));
  for (const one of kept) await one.post("tools/list");
  const config: HubConfig = { modules: { paths: [modules] }, builtin: { execute_code: false } };
  const heard = Promise.all(
    streams.map(async (stream) => {
      for await (const { method } of messagesOf(stream)) if (method === "notifications/tools/list_changed") return true;
      return false;
    }),
  );
  await served.writeConfig({ ...config, mcp: { stdio_servers: { good: { command: legacyServer() } } } });
  expect(await heard).toEqual([true, true]);
});

test("a changed number of workers reopens the endpoint at the same address; 1 ends all workers", async () => {
  const served = await start(0, { server: { workers: 2 } });
  for (const workers of [3, 1]) {
    await served.writeConfig({ modules: { paths: [modules] }, builtin: { execute_code: false }, server: { workers } });
    await expect.poll(() => workersOf(served).length).toBe(workers === 1 ? 0 : workers);
    await expect
      .poll(() =>
        line(served)
          .send("GET", undefined, "/healthz")
          .then(
            ({ status }) => status,
            () => 0,
          ),
      )
      .toBe(200);
    const kept = await line(served).open();
    expect(textOf(await kept.tool("gate.echo", { text: "moved" }))).toBe("moved");
  }
});

test("JSON-RPC, REST, the status and refusals are the same with workers as without", async () => {
  const ask = async (workers: number): Promise<unknown> => {
    const served = await start(workers, { server: { tokens: { ada: { token: "secret-of-ada" } } } });
    const headers = { "content-type": "application/json", authorization: "Bearer secret-of-ada" };
    const send = async (path: string, init: RequestInit = {}): Promise<unknown> => {
      const response = await fetch(new URL(path, served.url), { headers, ...init });
      return [
        response.status,
        response.headers.get("content-type"),
        response.headers.get("www-authenticate"),
        (await response.text()).replaceAll(/"(uptimeSeconds|startedAt|pid|sinceMs)":[^,}]*/g, ""),
      ];
    };
    const answers = [
      await send("/jsonrpc", {
        method: "POST",
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "gate.echo", params: { text: "hi" } }),
      }),
      await send("/api/tools/gate.echo", { method: "POST", body: JSON.stringify({ text: "hi ✓" }) }),
      await send("/api/tools/gate.echo", { method: "POST", body: "{" }),
      await send("/api/tools/nobody", { method: "POST", body: "{}" }),
      await send("/api/tools", { method: "DELETE" }),
      await send("/api/tools", { headers: {} }),
      await send("/api/tools", { headers: { ...headers, origin: "http://evil.example" } }),
      await send("/mcp", { method: "POST", headers: {}, body: "{}" }),
      await send("/mcp", { method: "PUT", body: "{}" }),
      await send("/mcp", { method: "POST", body: "x".repeat(5 * 1024 * 1024) }),
      await send("/nowhere"),
      await send("/openapi.json"),
    ];
    const [status] = (await send("/status")) as [number];
    expect(status).toBe(200);
    const port = new RegExp(new URL(served.url).port, "g");
    await served[Symbol.asyncDispose]();
    return JSON.parse(
      JSON.stringify(answers)
        .replaceAll(port, "PORT")
        .replaceAll(/[0-9a-f]{8}-\d+/g, "ID"),
    );
  };
  expect(await ask(2)).toEqual(await ask(1));
});

test("killing a worker twenty times: each call ends once, other workers continue, a new one starts", async () => {
  const random = createRandom(6);
  const served = await start(2);
  const survivor = await line(served).open();
  for (let round = 0; round < 20; round += 1) {
    const callers = Array.from({ length: 6 }, () => line(served, survivor.session));
    const calls = callers.map((caller, index) =>
      caller.tool("gate.wait", { text: `${round}.${index}`, ms: 20 + random.below(60) }).then(textOf, () => "closed"),
    );
    const answered = Promise.all(calls);
    if (random.below(2) === 0) await Promise.race(calls);
    const before = workersOf(served);
    process.kill(random.pick(before), "SIGKILL");
    for (const [index, text] of (await answered).entries()) expect(["closed", `${round}.${index}`]).toContain(text);
    await expect.poll(() => workersOf(served).filter((pid) => !before.includes(pid)).length).toBe(1);
    for (const caller of callers) caller[Symbol.dispose]();
    // The primary has the session, so every worker can serve it.
    expect(textOf(await line(served, survivor.session).tool("gate.echo", { text: "on" }))).toBe("on");
  }
  expect(workersOf(served)).toHaveLength(2);
}, 60_000);

test("SIGTERM to every process: the running call is answered, the code is 0, and no process is left", async () => {
  const served = await start(2);
  const kept = await line(served).open();
  const running = kept.tool("gate.wait", { text: "last", ms: 300 });
  await expect.poll(async () => textOf(await line(served, kept.session).tool("gate.echo", { text: "x" }))).toBe("x");
  const all = descendants(served.pid);
  for (const pid of [...workersOf(served), served.pid]) process.kill(pid, "SIGTERM");
  expect(textOf(await running)).toBe("last");
  expect(await served.exited).toEqual({ code: 0, signal: null });
  await allGone(all);
});

test("killing a hub also ends its workers", async () => {
  const served = await start(3);
  const all = workersOf(served);
  expect(all).toHaveLength(3);
  served.signal("SIGKILL");
  await served.exited;
  await allGone(all);
});

test("one process, which is the default, loads no code of workers", async () => {
  const hook = new URL("../../bench/lib/trace-loads.mjs", import.meta.url).href;
  const loads = async (args: readonly string[]): Promise<boolean> => {
    const served = await ServeChild.start({
      config: {},
      args,
      env: { NODE_OPTIONS: `--import ${hook}`, NODE_NO_WARNINGS: "1" },
    });
    onTestFinished(() => served[Symbol.asyncDispose]());
    // The modules are printed on another pipe than the line with the address.
    served.signal("SIGTERM");
    await served.exited;
    expect(served.stderr).toContain("/http/adapters/node/listener.js");
    return served.stderr.includes("/http/adapters/workers/");
  };
  expect(await Promise.all([loads([]), loads(["--workers", "1"]), loads(["--workers", "2"])])).toEqual([
    false,
    false,
    true,
  ]);
});

test("standard output contains only the start message", async () => {
  const served = await start(2);
  let printed = "";
  served.stdout.on("data", (chunk: Buffer) => (printed += chunk.toString()));
  const kept = await line(served).open();
  await kept.tool("gate.echo", { text: "x" });
  served.signal("SIGTERM");
  await served.exited;
  expect(printed).toBe("");
});

test.each(["0", "65", "many", "1.5"])("--workers %s is refused", async (count) => {
  const served = await ServeChild.spawn({ config: {}, args: ["--workers", count] });
  onTestFinished(() => served[Symbol.asyncDispose]());
  expect((await served.exited).code).not.toBe(0);
  expect(served.stderr).toMatch(/workers:? must be/);
});
