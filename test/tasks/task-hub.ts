import { createInterface } from "node:readline";
import type { ChildProcess } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import { Desk, exitOf } from "../cli/harness.ts";

const UPSTREAM = fileURLToPath(new URL("task-server.mjs", import.meta.url));

/** Returns the configuration of a server whose tools are tasks, with the id `up`. */
export function upstreamConfig(era: "legacy" | "modern"): string {
  return `[mcp.stdio_servers.up]\ncommand = ${JSON.stringify([process.execPath, UPSTREAM, era])}\n`;
}

/** Tools for tests of tasks. The file `go` in the hub's folder lets `wait_for_file` end. */
const MODULE = `
import { existsSync, appendFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

const string = { type: "object", properties: { name: { type: "string" } } };

async function waitForFile({ name = "go" }, { progress, signal }) {
  appendFileSync("calls", name + "\\n");
  progress(1, 2, "waiting for " + name);
  while (!existsSync(join(process.cwd(), name))) await pause(10, undefined, { signal });
  return "found " + name;
}

async function confirm(_args, { ask }) {
  const params = { mode: "form", message: "Sure?", requestedSchema: { type: "object", properties: {} } };
  return (await ask("elicitation/create", params)).action;
}

export function registerTools(hub) {
  hub.registerTool("greet", ({ name }) => "Hello, " + name, string, "Greets");
  hub.registerTool("wait_for_file", waitForFile, string, "Waits for a file");
  hub.registerTool("wait_again", waitForFile, string, "The same", { annotations: { idempotentHint: true } });
  hub.registerTool("confirm", confirm, { type: "object" }, "Asks the caller");
}
`;

const META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
};
const EXTENSION = "io.modelcontextprotocol/tasks";

export interface Reply {
  readonly result?: JsonObject;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: JsonObject };
}

export interface AskOptions {
  /** Capabilities besides the extension. */
  readonly capabilities?: JsonObject;
  /** @default true */
  readonly declares?: boolean;
  readonly token?: string;
}

/** Hub in its own process. A test decides when the calls of its tools end. */
export class TaskHub implements AsyncDisposable {
  readonly desk: Desk;
  #child: ChildProcess | undefined;
  url = "";

  private constructor(desk: Desk) {
    this.desk = desk;
  }

  static async start(config: string): Promise<TaskHub> {
    const hub = new TaskHub(await Desk.create({ "mcp.mjs": MODULE }));
    await hub.desk.write("toolyard.toml", `[modules]\npaths = ["mcp.mjs"]\n${config}`);
    await hub.restart();
    return hub;
  }

  /** Starts the hub, after the end of the process that ran before. */
  async restart(): Promise<void> {
    const child = this.desk.start(["serve", "--yes", "--port", "0", "--json"]);
    this.#child = child;
    child.stderr!.resume();
    for await (const line of createInterface({ input: child.stdout! })) {
      const url = /https?:\/\/[^\s"']+\/mcp/.exec(line)?.[0];
      if (url === undefined) continue;
      this.url = url;
      child.stdout!.resume();
      return;
    }
    throw new Error("The hub ended before it was ready.");
  }

  /** Ends the hub as a crash does. */
  async kill(): Promise<void> {
    const child = this.#child!;
    child.kill("SIGKILL");
    await exitOf(child);
  }

  /** Ends the hub as a service manager does. */
  async end(): Promise<void> {
    const child = this.#child!;
    child.kill("SIGTERM");
    await exitOf(child);
  }

  /** Sends a request of 2026-07-28. */
  async ask(method: string, params: JsonObject, options: AskOptions = {}): Promise<Reply> {
    const response = await this.open(method, params, options);
    const text = await response.text();
    const data = /^data: (\{.*"(?:result|error)".*\})$/m.exec(text)?.[1];
    return JSON.parse(data ?? text) as Reply;
  }

  open(method: string, params: JsonObject, { capabilities = {}, declares = true, token }: AskOptions = {}) {
    const clientCapabilities = { ...capabilities, ...(declares && { extensions: { [EXTENSION]: {} } }) };
    const _meta = {
      ...(params["_meta"] as JsonObject | undefined),
      ...META,
      "io.modelcontextprotocol/clientCapabilities": clientCapabilities,
    };
    const name = params["name"] ?? params["taskId"];
    return fetch(this.url, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": method,
        ...(typeof name === "string" && { "mcp-name": name }),
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { ...params, _meta } }),
    });
  }

  call(name: string, args: JsonObject = {}, options?: AskOptions): Promise<Reply> {
    return this.ask("tools/call", { name, arguments: args }, options);
  }

  /** Calls a tool that becomes a task, and returns its id. */
  async task(name: string, args: JsonObject = {}, options?: AskOptions): Promise<string> {
    const { result, error } = await this.call(name, args, options);
    if (result?.["resultType"] !== "task") throw new Error(`${name} is no task: ${JSON.stringify(result ?? error)}`);
    return String(result["taskId"]);
  }

  async get(taskId: string, options?: AskOptions): Promise<JsonObject> {
    const { result, error } = await this.ask("tasks/get", { taskId }, options);
    return result ?? { error };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.desk[Symbol.asyncDispose]();
  }
}

/** Reads the notifications of a `subscriptions/listen` stream. */
export async function* notificationsOf(response: Response): AsyncGenerator<JsonObject> {
  let text = "";
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    const events = text.split("\n\n");
    text = events.pop()!;
    for (const event of events) {
      const data = /^data: (.*)$/m.exec(event)?.[1];
      if (data !== undefined) yield JSON.parse(data) as JsonObject;
    }
  }
}
