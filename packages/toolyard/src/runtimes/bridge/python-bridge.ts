import { parseExact, stringifyExact } from "../../core/json/exact-json.ts";
import { fileURLToPath } from "node:url";
import { formatBytes } from "../../core/text/bytes.ts";
import { cancelledFailure } from "../../core/calls/deadline.ts";
import { FailError } from "../../core/errors.ts";
import { isJsonObject, type JsonObject } from "../../core/json/json.ts";
import type { Models } from "../../core/ports/models.ts";
import { fail } from "../../core/calls/outcome.ts";
import type { Logger } from "../../core/ports/ports.ts";
import { within } from "../../core/timing/wait.ts";
import { spawnChild, type Child } from "../../process/child.ts";
import { StderrTail } from "../../process/stderr-tail.ts";
import { LineDecoder } from "../../wire/lines.ts";
import type { WriteLine } from "../calling/hub-requests.ts";
import { lineWriter } from "../calling/line-writer.ts";
import { suffixCommandLine } from "../scripts/command-line.ts";
import { scriptEnvironment } from "../scripts/run-script.ts";
import { BridgeCall, type BridgeCaller } from "./bridge-call.ts";

/** Maximum size of the answer to one call, in bytes. */
const MAX_ANSWER_BYTES = 32 * 1024 * 1024;
const MAX_LOG_LINE_BYTES = 64 * 1024;
/** Time in milliseconds for a closing module's own cleanup. */
const CLOSE_MS = 1000;
const KILL_GRACE_MS = 300;
/** Maximum time in milliseconds for which children of an ended process may hold its pipes. */
const DRAIN_MS = 250;
/**
 * Maximum time in milliseconds for a cancelled call to end. After it, the process is replaced, since a Python thread
 * cannot be ended from outside.
 */
const STUCK_MS = 1000;

export interface BridgeOptions {
  readonly file: string;
  /** The configured folder that contains the module's file. */
  readonly root: string;
  readonly logger: Logger;
  /** Environment variables of the child, in addition to those that every child gets. */
  readonly env: Readonly<Record<string, string>>;
  readonly inheritEnv: readonly string[];
  readonly models: Models;
  readonly events: BridgeEvents;
}

export interface BridgeEvents {
  /** Handles a registration of the module, during its start or later. */
  registered(kind: "tool" | "resource", params: JsonObject): void;
  /** Receives the list of the module's own files that the Python process has loaded. */
  files(files: readonly string[]): void;
  /** Called when the process accepts no further call, because it has exited or a cancelled call still occupies it. */
  unfit(): void;
}

/** Thrown if the module could not be loaded; `stack` is Python's traceback. */
export class PythonLoadError extends Error {
  override readonly name = "PythonLoadError";

  constructor(message: string, traceback: unknown) {
    super(message);
    if (typeof traceback === "string") this.stack = traceback;
  }
}

/** Python process that has loaded one module and runs its functions. */
export class PythonBridge {
  readonly #child: Child;
  readonly #options: BridgeOptions;
  readonly #write: WriteLine;
  readonly #calls = new Map<number, BridgeCall>();
  readonly #stderr: StderrTail;
  readonly #started: Promise<boolean>;
  #settle: { resolve: (registers: boolean) => void; reject: (error: unknown) => void } | undefined;
  #last = 0;
  #isUnfit = false;
  #closing: Promise<void> | undefined;

  /** Starts a process. Rejects with a `FailError` if there is no Python, or it cannot be started. */
  static async spawn(options: BridgeOptions): Promise<PythonBridge> {
    const env = scriptEnvironment(
      { own: options.env, inherit: options.inheritEnv },
      { libraries: [], ports: options },
      {},
    );
    const { command, args } = await suffixCommandLine(".py", { env });
    const child = await spawnChild({
      command,
      args: [...args, BRIDGE, options.file, options.root],
      env,
      extraPipes: 2,
    });
    return new PythonBridge(child, options);
  }

