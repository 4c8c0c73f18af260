// Calls continuously through several endpoints of a hub, while its children and a remote are killed at random. Equal
// seeds make equal choices.
import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import { isJsonObject, objectMember } from "../../packages/toolyard/src/core/json/json.ts";
import { KIND_META_KEY } from "../../packages/toolyard/src/core/calls/kinds.ts";
import { SILENT_LOGGER } from "../../packages/toolyard/src/core/ports/ports.ts";
import { createHub, type LibraryHub } from "../../packages/toolyard/src/index.ts";
import { HttpWire } from "../fixtures/raw/http-wire.ts";
import { RawClient } from "../fixtures/raw/raw-client.ts";
import { createRandom, type Random } from "../support/random.ts";
import { descendants } from "../support/serve-child.ts";
import { ToolFolder } from "../support/tool-folder.ts";

export interface KillOptions {
  readonly kills: number;
  readonly seed: number;
}

export interface KillReport {
  readonly kills: number;
  /** Number of kills of `stdio`, `script` and `remote`. */
  readonly victims: Readonly<Record<string, number>>;
  readonly calls: number;
  /** Number of calls by tool and outcome: `ok` or an outcome code. */
  readonly ended: Readonly<Record<string, number>>;
  readonly slowestMs: number;
  readonly seconds: number;
  /** Children, open handles, timers and listeners at rest, after unused connections have closed. */
  readonly before: Rest;
  readonly after: Rest;
  readonly childrenAfterClose: number;
  /** Problems found; empty if there are none. */
  readonly problems: readonly string[];
}

export interface Rest {
  readonly children: number;
  readonly handles: number;
  /** Number of the handles that are connections. */
  readonly sockets: number;
  /** Number of timers that keep the process alive. */
  readonly timers: number;
  readonly listeners: number;
  /** Kinds of the open handles. */
  readonly kinds: string;
}

const CALLERS = 8;
/** Time limit of a call. A call that reaches it is a problem; it is far longer than any call on a slow machine. */
const CALL_TIMEOUT_MS = 30_000;
/** Tolerance after the time limit of a call, for a busy machine. */
const PATIENCE_MS = 3000;
const WARM_UP_MS = 1500;
const MAX_WAIT_MS = 40;
const MAX_PAUSE_MS = 80;
const SETTLED_WITHIN_MS = 30_000;
/** Unused connections close after this time, on either side. */
const IDLE_TIMEOUT = "2s";
/** Both ends of the one stream that stays open without calls: that of the legacy client. */
const STANDING_SOCKETS = 2;
const WEB = fileURLToPath(new URL("web-child.mjs", import.meta.url));
const PIPE = fileURLToPath(new URL("pipe-server.mjs", import.meta.url));
const TOOLS = ["one__waits", "two__waits", "web__waits", "say_script", "say_folder"];
/** Expected outcomes: a killed script is a failure of the tool, a killed server is unavailable. */
const EXPECTED = new Set(["ok", "unavailable", "tool_error"]);

/** A remote server that restarts on the same port. */
class Remote {
  port = 0;
  #child: ChildProcessWithoutNullStreams | undefined;

  async start(): Promise<void> {
    const child = spawn(process.execPath, [WEB, String(this.port)], { stdio: "pipe" });
    child.stdin.on("error", () => {});
    this.#child = child;
    const [line] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
    this.port = Number(line);
  }

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  async kill(): Promise<void> {
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, "exit");
    child.kill("SIGKILL");
    await gone;
  }
}

type Endpoint = (tool: string, args: JsonObject) => Promise<string>;

export async function runKills({ kills, seed }: KillOptions): Promise<KillReport> {
  const folder = new ToolFolder();
  fill(folder);
  const remote = new Remote();
  await remote.start();
  const hub = await createHub({
    settings: settingsOf(folder, remote.port),
    variables: { PATH: process.env["PATH"], TOOLYARD_HOME: `${folder.path}/home` },
    logger: SILENT_LOGGER,
  });
  const run = new KillRun(hub, remote, createRandom(seed), kills);
  try {
    return await run.run();
  } finally {
    await run.close();
    await remote.kill();
    folder[Symbol.dispose]();
  }
}

class KillRun {
  readonly #hub: LibraryHub;
  readonly #remote: Remote;
  readonly #random: Random;
  readonly #kills: number;
  readonly #clients: RawClient[] = [];
  readonly #problems: string[] = [];
  readonly #ended = new Map<string, number>();
  readonly #victims = new Map<string, number>();
  #calls = 0;
  #slowestMs = 0;
  #isOver = false;

