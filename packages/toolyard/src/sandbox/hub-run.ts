import { parseExact } from "../core/json/exact-json.ts";
import { FairLine } from "../core/fairness/fair-line.ts";
import { isJsonObject } from "../core/json/json.ts";
import { whileLimited } from "../core/timing/retry-while-limited.ts";
import { jsonSize, MAX_JSON_DEPTH } from "../core/json/json-size.ts";
import type { FromChild, ToChild } from "./child-messages.ts";
import { readFiles } from "./child-messages.ts";
import type {
  HostReply,
  SandboxEnd,
  SandboxError,
  SandboxFile,
  SandboxHost,
  SandboxJob,
  SandboxOutcome,
  SandboxToolCall,
} from "./engine.ts";
import { hasMoreContainers } from "./json-containers.ts";
import { ownerOf } from "./owner.ts";
import { RunClock } from "./run-clock.ts";
import { tooLargeAnswer, tooLargeResult, tooLongArguments, tooManyCalls } from "./bound-messages.ts";
import type { WorkerDone } from "./worker-messages.ts";
import { firstChars } from "../core/text/truncate.ts";

/** Time after the child's own time limits at which the hub stops waiting for it. */
const HUB_GRACE_MS = 2000;
/** Maximum time from sending a job to the start of its code, enough to compile an interpreter on a busy machine. */
const START_TIMEOUT_MS = 60_000;
const MAX_WORDS = 16_384;
const MAX_NAME_CHARS = 512;
/** Maximum length of a failed call's message in the outcome of the run. */
const MAX_FAILURE_CHARS = 300;
/** Maximum number of objects and arrays in the arguments of one call. */
const MAX_CONTAINERS = 200_000;

export interface HubRunOptions {
  readonly id: number;
  readonly job: SandboxJob;
  readonly host: SandboxHost;
  /** Returns the processor time of the child in milliseconds; NaN if the system does not report it. */
  readonly computedMs?: () => number;
  send(message: ToChild): void;
  /**
   * Called when the child sent an invalid message about the run. The child must then be ended, because the code may
   * control it.
   */
  distrust(): void;
}

interface OpenCall {
  readonly name: string;
  readonly startedAt: number;
  ms?: number;
  ok: boolean;
  failure?: { readonly kind: string; readonly message: string };
}

/**
 * The hub's side of one run. It does not trust the child: it enforces every limit again, and a violation ends the run.
 * `isStarted` is true when code of the run may have had an effect.
 */
export class HubRun {
  readonly outcome: Promise<SandboxOutcome>;
  isStarted = false;
  isOver = false;
  readonly #options: HubRunOptions;
  readonly #begunAt = performance.now();
  readonly #ending = new AbortController();
  readonly #slots: FairLine;
  readonly #calls: OpenCall[] = [];
  readonly #output = { stdout: "", stderr: "", leftBytes: 0, isTruncated: false };
  readonly #startTimer: NodeJS.Timeout;
  #clock: RunClock | undefined;
  #startedAt: number | undefined;
  #session: "new" | "kept" | undefined;
  #resolve!: (outcome: SandboxOutcome) => void;

