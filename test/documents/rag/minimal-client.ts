import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import { createInterface, type Interface } from "node:readline";
import type { JsonObject } from "../../../packages/toolyard/src/core/json/json.ts";

/**
 * The skeleton of a client as printed in the library document: it writes a line, reads the next line and treats it as
 * the response. This version also records responses with an id other than the request's.
 */
export class MinimalClient {
  readonly #command: readonly string[];
  readonly #env: Readonly<Record<string, string>>;
  #process: ChildProcessWithoutNullStreams | undefined;
  #lines: AsyncIterator<string> | undefined;
  #reader: Interface | undefined;
  #requestId = 0;
  /** Pairs of the ids of a request and its response. */
  readonly ids: [asked: number, answered: unknown][] = [];

  constructor(command: readonly string[], env: Readonly<Record<string, string>> = {}) {
    this.#command = command;
    this.#env = env;
  }

  async start(): Promise<JsonObject> {
    const [program = "", ...args] = this.#command;
    this.#process = spawn(program, args, { stdio: ["pipe", "pipe", "pipe"], env: { ...process.env, ...this.#env } });
    this.#reader = createInterface({ input: this.#process.stdout });
    this.#lines = this.#reader[Symbol.asyncIterator]();
    const answer = await this.#sendRequest("initialize", {
      protocolVersion: "2024-11-05",
      capabilities: { tools: {} },
      clientInfo: { name: "my-app", version: "1.0" },
    });
    this.#sendNotification("notifications/initialized", {});
    return answer;
  }

  async listTools(): Promise<{ name: unknown; description: unknown; input_schema: unknown }[]> {
    const result = await this.#sendRequest("tools/list", {});
    const tools = result["tools"] as JsonObject[];
    return tools.map((tool) => ({
      name: tool["name"],
      description: tool["description"],
      input_schema: tool["inputSchema"],
    }));
  }

  async callTool(toolName: string, args: JsonObject): Promise<unknown> {
    const result = await this.#sendRequest("tools/call", { name: toolName, arguments: args });
    const content = (result["content"] ?? []) as { type: string; text: string }[];
    return content.length > 0 && content[0]!.type === "text" ? JSON.parse(content[0]!.text) : result;
  }

  async stop(): Promise<void> {
    if (!this.#process || this.#process.exitCode !== null) return;
    const gone = once(this.#process, "exit");
    this.#process.kill("SIGTERM");
    await gone;
  }

  async #sendRequest(method: string, params: JsonObject): Promise<JsonObject> {
    this.#requestId += 1;
    this.#process!.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: this.#requestId, method, params })}\n`);
    const line = await this.#lines!.next();
    const response = JSON.parse(String(line.value)) as JsonObject;
    this.ids.push([this.#requestId, response["id"]]);
    return response["result"] as JsonObject;
  }

  #sendNotification(method: string, params: JsonObject): void {
    this.#process!.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", method, params })}\n`);
  }
}