  constructor(hub: LibraryHub, remote: Remote, random: Random, kills: number) {
    this.#hub = hub;
    this.#remote = remote;
    this.#random = random;
    this.#kills = kills;
  }

  async run(): Promise<KillReport> {
    const endpoints = await this.#openEndpoints();
    await this.#allServed(endpoints);
    // Starts the measurement after the first concurrent calls have created their objects.
    await this.#callAll(endpoints, delay(WARM_UP_MS));
    const before = await this.#rest();
    const startedAt = performance.now();
    await this.#callAll(endpoints, this.#killAll());
    const seconds = Math.round((performance.now() - startedAt) / 100) / 10;
    await this.#allServed(endpoints);
    const after = await this.#rest(before);
    this.#compare(before, after);
    this.#expectOneReplyEach();
    await this.close();
    await this.#remote.kill();
    const childrenAfterClose = descendants(process.pid).length;
    if (childrenAfterClose > 0) this.#problems.push(`${childrenAfterClose} children outlived the hub`);
    const [ended, victims] = [this.#ended, this.#victims].map((tally) => Object.fromEntries([...tally].toSorted()));
    return {
      kills: this.#kills,
      victims: victims!,
      calls: this.#calls,
      ended: ended!,
      slowestMs: Math.round(this.#slowestMs),
      seconds,
      before,
      after,
      childrenAfterClose,
      problems: this.#problems,
    };
  }

  async close(): Promise<void> {
    await Promise.all(this.#clients.map((client) => client.close()));
    await this.#hub.close();
  }

  async #openEndpoints(): Promise<Endpoint[]> {
    const { endpoint } = await this.#hub.serve();
    const endpoints: Endpoint[] = [
      async (tool, args) => {
        const outcome = await this.#hub.call(tool, args);
        return outcome.ok ? "ok" : outcome.kind;
      },
    ];
    for (const era of ["legacy", "modern"] as const) {
      const client = await RawClient.open(new HttpWire(endpoint, era), { era });
      this.#clients.push(client);
      endpoints.push(async (name, args) => readReply(await client.request("tools/call", { name, arguments: args })));
    }
    return endpoints;
  }

  async #callAll(endpoints: readonly Endpoint[], meanwhile: Promise<void>): Promise<void> {
    this.#isOver = false;
    const callers = Array.from({ length: CALLERS }, (_, n) => this.#callOn(endpoints[n % endpoints.length]!));
    await meanwhile;
    this.#isOver = true;
    await Promise.all(callers);
  }

  async #callOn(endpoint: Endpoint): Promise<void> {
    while (!this.#isOver) await this.#one(endpoint, this.#random.pick(TOOLS));
  }

  /** Makes one call, which must end within its time with one outcome. */
  async #one(endpoint: Endpoint, tool: string): Promise<string> {
    this.#calls += 1;
    const startedAt = performance.now();
    let end: string;
    try {
      end = await endpoint(tool, { ms: this.#random.below(MAX_WAIT_MS) });
    } catch (error) {
      end = "no answer";
      this.#problems.push(`${tool}: ${error instanceof Error ? error.message : String(error)}`);
    }
    const elapsedMs = performance.now() - startedAt;
    this.#slowestMs = Math.max(this.#slowestMs, elapsedMs);
    if (elapsedMs > CALL_TIMEOUT_MS + PATIENCE_MS) this.#problems.push(`${tool} took ${Math.round(elapsedMs)} ms`);
    if (!EXPECTED.has(end)) this.#problems.push(`${tool} ended as ${end}`);
    const key = `${tool} ${end}`;
    this.#ended.set(key, (this.#ended.get(key) ?? 0) + 1);
    return end;
  }

  async #killAll(): Promise<void> {
    for (let count = 0; count < this.#kills; count += 1) {
      await delay(this.#random.below(MAX_PAUSE_MS));
      while (!(await this.#killOne())) await delay(5);
    }
  }

  /** Kills one process. Returns false if there was none. */
  async #killOne(): Promise<boolean> {
    const pid = this.#random.pick(descendants(process.pid));
    if (pid === undefined) return false;
    const servers = this.#hub.sources().map(({ status }) => status.pid);
    const kind = pid === this.#remote.pid ? "remote" : servers.includes(pid) ? "stdio" : "script";
    if (kind === "remote") {
      await this.#remote.kill();
      await delay(this.#random.below(MAX_PAUSE_MS));
      await this.#remote.start();
    } else {
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        return false;
      }
    }
    this.#victims.set(kind, (this.#victims.get(kind) ?? 0) + 1);
    return true;
  }

  /** Waits until the hub has recovered and serves every tool again. */
  async #allServed(endpoints: readonly Endpoint[]): Promise<void> {
    const until = performance.now() + SETTLED_WITHIN_MS;
    for (const tool of TOOLS) {
      while ((await this.#one(endpoints[0]!, tool)) !== "ok") {
        if (performance.now() > until) return void this.#problems.push(`${tool} was not served again`);
        await delay(50);
      }
    }
  }

  /**
   * Returns the resources at rest, after unused connections have closed. Waits until they are at most `wanted`, if
   * given.
   */
  async #rest(wanted?: Rest): Promise<Rest> {
    const until = performance.now() + SETTLED_WITHIN_MS;
    for (;;) {
      await delay(200);
      const now = restNow();
      const isCalm = COUNTED.every((what) => !wanted || now[what] <= wanted[what]);
      if ((now.sockets <= STANDING_SOCKETS && now.timers === 0 && isCalm) || performance.now() > until) return now;
    }
  }

  #compare(before: Rest, after: Rest): void {
    for (const [when, { sockets, timers }] of Object.entries({ before, after })) {
      if (sockets > STANDING_SOCKETS)
        this.#problems.push(`${sockets} sockets at rest ${when} the kills, where ${STANDING_SOCKETS} are in use`);
      if (timers > 0) this.#problems.push(`${timers} timers run at rest ${when} the kills`);
    }
    for (const what of COUNTED) {
      if (after[what] > before[what])
        this.#problems.push(
          `${after[what] - before[what]} more ${what} than before: ${before.kinds} became ${after.kinds}`,
        );
    }
  }

  #expectOneReplyEach(): void {
    for (const { received } of this.#clients) {
      const ids = received.flatMap((message) => ("method" in message ? [] : [message["id"]]));
      if (new Set(ids).size !== ids.length)
        this.#problems.push(`${ids.length - new Set(ids).size} requests were answered twice`);
    }
  }
}