  constructor(options: HubRunOptions) {
    this.#options = options;
    const { limits } = options.job;
    this.#output.leftBytes = limits.outputBytes;
    this.#slots = new FairLine({ places: limits.concurrentToolCalls, waiting: limits.toolCalls });
    this.outcome = new Promise((resolve) => (this.#resolve = resolve));
    this.#startTimer = setTimeout(
      () => this.fail("crashed", "The interpreter did not start in time."),
      START_TIMEOUT_MS,
    );
  }

  /** Handles a message about this run. Its shape is already validated. */
  take(message: Exclude<FromChild, { readonly type: "sessions" }>, body: Uint8Array): void {
    if (this.isOver) return;
    switch (message.type) {
      case "started":
        return this.#start(message.session);
      case "output":
        return this.#print(message.stream, message.text);
      case "waiting":
        return this.#clock?.waits(message.waits);
      case "call":
        return void this.#ask(message.id, { name: message.path, argumentsJson: message.json }, (signal) =>
          this.#options.host.call(message.path, message.json, signal),
        );
      case "search":
        return void this.#ask(message.id, { name: "search", argumentsJson: "{}" }, (signal) =>
          this.#options.host.search(message.query, message.limit, signal),
        );
      case "done":
        return this.#done(message.done, readFiles(message.files, body));
    }
  }

  /** Ends the run on this side; the caller makes the child end it too. */
  fail(end: SandboxEnd, message: string, type: string = TYPES[end] ?? "Error"): void {
    this.#end({ end, error: { type, message, traceback: "" } });
  }

  #nonsense(message: string): void {
    this.fail("crashed", message);
    this.#options.distrust();
  }

  #start(session: "new" | "kept" | undefined): void {
    if (this.isStarted) return;
    clearTimeout(this.#startTimer);
    this.isStarted = true;
    this.#session = session;
    this.#startedAt = performance.now();
    const { job, computedMs = () => NaN } = this.#options;
    this.#clock = new RunClock({ named: job.limits, graceMs: HUB_GRACE_MS, computedMs }, (message) =>
      this.fail("timeout", message),
    );
  }

  #print(stream: "stdout" | "stderr", text: string): void {
    const bytes = Buffer.byteLength(text);
    if (bytes > this.#output.leftBytes) {
      this.#output.isTruncated = true;
      return;
    }
    this.#output.leftBytes -= bytes;
    this.#output[stream] += text;
    this.#options.host.print?.(stream, text);
  }

  async #ask(
    id: number,
    { name, argumentsJson }: { readonly name: string; readonly argumentsJson: string },
    ask: (signal: AbortSignal) => Promise<HostReply>,
  ): Promise<void> {
    const { limits, profile } = this.#options.job;
    if (profile !== "scripting") return this.#nonsense("The code called a tool, but there are no tools here.");
    if (this.#calls.length >= limits.toolCalls) return this.fail("limit", tooManyCalls(limits.toolCalls));
    const call: OpenCall = { name: firstChars(name, MAX_NAME_CHARS), startedAt: performance.now(), ok: false };
    this.#calls.push(call);
    const reply = checkName(name) ?? checkArguments(argumentsJson, limits.toolBytes) ?? (await this.#perform(ask));
    if (this.isOver) return;
    const fitting = fit(reply, limits.toolBytes);
    call.ms = performance.now() - call.startedAt;
    call.ok = fitting.ok;
    if (!fitting.ok) call.failure = { kind: fitting.kind, message: firstChars(fitting.message, MAX_FAILURE_CHARS) };
    const json = fitting.ok
      ? fitting.json
      : JSON.stringify({ kind: fitting.kind, message: fitting.message, retryable: fitting.retryable });
    this.#options.send({ type: "reply", run: this.#options.id, id, ok: fitting.ok, json });
  }

  async #perform(ask: (signal: AbortSignal) => Promise<HostReply>): Promise<HostReply> {
    const { signal } = this.#ending;
    const { job } = this.#options;
    const owner = ownerOf(job);
    if (!(await this.#slots.enter(owner, { cancellation: signal, waitMs: job.limits.wallMs }))) return FAILED;
    try {
      return await whileLimited(() => ask(signal), { cancellation: signal, remainingMs: () => this.#remainingMs() });
    } catch {
      return FAILED;
    } finally {
      this.#slots.leave(owner);
    }
  }

  #remainingMs(): number {
    return (this.#startedAt ?? this.#begunAt) + this.#options.job.limits.wallMs - performance.now();
  }

  #done(done: Omit<WorkerDone, "artifacts">, files: SandboxFile[] | undefined): void {
    const { limits } = this.#options.job;
    if (
      !files ||
      files.length > limits.files ||
      files.reduce((sum, { bytes }) => sum + bytes.byteLength, 0) > limits.fileBytes
    ) {
      return this.#nonsense("The interpreter returned files that it may not have.");
    }
    const refusal = done.resultJson === undefined ? undefined : checkResult(done.resultJson, limits.resultBytes);
    if (refusal) return this.fail(...refusal);
    this.#output.isTruncated ||= done.truncated;
    this.#end(
      {
        end: done.end,
        ...(done.resultJson === undefined ? {} : { resultJson: done.resultJson }),
        ...(done.error ? { error: shorten(done.error) } : {}),
      },
      files,
    );
  }

  #end(ended: Pick<SandboxOutcome, "end" | "resultJson" | "error">, artifacts: readonly SandboxFile[] = []): void {
    if (this.isOver) return;
    this.isOver = true;
    clearTimeout(this.#startTimer);
    this.#clock?.stop();
    const now = performance.now();
    const isSessionOver =
      this.#options.job.session !== undefined && this.isStarted && ended.end !== "finished" && ended.end !== "error";
    this.#resolve({
      ...ended,
      stdout: this.#output.stdout,
      stderr: this.#output.stderr,
      toolCalls: this.#calls.map((call) => toRecord(call, now)),
      artifacts,
      truncated: this.#output.isTruncated,
      durationMs: Math.round(now - (this.#startedAt ?? this.#begunAt)),
      ...(this.#session === undefined ? {} : { session: this.#session }),
      ...(isSessionOver ? { sessionEnded: true } : {}),
    });
    this.#ending.abort();
  }
}

const FAILED: HostReply = { ok: false, kind: "internal", message: "The call failed.", retryable: false };

/** Error types of runs that did not end with an error of the code. */
const TYPES: Readonly<Partial<Record<SandboxEnd, string>>> = {
  timeout: "Timeout",
  memory: "MemoryError",
  limit: "LimitError",
  cancelled: "Cancelled",
  crashed: "Crashed",
  busy: "Busy",
};

function checkName(name: string): HostReply | undefined {
  if (name.length <= MAX_NAME_CHARS) return undefined;
  return {
    ok: false,
    kind: "invalid_params",
    message: `The name of a tool has at most ${MAX_NAME_CHARS} characters; this one has ${name.length}.`,
    retryable: false,
  };
}

function checkArguments(json: string, maxBytes: number): HostReply | undefined {
  const refuse = (kind: string, message: string): HostReply => ({ ok: false, kind, message, retryable: false });
  const bytes = Buffer.byteLength(json);
  if (bytes > maxBytes) return refuse("too_large", tooLongArguments(maxBytes, bytes));
  if (hasMoreContainers(json, MAX_CONTAINERS))
    return refuse(
      "too_large",
      `The arguments of a tool call may hold ${MAX_CONTAINERS} objects and arrays; these hold more.`,
    );
  const value = parse(json);
  if (!isJsonObject(value)) return refuse("invalid_params", "The arguments of a tool call must be one object.");
  return jsonSize(value) === Infinity
    ? refuse("invalid_params", `The arguments are nested deeper than ${MAX_JSON_DEPTH} levels.`)
    : undefined;
}

function fit(reply: HostReply, maxBytes: number): HostReply {
  if (!reply.ok || Buffer.byteLength(reply.json) <= maxBytes) return reply;
  const message = tooLargeAnswer(maxBytes, Buffer.byteLength(reply.json));
  return { ok: false, kind: "too_large", message, retryable: false };
}

function checkResult(json: string, maxBytes: number): [SandboxEnd, string] | undefined {
  const bytes = Buffer.byteLength(json);
  if (bytes > maxBytes) return ["limit", tooLargeResult(maxBytes, bytes)];
  const value = parse(json);
  // The text is checked, because code may replace the functions that serialise JSON.
  if (value === undefined) return ["error", "The result is not JSON: the code changed how its values are written out."];
  return jsonSize(value) === Infinity
    ? ["limit", `The result is nested deeper than ${MAX_JSON_DEPTH} levels.`]
    : undefined;
}

function parse(json: string): unknown {
  try {
    return parseExact(json) as unknown;
  } catch {
    return undefined;
  }
}

function shorten({ type, message, traceback }: SandboxError): SandboxError {
  return {
    type: firstChars(type, MAX_NAME_CHARS),
    message: firstChars(message, MAX_WORDS),
    traceback: firstChars(traceback, MAX_WORDS),
  };
}

function toRecord({ name, startedAt, ms, ok, failure }: OpenCall, now: number): SandboxToolCall {
  return { name, ms: Math.round((ms ?? now - startedAt) * 10) / 10, ok, ...(failure && { failure }) };
}
