import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";

const MAIN = fileURLToPath(new URL("../../packages/toolyard/dist/cli/main.js", import.meta.url));

/** The program over stdio, with the minimal client that reads its output line by line. */
export class PipeClient implements AsyncDisposable {
  /** Every line of standard output, unchanged. */
  readonly lines: string[] = [];
  stderr = "";
  readonly #child: ChildProcessWithoutNullStreams;
  #waiting: (() => void)[] = [];
  #isOver = false;

  /** Starts `toolyard serve --stdio` with a configuration file. */
  constructor(
    config: string,
    { flags = [], env = {} }: { flags?: readonly string[]; env?: Readonly<Record<string, string>> } = {},
  ) {
    const home = `${config}.home`;
    this.#child = spawn(process.execPath, [MAIN, "serve", "--stdio", "--no-watch", "--config", config, ...flags], {
      env: { ...process.env, TOOLYARD_HOME: home, ...env },
      stdio: "pipe",
    });
    process.once("exit", this.#kill);
    createInterface({ input: this.#child.stdout }).on("line", (line) => {
      this.lines.push(line);
      this.#wake();
    });
    this.#child.stderr.on("data", (chunk: Buffer) => (this.stderr += chunk.toString()));
    // `close` comes after the last output, unlike `exit`.
    this.#child.once("close", () => {
      this.#isOver = true;
      this.#wake();
    });
  }

  /** Writes one line: a text unchanged, an object as JSON. */
  send(message: unknown): void {
    this.#child.stdin.write(`${typeof message === "string" ? message : JSON.stringify(message)}\n`);
  }

  /** Sends a request and resolves with the reply that has its id. */
  async request(id: unknown, method: string, params: JsonObject = {}): Promise<JsonObject> {
    this.send({ jsonrpc: "2.0", id, method, params });
    return this.reply((message) => message["id"] === id && !("method" in message));
  }

  /** Resolves with the first matching message, past or future. */
  async reply(fits: (message: JsonObject) => boolean): Promise<JsonObject> {
    for (;;) {
      const found = this.messages().find(fits);
      if (found) return found;
      if (this.#isOver) throw new Error(`The program ended:\n${this.stderr}`);
      await new Promise<void>((resolve) => void this.#waiting.push(resolve));
    }
  }

  messages(): JsonObject[] {
    return this.lines.flatMap((line) => [JSON.parse(line) as JsonObject | JsonObject[]].flat());
  }

  async initialize(protocolVersion = "2025-11-25", more: JsonObject = {}): Promise<JsonObject> {
    const reply = await this.request("init", "initialize", {
      protocolVersion,
      capabilities: {},
      clientInfo: { name: "pipe", version: "1" },
      ...more,
    });
    this.send({ jsonrpc: "2.0", method: "notifications/initialized", params: {} });
    return reply;
  }

  /** Closes the input and resolves with the exit code. */
  async end(): Promise<number | null> {
    this.#child.stdin.end();
    if (!this.#isOver) await once(this.#child, "close");
    return this.#child.exitCode;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    process.off("exit", this.#kill);
    if (this.#isOver) return;
    this.#child.kill("SIGKILL");
    await once(this.#child, "close");
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  readonly #kill = (): void => void this.#child.kill("SIGKILL");
}
