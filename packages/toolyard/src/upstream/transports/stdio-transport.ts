import { stringifyExact } from "../../core/json/exact-json.ts";
import type { Writable } from "node:stream";
import { FailError } from "../../core/errors.ts";
import type { JsonObject } from "../../core/json/json.ts";
import { fail, type Fail } from "../../core/calls/outcome.ts";
import { atTurnEnd } from "../../core/timing/turn-end.ts";
import { within } from "../../core/timing/wait.ts";
import { spawnChild, type Child, type Exit } from "../../process/child.ts";
import { StderrTail } from "../../process/stderr-tail.ts";
import { partsText } from "../../wire/json-bounds.ts";
import { LineDecoder, type LineHandlers, type SkippedLine } from "../../wire/lines.ts";
import { classifyMessage, type RpcMessage } from "../../wire/messages.ts";
import { unsent } from "../connection/exchange.ts";
import { findMessage, findReplyId } from "./salvage.ts";
import type { CloseOptions, Transport, TransportHandlers } from "./transport.ts";
import { firstChars } from "../../core/text/truncate.ts";

export interface StdioTransportOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd?: string;
  /** The whole environment of the child. */
  readonly env: Readonly<Record<string, string>>;
  /** Maximum size of a line. A longer one is dropped, and the request that it answered fails as `too_large`. */
  readonly maxMessageBytes: number;
  /** Maximum number of keys, objects and lists in a line; a line with more is dropped in the same way. */
  readonly maxMessageParts: number;
  /** Maximum time for which the server may run after its input was closed. */
  readonly stopGraceMs: number;
  /**
   * Returns names of this process's variables that the child did not get. They are reported if the child's output
   * mentions one.
   */
  readonly withheld?: () => readonly string[];
  /** Present if the start may download packages, which must not be interrupted. */
  readonly supervisor?: StartSupervisor;
}

/** Supervises a child that has not written to stdout yet. */
export interface StartSupervisor {
  started(child: Child): void;
  /**
   * Takes over a child whose work must be finished. Returns false if there is no such work, so that the child may be
   * ended.
   */
  takeOver(child: Child): boolean;
}

/** Maximum number of bytes that may wait for a child that does not read its input. */
const MAX_QUEUED_BYTES = 64 * 1024 * 1024;
/** Value of `stopGraceMs` for a server that hangs or was never ready. */
const USELESS_GRACE_MS = 150;
/**
 * Value of `stopGraceMs` after the server sends a request although its input was closed. It has not detected the end,
 * and might wait long for the answer.
 */
const UNAWARE_GRACE_MS = 500;
/** Time between SIGTERM and SIGKILL. */
const KILL_GRACE_MS = 1500;
/** Maximum time for reading the remaining output of a dead child, whose own children may hold the pipe open. */
const DRAIN_MS = 250;
const MAX_SAMPLE_CHARS = 200;
/** Number of characters that are read at each end of a message that is not parsed. */
const EDGE_CHARS = 512;
/** Minimum length of a variable's name that is searched in output. Shorter names occur in any text. */
const MIN_NAME = 4;

/** Size of a line above the limit, and the name of the option that raises the limit. */
interface OverBound {
  readonly size: string;
  readonly option: string;
}

/**
 * Transport to a server that is a child process: one JSON message per line on stdin and stdout, any text on stderr.
 */
