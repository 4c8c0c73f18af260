import { parseExact, stringifyExact } from "../../core/json/exact-json.ts";
import type { Readable } from "node:stream";
import { FailError } from "../../core/errors.ts";
import { isJsonObject, type JsonObject } from "../../core/json/json.ts";
import type { Child, Exit } from "../../process/child.ts";
import { StderrTail } from "../../process/stderr-tail.ts";
import { LineDecoder } from "../../wire/lines.ts";
import { lineWriter } from "../calling/line-writer.ts";
import { ChildExit, KILL_GRACE_MS } from "../scripts/ending.ts";
import { PIPE_GRACE_MS, tooLarge } from "../scripts/run-child.ts";
import type { ChildChannel } from "../scripts/child-messages.ts";
import { cpuFailure } from "../scripts/exit-status.ts";
import type { CodeStamp } from "./code-stamp.ts";
import { watchCpu } from "./cpu-watch.ts";

/** Data of one call that an interpreter runs. */
export interface WarmCall {
  readonly args: JsonObject;
  /** Trace context of the call, as environment variables. */
  readonly variables: Readonly<Record<string, string>>;
  /** Receives the messages of the helpers. */
  readonly channel: ChildChannel;
  /** Receives the tool's printed output line by line; absent: stdout is collected. */
  readonly onStdout?: (line: string) => void;
  readonly onStderr: (line: string) => void;
  /** Maximum output of the interpreter during the call. */
  readonly maxOutputBytes: number;
  readonly cpuMs: number | undefined;
  /** Signals that each end the call, together with the interpreter. */
  readonly signals: readonly AbortSignal[];
}

export interface WarmEnd {
  /** The last message: a `result`, an `error`, or neither. Absent if the interpreter exited before. */
  readonly message?: JsonObject;
  readonly exit?: Exit;
  /** False if the call never reached the tool's code. It may then be repeated. */
  readonly hasBegun: boolean;
  readonly stdout: Buffer;
  readonly stderr: StderrTail;
}

/** Maximum length of a line of the channel. One line may contain the whole output, encoded as base64. */
const MAX_LINE_BYTES = 512 * 1024 * 1024;
const MAX_PRINT_LINE_BYTES = 64 * 1024;
const RAW_FACTOR = 1.5;
const RAW_SLACK_BYTES = 64 * 1024;

/** Interpreter that stays running between calls and serves one call at a time. */
export class WarmProcess {
  readonly child: Child;
  readonly stamp: CodeStamp;
  calls = 0;
  usedAt = performance.now();
  readonly #write: (line: string) => Promise<void>;
  #hearing: WarmCallOutput | undefined;