  private constructor(child: Child, options: BridgeOptions) {
    this.#child = child;
    this.#options = options;
    this.#write = lineWriter(child.pipes[1]!);
    this.#stderr = new StderrTail({ onLine: (line) => options.logger.warning(line) });
    this.#started = new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
    });
    this.#started.catch(() => {});
    this.#listen();
    child.stdin.end();
  }

  get pid(): number {
    return this.#child.pid;
  }

  /** Resolves when the process and its children have exited. */
  get gone(): Promise<void> {
    return this.#child.gone;
  }

  /** Resolves when the module was loaded: with true if it has a function `register_tools`. */
  get started(): Promise<boolean> {
    return this.#started;
  }

  /**
   * Runs a registered function. Rejects with a `FailError`, or with an `Error` that has the message of the exception.
   */
  async run(method: "tool" | "resource", params: JsonObject, caller: BridgeCaller): Promise<unknown> {
    if (caller.signal.aborted) throw cancelledFailure(caller.signal.reason);
    this.#last += 1;
    const id = this.#last;
    const call = new BridgeCall(caller, this.#write);
    this.#calls.set(id, call);
    const onAbort = (): void => this.#giveUp(id, call);
    caller.signal.addEventListener("abort", onAbort, { once: true });
    try {
      void this.#write(`${stringifyExact({ id, method, params })}\n`);
      return await call.answered;
    } finally {
      caller.signal.removeEventListener("abort", onAbort);
      call.close();
    }
  }

  /** Ends the process after its running calls have ended. */
  retire(): void {
    this.#isUnfit = true;
    if (this.#openCalls() === 0) void this.close();
  }

  /** Ends the process: runs its own cleanup first, then kills it. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#isUnfit = true;
    this.#child.pipes[1]!.end();
    await within(this.#child.exited, CLOSE_MS, { keepsAlive: false });
    await this.#child.kill(KILL_GRACE_MS);
    for (const stream of [this.#child.stdout, this.#child.stderr, ...this.#child.pipes]) stream.destroy();
  }

  #listen(): void {
    const { child, logger } = { child: this.#child, logger: this.#options.logger };
    const prints = new LineDecoder(MAX_LOG_LINE_BYTES, {
      onLine: (line) => logger.info(line),
      onTooLong: (bytes) => logger.info(`(a line over ${formatBytes(bytes)} was left out)`),
    });
    const messages = new LineDecoder(MAX_ANSWER_BYTES, {
      onLine: (line) => this.#take(line),
      onSkipped: ({ head }) => this.#tooLarge(head),
    });
    child.stdout.on("data", (chunk: Buffer) => prints.push(chunk));
    child.stderr.on("data", (chunk: Buffer) => this.#stderr.push(chunk));
    child.pipes[0]!.on("data", (chunk: Buffer) => messages.push(chunk));
    child.pipes[1]!.resume();
    const flush = (): void => [messages, prints, this.#stderr].forEach((one) => one.flush());
    void child.closed.then(flush);
    // When the process exits, its last answer may still be in the pipe.
    void child.drained(DRAIN_MS).then(() => {
      flush();
      const { code, signal } = child.exit!;
      return this.#gone(code === null ? `was ended by ${signal ?? "a signal"}` : `ended with exit code ${code}`);
    });
  }

  #take(line: string): void {
    const message = parseObject(line);
    if (!message) return;
    const { id, method, params } = message;
    const call = this.#callOf(message["call"] ?? (isJsonObject(params) ? params["call"] : undefined));
    if (typeof method === "string" && id !== undefined) return void (call ? call.request(message) : this.#refuse(id));
    if (typeof method === "string") return this.#notification(method, isJsonObject(params) ? params : {});
    if (typeof id === "number") return this.#answer(id, message);
    if (call) call.hear(message);
    else if (typeof message["log"] === "string") this.#options.logger.info(message["log"]);
  }

  #notification(method: string, params: JsonObject): void {
    const { events } = this.#options;
    if (method === "register_tool") events.registered("tool", params);
    else if (method === "register_resource") events.registered("resource", params);
    else if (method === "files" && Array.isArray(params["files"]))
      events.files(params["files"].filter((file) => typeof file === "string"));
    else if (method === "ready") this.#settle?.resolve(params["registers"] === true);
    else if (method === "failed")
      this.#settle?.reject(
        new PythonLoadError(`${String(params["type"])}: ${String(params["message"])}`, params["traceback"]),
      );
  }

  #answer(id: number, message: JsonObject): void {
    const call = this.#calls.get(id);
    this.#calls.delete(id);
    call?.answer(message);
    this.#endWhenIdle();
  }

  #tooLarge(head: string): void {
    const id = Number(/^\{"id":(\d+),/.exec(head)?.[1]);
    const message = `The answer is larger than ${formatBytes(MAX_ANSWER_BYTES)}. Ask for less.`;
    this.#calls.get(id)?.fail(new FailError(fail("too_large", message, { details: { maxBytes: MAX_ANSWER_BYTES } })));
    this.#calls.delete(id);
  }

  /** Handles a call whose caller has disconnected. If the function does not end soon, the process is replaced. */
  #giveUp(id: number, call: BridgeCall): void {
    call.fail(cancelledFailure(call.signal.reason));
    if (!this.#calls.has(id)) return;
    void this.#write(`${stringifyExact({ method: "cancel", params: { id } })}\n`);
    setTimeout(() => {
      if (!this.#calls.has(id)) return;
      call.isLost = true;
      this.#becomeUnfit();
      this.#endWhenIdle();
    }, STUCK_MS).unref();
  }

  #gone(how: string): void {
    const tail = this.#stderr.lines().slice(-MAX_REASON_LINES).join("\n");
    const failure = new FailError(
      fail(
        "unavailable",
        `The module's Python process ${how}. The next call starts it again.${tail === "" ? "" : `\n${tail}`}`,
      ),
    );
    this.#settle?.reject(failure);
    for (const call of this.#calls.values()) call.fail(failure);
    this.#calls.clear();
    this.#becomeUnfit();
  }

  #becomeUnfit(): void {
    if (this.#isUnfit) return;
    this.#isUnfit = true;
    this.#options.events.unfit();
  }

  #endWhenIdle(): void {
    if (this.#isUnfit && this.#openCalls() === 0) void this.close();
  }

  #openCalls(): number {
    return Array.from(this.#calls.values()).filter((call) => !call.isLost).length;
  }

  #callOf(id: unknown): BridgeCall | undefined {
    return typeof id === "number" ? this.#calls.get(id) : undefined;
  }

  #refuse(id: unknown): void {
    const message =
      "No running call belongs to this request. Make requests inside a tool's or a resource's function, " +
      "in the thread that runs it.";
    void this.#write(
      `${stringifyExact({ jsonrpc: "2.0", id, error: { code: -32000, message, data: { kind: "denied" } } })}\n`,
    );
  }
}

const MAX_REASON_LINES = 10;
const BRIDGE = fileURLToPath(new URL("../calling/python/bridge.py", import.meta.url));

function parseObject(line: string): JsonObject | undefined {
  try {
    const value: unknown = parseExact(line);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
