// A client of `toolyard serve --stdio --shared` that finds its hub's process id in the log.
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { exitOf, seen, type Desk, type RunOptions } from "./harness.ts";

type Message = Readonly<Record<string, unknown>>;

export interface ClientOptions extends RunOptions {
  /** Further arguments of the command line. */
  readonly words?: readonly string[];
  /** The client's capabilities. @default none */
  readonly capabilities?: object;
}

/**
 * Time that a hub of these tests continues after its last client: long enough for another client to join, but short.
 */
export const LINGER = ["--linger", "1500ms"];

export class SharedClient {
  readonly child: ChildProcess;
  readonly messages: Message[] = [];
  #stderr = "";
  #id = 0;
  #rest = "";
  #waiting: { readonly matches: (message: Message) => boolean; readonly resolve: (message: Message) => void }[] = [];

  private constructor(child: ChildProcess) {
    this.child = child;
    child.stderr!.on("data", (chunk) => (this.#stderr += String(chunk)));
    child.stdout!.on("data", (chunk) => this.#take(String(chunk)));
  }

  /** Starts the client and completes the handshake. */
  static async open(
    desk: Desk,
    { words = LINGER, capabilities = {}, ...options }: ClientOptions = {},
  ): Promise<SharedClient> {
    const client = new SharedClient(desk.start(["serve", "--stdio", "--shared", ...words], options));
    const clientInfo = { name: "test", version: "1" };
    await client.ask("initialize", { protocolVersion: "2025-06-18", capabilities, clientInfo });
    client.send({ jsonrpc: "2.0", method: "notifications/initialized" });
    return client;
  }

  send(message: object): void {
    this.child.stdin!.write(`${JSON.stringify(message)}\n`);
  }

  ask(method: string, params: object = {}): Promise<Message> {
    this.#id += 1;
    const id = this.#id;
    const answer = this.next((message) => message["id"] === id && message["method"] === undefined);
    this.send({ jsonrpc: "2.0", id, method, params });
    return answer;
  }

  /** Resolves with the text of a tool's answer. */
  async call(name: string, args: object = {}): Promise<string> {
    const { result, error } = (await this.ask("tools/call", { name, arguments: args })) as {
      result?: { content: { text: string }[] };
      error?: { message: string };
    };
    return result?.content[0]?.text ?? `error: ${error?.message}`;
  }

  async tools(): Promise<readonly string[]> {
    const { result } = (await this.ask("tools/list")) as unknown as { result: { tools: { name: string }[] } };
    return result.tools.map(({ name }) => name);
  }

  /** Resolves with the next matching message. */
  next(matches: (message: Message) => boolean): Promise<Message> {
    return new Promise((resolve) => void this.#waiting.push({ matches, resolve }));
  }

  /** Output so far. */
  get stderr(): string {
    return this.#stderr;
  }

  /** Resolves when a line of its log matches, past or future. */
  async said(pattern: RegExp): Promise<RegExpExecArray> {
    const match = pattern.exec(this.#stderr);
    return match ?? seen(this.child.stderr!, pattern);
  }

  /** Process id of its shared hub. */
  async hub(): Promise<number> {
    return Number((await this.said(/This client shares a hub\. pid=(\d+)/))[1]);
  }

  /** Disconnects like a client. Resolves with the exit code once the log is complete. */
  async close(): Promise<number | null> {
    const logged = once(this.child.stderr!, "close");
    this.child.stdin!.end();
    const code = await exitOf(this.child);
    await logged;
    return code;
  }

  #take(text: string): void {
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop()!;
    for (const line of lines) {
      const message = JSON.parse(line) as Message;
      this.messages.push(message);
      const heard = this.#waiting.filter(({ matches }) => matches(message));
      this.#waiting = this.#waiting.filter((one) => !heard.includes(one));
      for (const { resolve } of heard) resolve(message);
    }
  }
}