  constructor(child: Child, stamp: CodeStamp, onStray: (line: string) => void) {
    this.child = child;
    this.stamp = stamp;
    this.#write = lineWriter(child.pipes[1]!);
    const messages = new LineDecoder(MAX_LINE_BYTES, {
      onLine: (line) => (this.#hearing ? this.#hearing.take(line) : onStray(line)),
    });
    // Output of the tool's own children becomes log lines of the running call, because its order relative to the tool's
    // messages is unknown.
    const prints = new LineDecoder(MAX_PRINT_LINE_BYTES, {
      onLine: (line) => (this.#hearing ? this.#hearing.log(line) : onStray(line)),
    });
    this.#read(child.pipes[0]!, messages);
    this.#read(child.stdout, prints);
    this.#read(child.stderr, prints);
    this.#read(child.pipes[1]!, undefined);
    child.stdin.end();
  }

  get isAlive(): boolean {
    return this.child.exit === undefined;
  }

  /**
   * Runs one call. Rejects with a `FailError` if a signal or a limit ends the call; the interpreter has then ended.
   */
  async run(call: WarmCall): Promise<WarmEnd> {
    this.calls += 1;
    const ending = new ChildExit(this.child, call.signals);
    const hearing = new WarmCallOutput(call, this.calls, (failure) => ending.stop(failure, 0));
    this.#hearing = hearing;
    const unwatch = watchCpu(this.child.pid, call.cpuMs, () => ending.stop(new FailError(cpuFailure(call.cpuMs!)), 0));
    try {
      call.channel.onChannel(this.#write);
      void this.#write(`${stringifyExact({ run: this.calls, arguments: call.args, variables: call.variables })}\n`);
      const message = await ending.race(Promise.race([hearing.ended, this.child.exited]));
      if (isJsonObject(message) && "end" in message) return hearing.toEnd({ message });
      // The pipe is read to its end, because it may still contain the interpreter's last messages.
      await ending.race(this.child.drained(PIPE_GRACE_MS));
      return hearing.toEnd(hearing.message ? { message: hearing.message } : { exit: this.child.exit! });
    } finally {
      unwatch();
      ending.release();
      this.#hearing = undefined;
      this.usedAt = performance.now();
    }
  }

  async close(): Promise<void> {
    for (const stream of [this.child.stdout, this.child.stderr, ...this.child.pipes]) stream.destroy();
    await this.child.kill(KILL_GRACE_MS);
  }

  #read(stream: Readable, lines: LineDecoder | undefined): void {
    stream.on("data", (chunk: Buffer) => {
      if (this.#hearing && !this.#hearing.countRaw(chunk.length)) return;
      lines?.push(chunk);
    });
    stream.on("end", () => lines?.flush());
  }
}

/** The output of one call. */
class WarmCallOutput {
  readonly ended: Promise<JsonObject>;
  message: JsonObject | undefined;
  readonly #call: WarmCall;
  readonly #number: number;
  readonly #stop: (failure: FailError) => void;
  readonly #stderr: StderrTail;
  readonly #prints: LineDecoder;
  readonly #kept: Buffer[] = [];
  #end: (message: JsonObject) => void = () => {};
  #seen = 0;
  #raw = 0;
  #hasBegun = false;

  constructor(call: WarmCall, number: number, stop: (failure: FailError) => void) {
    this.#call = call;
    this.#number = number;
    this.#stop = stop;
    this.#stderr = new StderrTail({ onLine: call.onStderr });
    this.#prints = new LineDecoder(MAX_PRINT_LINE_BYTES, {
      onLine: (line) => call.onStdout?.(line),
      onTooLong: () => call.onStdout?.("(a long line was left out)"),
    });
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  /**
   * Returns false if the raw bytes far exceed the limit. The exact count is made per line, because JSON encoding makes
   * printed output longer.
   */
  countRaw(bytes: number): boolean {
    this.#raw += bytes;
    if (this.#raw <= this.#call.maxOutputBytes * RAW_FACTOR + RAW_SLACK_BYTES) return true;
    this.#stop(tooLarge(this.#call.maxOutputBytes));
    return false;
  }

  #count(bytes: number): boolean {
    this.#seen += bytes;
    if (this.#seen <= this.#call.maxOutputBytes) return true;
    this.#stop(tooLarge(this.#call.maxOutputBytes));
    return false;
  }

  log(line: string): void {
    if (!this.#count(line.length)) return;
    this.#stderr.push(Buffer.from(`${line}\n`));
  }

  take(line: string): void {
    const own = ownMessage(line);
    const bytes = own && printedBytes(own);
    if (!this.#count(bytes?.length ?? line.length)) return;
    if (!own) this.#call.channel.onMessageLine(line);
    else if (!bytes) this.#mark(own);
    else if (own["out"] === undefined) this.#stderr.push(bytes);
    else this.#print(bytes);
  }

  /** Handles the message for the start or the end of a call. */
  #mark(own: JsonObject): void {
    if (own["begin"] === this.#number) this.#hasBegun = true;
    if (own["end"] !== this.#number) return;
    this.message = own;
    this.#end(own);
  }

  toEnd(how: Pick<WarmEnd, "message" | "exit">): WarmEnd {
    this.#stderr.flush();
    this.#prints.flush();
    return { ...how, hasBegun: this.#hasBegun, stdout: Buffer.concat(this.#kept), stderr: this.#stderr };
  }

  #print(bytes: Buffer): void {
    if (this.#call.onStdout) this.#prints.push(bytes);
    else this.#kept.push(bytes);
  }
}

/** Parses a message of the interpreter itself, which has a prefix. All others are from the helpers or the tool. */
function ownMessage(line: string): JsonObject | undefined {
  return /^\{"(?:begin|out|err|end)":/.test(line) ? parse(line) : undefined;
}

function printedBytes({ out, err }: JsonObject): Buffer | undefined {
  const print = out ?? err;
  return typeof print === "string" ? Buffer.from(print, "base64") : undefined;
}

function parse(line: string): JsonObject | undefined {
  try {
    const value: unknown = parseExact(line);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
