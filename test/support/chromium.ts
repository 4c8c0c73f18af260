// A real headless Chromium, driven over a pipe: without a port, driver or package.
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";

interface Message extends JsonObject {
  readonly id?: number;
  readonly sessionId?: string;
  readonly method?: string;
  readonly result?: JsonObject;
  readonly error?: { readonly message: string };
}

const FLAGS = [
  "--headless=new",
  "--remote-debugging-pipe",
  // Test machines are often containers with root as the only user, where Chromium's own sandbox fails.
  "--no-sandbox",
  "--disable-gpu",
  "--disable-dev-shm-usage",
  "--disable-background-networking",
  "--disable-component-update",
  "--no-first-run",
  "about:blank",
];
/** Time limit, far beyond the duration of any page of these tests. */
const PATIENCE_MS = 60_000;

export class Chromium implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #folder: string;
  readonly #waiting = new Map<number, (message: Message) => void>();
  readonly #listeners = new Set<(message: Message) => void>();
  #last = 0;

  private constructor(child: ChildProcess, folder: string) {
    this.#child = child;
    this.#folder = folder;
    let rest = "";
    (child.stdio[4] as Readable).setEncoding("utf8").on("data", (chunk: string) => {
      const lines = (rest + chunk).split("\0");
      rest = lines.pop() ?? "";
      for (const line of lines) this.#take(JSON.parse(line) as Message);
    });
  }

  /** @param path of the program */
  static async start(path: string): Promise<Chromium> {
    const folder = await mkdtemp(join(tmpdir(), "toolyard-chromium-"));
    const flags = [...FLAGS, `--user-data-dir=${folder}`];
    const child = spawn(path, flags, { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
    await once(child, "spawn");
    return new Chromium(child, folder);
  }

  /** Opens a browser context with separate cookies. */
  async newPage(): Promise<ChromiumPage> {
    const { browserContextId } = await this.send("Target.createBrowserContext");
    const { targetId } = await this.send("Target.createTarget", { url: "about:blank", browserContextId });
    const { sessionId } = await this.send("Target.attachToTarget", { targetId, flatten: true });
    await this.send("Page.enable", {}, String(sessionId));
    return new ChromiumPage(this, String(sessionId));
  }

  send(method: string, params: JsonObject = {}, sessionId?: string): Promise<JsonObject> {
    const id = (this.#last += 1);
    const text = JSON.stringify({ id, method, params, ...(sessionId !== undefined && { sessionId }) });
    (this.#child.stdio[3] as Writable).write(`${text}\0`);
    return within(
      method,
      new Promise((resolve, reject) => {
        this.#waiting.set(id, ({ result = {}, error }) => (error ? reject(new Error(error.message)) : resolve(result)));
      }),
    );
  }

  /** Resolves with the next event of this name in this session. */
  next(method: string, sessionId: string): Promise<unknown> {
    return within(
      method,
      new Promise<void>((resolve) => {
        const listener = (message: Message): void => {
          if (message.method !== method || message.sessionId !== sessionId) return;
          this.#listeners.delete(listener);
          resolve();
        };
        this.#listeners.add(listener);
      }),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = once(this.#child, "exit");
    this.#child.kill("SIGKILL");
    await ended;
    await rm(this.#folder, { recursive: true, force: true, maxRetries: 5 });
  }

  #take(message: Message): void {
    if (message.id === undefined) return this.#listeners.forEach((listener) => listener(message));
    this.#waiting.get(message.id)?.(message);
    this.#waiting.delete(message.id);
  }
}

export class ChromiumPage {
  readonly #chromium: Chromium;
  readonly #session: string;

  constructor(chromium: Chromium, session: string) {
    this.#chromium = chromium;
    this.#session = session;
  }

  /** Resolves once the page is loaded. */
  async open(address: string): Promise<void> {
    const loaded = this.#chromium.next("Page.loadEventFired", this.#session);
    await this.#chromium.send("Page.navigate", { url: address }, this.#session);
    await loaded;
  }

  /** Runs a script that navigates, and waits until the page is loaded. */
  async go(script: string): Promise<void> {
    const loaded = this.#chromium.next("Page.loadEventFired", this.#session);
    await this.look(script);
    await loaded;
  }

  /** Returns the value of an expression on the page. */
  async look(expression: string): Promise<unknown> {
    const asked = { expression, returnByValue: true };
    const { result } = await this.#chromium.send("Runtime.evaluate", asked, this.#session);
    return (result as JsonObject)["value"];
  }
}

function within<T>(what: string, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`Chromium took too long: ${what}`)), PATIENCE_MS);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