export class StdioTransport implements Transport, LineHandlers {
  readonly perRequestStreams = false;
  readonly mirrorsParams = false;
  readonly sessionful = true;
  readonly #options: StdioTransportOptions;
  #handlers: TransportHandlers | undefined;
  #child: Child | undefined;
  #closing: Promise<void> | undefined;
  #isOver = false;
  /** Resolves if the server has not detected that its input was closed. */
  readonly #unaware: Promise<void>;
  #cut = (): void => {};
  #isHeld = false;
  #hasSpoken = false;
  readonly #stderr: StderrTail = new StderrTail({
    maxLines: STDERR_LINES,
    onLine: (line) => this.#handlers?.onStderr?.(line),
  });

  constructor(options: StdioTransportOptions) {
    this.#options = options;
    this.#unaware = new Promise((resolve) => (this.#cut = resolve));
  }

  describe(): JsonObject {
    return { framing: "stdio", ...(this.#child && { pid: this.#child.pid }) };
  }

  async open(handlers: TransportHandlers, signal?: AbortSignal): Promise<void> {
    const { command, args, cwd, env } = this.#options;
    signal?.throwIfAborted();
    this.#handlers = handlers;
    const child = await spawnChild({ command, args, env, ...(cwd !== undefined && { cwd }) });
    this.#child = child;
    this.#options.supervisor?.started(child);
    // The transport was closed during the start, so the child is ended.
    if (this.#closing) return child.kill(0);
    this.#read(child);
    void this.#watch(child);
  }

  async send(message: RpcMessage): Promise<void> {
    const child = this.#child;
    if (!child || this.#isOver) throw new FailError(undelivered("The server process is not running."));
    const { stdin } = child;
    if (stdin.writableLength > MAX_QUEUED_BYTES) {
      throw new FailError(
        undelivered("The server does not read its input, and too much data is waiting for it. It may hang."),
      );
    }
    const line = `${stringifyExact(message)}\n`;
    this.#holdTurn(stdin);
    await new Promise<void>((resolve, reject) => {
      stdin.write(line, (error) => {
        if (error) void this.#undelivered(child, error, reject);
        else resolve();
      });
    });
  }

  setProtocolVersion(): void {}

  close({ isUseless = false }: CloseOptions = {}): Promise<void> {
    this.#isOver = true;
    this.#closing ??= this.#end(isUseless);
    return this.#closing;
  }

  /**
   * Rejects a message that could not be written. Waits for the exit of the child, because a child that closed its input
   * usually exits soon, and its exit is the better reason.
   */
  async #undelivered(child: Child, cause: Error, reject: (failure: FailError) => void): Promise<void> {
    const exit = child.exit ?? (await within(child.exited, DRAIN_MS));
    const failure = exit
      ? unsent(ended(exit, this.#missed()))
      : undelivered("The server closed its input before the request reached it.", cause);
    reject(new FailError(failure));
  }

  /** Collects the messages of one turn of the event loop, so that they are written together. */
  #holdTurn(stdin: Writable): void {
    if (this.#isHeld) return;
    this.#isHeld = true;
    stdin.cork();
    atTurnEnd(() => {
      this.#isHeld = false;
      stdin.uncork();
    });
  }

  async #end(isUseless: boolean): Promise<void> {
    const child = this.#child;
    if (!child) return;
    const { supervisor } = this.#options;
    if (!this.#hasSpoken && child.exit === undefined && supervisor?.takeOver(child) === true) return;
    const { stopGraceMs } = this.#options;
    await child.end(isUseless ? Math.min(stopGraceMs, USELESS_GRACE_MS) : stopGraceMs, KILL_GRACE_MS, this.#unaware);
    // Waits for the rest of the output, which may contain the reason of the exit.
    await within(child.closed, DRAIN_MS);
  }

  #read(child: Child): void {
    const lines = new LineDecoder(this.#options.maxMessageBytes, this);
    const stderr = this.#stderr;
    child.stdout.once("data", () => (this.#hasSpoken = true));
    child.stdout.on("data", lines.push);
    child.stdout.once("end", () => lines.flush());
    child.stderr.on("data", (chunk: Buffer) => stderr.push(chunk));
    child.stderr.once("end", () => stderr.flush());
  }

  /** Handles a line of the child's output. */
  onLine(line: string): void {
    const handlers = this.#handlers;
    if (this.#isOver || !handlers) return this.#onLateLine(line);
    if (line.trim() === "") return;
    const { maxMessageParts } = this.#options;
    const found = findMessage(line, maxMessageParts);
    if (found.message !== undefined && found.noise === undefined) return handlers.onMessage(found.message);
    if (found.isTooLarge) {
      const edges = { head: firstChars(line, EDGE_CHARS), tail: line.slice(-EDGE_CHARS) };
      return this.#onTooLarge(edges, {
        size: `it has more than the ${partsText(maxMessageParts)} that are allowed`,
        option: "max_message_parts",
      });
    }
    if (found.noise !== undefined) {
      const message = "The server wrote text on stdout that is not a message; logs belong on stderr.";
      handlers.onNoise?.({ kind: "not-json", message, sample: firstChars(found.noise, MAX_SAMPLE_CHARS) });
    }
    if (found.message !== undefined) return handlers.onMessage(found.message);
    const id = findReplyId(firstChars(line, EDGE_CHARS));
    if (id !== undefined)
      handlers.onLost?.(
        id,
        fail("malformed", "The server's answer is damaged: it is not JSON, or is nested too deep."),
      );
  }

  /** Handles the end of a line that is too long. */
  onSkipped(line: SkippedLine): void {
    const size = `${line.bytes} bytes where ${this.#options.maxMessageBytes} are allowed`;
    this.#onTooLarge(line, { size, option: "max_message_bytes" });
  }

  #onLateLine(line: string): void {
    const { message } = findMessage(line);
    if (message === undefined || classifyMessage(message).type !== "request") return;
    setTimeout(() => this.#cut(), UNAWARE_GRACE_MS);
  }

  #onTooLarge({ head, tail }: Pick<SkippedLine, "head" | "tail">, { size, option }: OverBound): void {
    this.#handlers?.onNoise?.({
      kind: "too-long",
      message: `The server sent a message over the limit: ${size}. It was dropped.`,
    });
    const id = findReplyId(head, tail);
    if (id === undefined) return;
    const message = `The server's answer is too large: ${size}. Ask for less, or raise \`${option}\` of this source.`;
    this.#handlers?.onLost?.(id, fail("too_large", message));
  }

  /** Returns names of variables that the child's last lines mention and that it did not get. */
  #missed(): readonly string[] {
    const words = new Set(this.#stderr.lines().join("\n").match(/\w+/g));
    return (this.#options.withheld?.() ?? []).filter((name) => name.length >= MIN_NAME && words.has(name)).slice(0, 8);
  }

  async #watch(child: Child): Promise<void> {
    const silent = new Promise<undefined>((resolve) => child.stdout.once("end", () => resolve(undefined)));
    const first = await Promise.race([child.exited, silent]);
    // Waits for the last answers, which may still be in the pipe, and for the exit, which usually follows the end of
    // the output.
    if (first) await Promise.race([silent, child.drained(DRAIN_MS)]);
    const exit = first ?? (await within(child.exited, DRAIN_MS));
    if (this.#isOver) return;
    this.#isOver = true;
    this.#handlers?.onClose(ended(exit, this.#missed()));
    if (!exit) this.#closing ??= this.#end(false);
  }
}

/** Number of a child's last lines in which names of variables are searched. */
const STDERR_LINES = 40;

function missedWords(names: readonly string[]): string {
  if (names.length === 0) return "";
  const all = names.map((name) => `\`${name}\``).join(", ");
  const isOne = names.length === 1;
  const [facts, it] = isOne ? ["is set here and was", "it"] : ["are set here and were", "them"];
  return ` Its stderr names ${all}, which ${facts} not passed on: give ${it} in \`env\` or \`inherit_env\`.`;
}

function ended(exit: Exit | undefined, missed: readonly string[]): Fail {
  const how =
    exit === undefined
      ? "closed its output"
      : exit.signal
        ? `was ended by ${exit.signal}`
        : `ended with exit code ${exit.code ?? "unknown"}`;
  const message =
    `The server process ${how}. It is started again when it is needed; ` +
    `its last lines on stderr are in the log and in the status.${missedWords(missed)}`;
  return fail("unavailable", message, {
    retryable: false,
    details: { ...(exit && { exitCode: exit.code, signal: exit.signal }), sent: true },
  });
}

function undelivered(message: string, cause?: unknown): Fail {
  return fail("unavailable", message, { details: { sent: false }, ...(cause !== undefined && { cause }) });
}