const COUNTED = ["children", "handles", "timers", "listeners"] as const;

/** Excludes the `Immediate` of this measurement. */
function restNow(): Rest {
  const all = process.getActiveResourcesInfo().filter((kind) => kind !== "Immediate");
  const handles = all.filter((kind) => kind !== "Timeout");
  const sockets = handles.filter((kind) => kind === "TCPSocketWrap").length;
  return {
    children: descendants(process.pid).length,
    handles: handles.length,
    sockets,
    timers: all.length - handles.length,
    listeners: listenersNow(),
    kinds: countsOf(all),
  };
}

function countsOf(kinds: readonly string[]): string {
  return [...new Set(kinds)]
    .toSorted()
    .map((kind) => `${kinds.filter((one) => one === kind).length} ${kind}`)
    .join(", ");
}

function listenersNow(): number {
  return process.eventNames().reduce((count, name) => count + process.listenerCount(name), 0);
}

function readReply({ error, result }: JsonObject): string {
  if (isJsonObject(error))
    return String(objectMember(error, "data")?.[KIND_META_KEY] ?? `error ${String(error["code"])}`);
  if (!isJsonObject(result) || result["isError"] !== true) return "ok";
  return String(objectMember(result, "_meta")?.[KIND_META_KEY] ?? "tool_error");
}

function fill(folder: ToolFolder): void {
  folder.write("tools/say_script/tool.toml", 'name = "say_script"\ndescription = "Waits."\nscript = "run.sh"\n');
  folder.write("tools/say_script/run.sh", "sleep 0.03; cat", 0o755);
  folder.write(
    "folders/say_folder/say_folder.mcp.json",
    JSON.stringify({ name: "say_folder", description: "Waits.", input_schema: { type: "object" } }),
  );
  folder.write(
    "folders/say_folder/say_folder.mjs",
    "export const execute = ({ ms }) => new Promise((done) => setTimeout(done, ms, { ms }));\n",
  );
}

function settingsOf(folder: ToolFolder, port: number) {
  const command = [process.execPath, PIPE, "waits"];
  return {
    server: { port: 0, shutdown_grace: "1s", idle_timeout: IDLE_TIMEOUT },
    scripts: { tools_path: `${folder.path}/tools` },
    folders: { tools_path: `${folder.path}/folders` },
    limits: { call_timeout: CALL_TIMEOUT_MS, rate_per_minute: 0, breaker: { failures: 20, cool_down: "200ms" } },
    mcp: {
      stdio_servers: { one: { command }, two: { command } },
      remote_servers: [{ alias: "web", namespace: "web", url: `http://127.0.0.1:${port}/mcp` }],
    },
  };
}
