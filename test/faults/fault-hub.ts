// A hub with one faulty server and one good server, both real, behind a real HTTP endpoint.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import { RPC } from "../../packages/toolyard/src/wire/messages.ts";
import { isJsonObject, type JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import { createHub, type HubConfig, type LibraryHub } from "../../packages/toolyard/src/index.ts";
import { cpuMs, WITHOUT_WAITING_MS } from "../fixtures/cpu-time.ts";
import { HttpWire } from "../fixtures/raw/http-wire.ts";
import { RawClient } from "../fixtures/raw/raw-client.ts";
import { fixture } from "../fixtures/upstreams/harness.ts";
import { LogBook } from "../support/log-book.ts";

/** CPU time that the hub may use until other calls are answered while one server is faulty. */
const UNDISTURBED_CPU_MS = 2000;

/** A protocol error of a server, which the caller receives unchanged. */
export const PROTOCOL_ERROR = "protocol error";

export const legacyServer = (...faults: readonly string[]): string[] => [
  process.execPath,
  fixture("legacy"),
  ...faults,
];

export interface FaultHubOptions {
  /** Configuration of the server `bad`; absent if it is a remote server. */
  readonly bad?: NonNullable<NonNullable<HubConfig["mcp"]>["stdio_servers"]>[string];
  readonly remote?: NonNullable<HubConfig["mcp"]>["remote_servers"];
  readonly settings?: HubConfig;
}

export interface CallAnswer {
  readonly text: string;
  /** Outcome code, or the code of a server's error; absent after success. */
  readonly kind: string | undefined;
  readonly elapsedMs: number;
}

export class FaultHub implements AsyncDisposable {
  readonly hub: LibraryHub;
  readonly log: LogBook;
  /** A legacy client with a standalone stream for change notifications. */
  readonly client: RawClient;
  readonly #home: string;

  private constructor(hub: LibraryHub, log: LogBook, client: RawClient, home: string) {
    this.hub = hub;
    this.log = log;
    this.client = client;
    this.#home = home;
  }

  static async open({ bad, remote, settings = {} }: FaultHubOptions): Promise<FaultHub> {
    const home = await mkdtemp(join(tmpdir(), "toolyard-faults-"));
    const log = new LogBook();
    const servers = { ...(bad && { bad }), good: { command: legacyServer() } };
    const hub = await createHub({
      settings: {
        builtin: { execute_code: false },
        server: { port: 0, shutdown_grace: "1s" },
        ...settings,
        mcp: { stdio_servers: servers, ...(remote && { remote_servers: remote }) },
      },
      variables: { PATH: process.env["PATH"], TOOLYARD_HOME: home },
      logger: log,
    });
    const { endpoint } = await hub.serve();
    const client = await RawClient.open(new HttpWire(endpoint, "legacy"), { era: "legacy" });
    return new FaultHub(hub, log, client, home);
  }

  /** Makes one call over HTTP, which gets exactly one answer. */
  async call(name: string, args: JsonObject = {}, meta?: JsonObject): Promise<CallAnswer> {
    const startedAt = performance.now();
    const reply = await this.client.call("tools/call", { name, arguments: args, ...(meta && { _meta: meta }) });
    const elapsedMs = performance.now() - startedAt;
    expect(this.client.received.filter(({ id, method }) => method === undefined && id === reply["id"])).toHaveLength(1);
    const answered = { ...readReply(reply), elapsedMs };
    // The log contains each failure that a caller receives, with the name of the tool.
    const { kind } = answered;
    if (kind !== undefined)
      expect(this.log.failedCalls()).toContainEqual(
        expect.objectContaining({ target: name, ...(kind !== PROTOCOL_ERROR && { kind }) }),
      );
    return answered;
  }

  /** Returns the text of a call that must succeed. */
  async text(name: string, args: JsonObject = {}): Promise<string> {
    const { text, kind } = await this.call(name, args);
    expect(kind, text).toBeUndefined();
    return text;
  }

  /** Asserts that the other server is listed and answers as usual. */
  async expectRestUndisturbed(): Promise<void> {
    const startedAt = performance.now();
    const before = cpuMs();
    expect(await this.text("good__pid")).toMatch(/^\d+$/);
    expect(cpuMs() - before).toBeLessThan(UNDISTURBED_CPU_MS);
    expect(performance.now() - startedAt).toBeLessThan(WITHOUT_WAITING_MS);
    expect(this.log.warnings("good")).toEqual([]);
    expect(this.hub.sources().find(({ source }) => source.id === "good")?.status).toMatchObject({
      state: "ready",
      restarts: 0,
    });
  }

  status(source = "bad") {
    return this.hub.sources().find((report) => report.source.id === source)!.status;
  }

  /** Returns the number of list changes that the client was notified of. */
  changesHeard(): number {
    return this.client.received.filter(({ method }) => method === "notifications/tools/list_changed").length;
  }

  async toolNames(): Promise<string[]> {
    return (await this.client.list("tools/list", "tools")).map(({ name }) => String(name));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.client.close();
    await this.hub.close();
    await rm(this.#home, { recursive: true, force: true });
  }
}

function readReply({ error, result }: JsonObject): Omit<CallAnswer, "elapsedMs"> {
  // A server's own protocol error is passed on unchanged; these servers use it for an unknown tool.
  const ownKind = isJsonObject(error) && error["code"] === RPC.invalidParams ? "unknown_tool" : "internal";
  if (isJsonObject(error)) return { text: String(error["message"]), kind: kindIn(error["data"]) ?? ownKind };
  const { content, isError, _meta } = result as { content: JsonObject[]; isError?: boolean; _meta?: JsonObject };
  return {
    text: content.map((one) => String(one["text"])).join("\n"),
    kind: isError ? (kindIn(_meta) ?? "tool_error") : undefined,
  };
}

function kindIn(meta: unknown): string | undefined {
  const kind = isJsonObject(meta) ? meta["toolyard/kind"] : undefined;
  return typeof kind === "string" ? kind : undefined;
}
