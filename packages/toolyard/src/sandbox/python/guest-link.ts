import { stringifyExact } from "../../core/json/exact-json.ts";
import { isJsonObject, type JsonObject } from "../../core/json/json.ts";
import type { SandboxEnd, SandboxJob, SandboxLimits } from "../engine.ts";
import type { ToWorker } from "../worker-messages.ts";
import type { Device } from "./descriptors.ts";
import { tooLargeAnswer, tooManyCalls } from "../bound-messages.ts";
import { GuestError, GuestExit, GuestParked } from "./errno.ts";
import { wallMessage } from "../run-clock.ts";
import { timeZoneFile } from "./time-zone.ts";
import type { GuestOutput } from "./guest-output.ts";
import type { HostLink } from "./host-link.ts";
import { toDone } from "./guest-done.ts";
import type { PythonJobFiles } from "./job-files.ts";

const MAX_PATH_CHARACTERS = 512;
const MAX_QUERY_CHARACTERS = 4096;
const MAX_SEARCH_LIMIT = 100;
const FRAME_SLACK_BYTES = 65_536;
/** Maximum number of answers that the guest has not read. The allowed number of open calls never produces as many. */
const MAX_ANSWERS = 32_768;

type GuestCallReply = Extract<ToWorker, { type: "reply" }>;
type LinkOperation = (frame: JsonObject) => void;
type GuestRequest = { readonly id: number; readonly send: () => void };

export interface GuestParts {
  readonly host: HostLink;
  readonly output: GuestOutput;
  readonly files: PythonJobFiles;
  /** True if this guest must leave its call stack after its boot, so that a snapshot is stored. */
  readonly isMaker: boolean;
}

/**
 * The file `/.rpc` of the guest: each write is one JSON request; reads return answers, each preceded by its length (32
 * bits, little endian). The guest's writes are untrusted: every field is validated and every limit enforced.
 */
export class GuestLink implements Device {
  readonly #parts: GuestParts;
  #job: SandboxJob | undefined;
  #answers: Buffer[] = [];
  #calls = 0;
  readonly #running = new Set<number>();
  #queue: GuestRequest[] = [];
  #jobs = 0;
  #session = false;
  #isParking = false;
  #endsAt = Infinity;
  readonly #operations: ReadonlyMap<unknown, LinkOperation> = new Map<unknown, LinkOperation>([
    ["boot", () => this.#answer(this.#parts.isMaker ? "make" : "plain", "")],
    ["zone", (frame) => this.#zone(frame)],
    ["park", () => void (this.#isParking = this.#jobs === 0 && this.#parts.isMaker)],
    ["next", () => this.#next()],
    ["call", (frame) => this.#call(frame)],
    ["search", (frame) => this.#search(frame)],
    ["wait", (frame) => this.#wait(frame)],
    ["done", (frame) => this.#done(frame)],
  ]);

  constructor(parts: GuestParts) {
    this.#parts = parts;
  }

  /** The running job. */
  get job(): SandboxJob | undefined {
    return this.#job;
  }

  /** Throws `GuestParked` in the call in which the guest is to be parked. */
  park(): void {
    if (!this.#isParking) return;
    this.#isParking = false;
    throw new GuestParked();
  }

  write(bytes: Uint8Array): void {
    const limits = this.#job?.limits;
    if (limits !== undefined && bytes.length > 2 * Math.max(limits.toolBytes, limits.resultBytes) + FRAME_SLACK_BYTES)
      throw new GuestError("fbig");
    const frame = parseFrame(bytes);
    const operation = this.#operations.get(frame["op"]);
    if (!operation) throw new GuestError("inval");
    operation(frame);
  }

  read(into: Uint8Array): number {
    const first = this.#answers[0];
    if (first === undefined) return 0;
    const piece = first.subarray(0, into.length);
    into.set(piece);
    if (piece.length === first.length) this.#answers.shift();
    else this.#answers[0] = first.subarray(piece.length);
    return piece.length;
  }

  /** Waits for the next job when the guest is ready, or exits if there can be none. */
  #next(): void {
    if (this.#job !== undefined) throw new GuestError("perm");
    if (this.#jobs > 0 && !this.#session) throw new GuestExit(0);
    this.#parts.host.send({ type: "ready" });
    let message = this.#parts.host.receive();
    while (message?.type !== "job") message = this.#parts.host.receive();
    this.#begin(message.job);
  }

  #begin(job: SandboxJob): void {
    this.#job = job;
    this.#session = job.session !== undefined;
    this.#jobs += 1;
    this.#calls = 0;
    this.#endsAt = performance.now() + job.limits.wallMs;
    this.#running.clear();
    this.#queue = [];
    this.#parts.output.begin(job.limits.outputBytes);
    this.#takeFiles(job);
    const { code, inputs, profile, limits } = job;
    this.#answer("job", stringifyExact({ code, inputs, profile, resultBytes: limits.resultBytes }));
  }

  #takeFiles(job: SandboxJob): void {
    try {
      this.#parts.files.begin(job);
    } catch {
      this.fail(
        "limit",
        "FilesTooLarge",
        `The files do not fit: ${job.limits.files} (\`sandbox.files\`) of together ${job.limits.fileBytes} bytes ` +
          "(`sandbox.file_bytes`) do. " +
          "Pass fewer or smaller ones.",
      );
      throw new GuestExit(0);
    }
  }

  #call(frame: JsonObject): void {
    const { limits } = this.#scripting();
    const { id, path, json } = frame;
    if (!isId(id) || typeof path !== "string" || typeof json !== "string" || path.length > MAX_PATH_CHARACTERS)
      throw new GuestError("inval");
    if (Buffer.byteLength(json) > limits.toolBytes) {
      return this.#refuse(
        id,
        "too_large",
        `The arguments of \`${path}\` are larger than ${limits.toolBytes} bytes (\`sandbox.tool_bytes\`). ` +
          "Pass less, or pass it in pieces.",
      );
    }
    this.#ask(id, limits, () => this.#parts.host.send({ type: "call", id, path, json }));
  }

  #search(frame: JsonObject): void {
    const { limits } = this.#scripting();
    const { id, query, limit } = frame;
    if (!isId(id) || typeof query !== "string" || !isId(limit) || query.length > MAX_QUERY_CHARACTERS)
      throw new GuestError("inval");
    this.#ask(id, limits, () =>
      this.#parts.host.send({ type: "search", id, query, limit: Math.min(limit, MAX_SEARCH_LIMIT) }),
    );
  }

  #ask(id: number, limits: SandboxLimits, send: () => void): void {
    this.#calls += 1;
    if (this.#calls > limits.toolCalls) {
      return this.#refuse(id, "limited", tooManyCalls(limits.toolCalls));
    }
    if (this.#running.has(id)) throw new GuestError("inval");
    if (this.#running.size >= limits.concurrentToolCalls) {
      this.#queue.push({ id, send });
      return;
    }
    this.#running.add(id);
    send();
  }

  #wait({ ms }: JsonObject): void {
    const longest = typeof ms === "number" && ms >= 0 ? ms : Infinity;
    this.#parts.output.flush();
    if (this.#answers.length > 0) return;
    // Throws if no call is running and no timer is set, because no answer can arrive.
    if (this.#running.size === 0 && longest === Infinity) throw new GuestError("inval");
    const left = this.#left();
    let message = this.#parts.host.await(Math.min(longest, left));
    if (message === undefined && left <= longest) this.#expire();
    for (; message !== undefined; message = this.#parts.host.take()) {
      if (message.type === "reply") this.#replied(message);
    }
  }

  /** Blocks the thread for that time, or until the time limit of the run. */
  sleep(ms: number): void {
    this.#parts.output.flush();
    const left = this.#left();
    this.#parts.host.sleep(Math.min(ms, left));
    if (left < ms) this.#expire();
  }

  #left(): number {
    return Math.max(0, this.#endsAt - performance.now());
  }

  /** Ends a run that waits. A run that computes is ended from outside, without a result. */
  #expire(): never {
    if (this.#job !== undefined) this.fail("timeout", "Timeout", wallMessage(this.#job.limits.wallMs));
    throw new GuestExit(0);
  }

  #replied(reply: GuestCallReply): void {
    if (!this.#running.delete(reply.id)) return;
    const bound = this.#job!.limits.toolBytes;
    const bytes = Buffer.byteLength(reply.json);
    if (bytes > bound) {
      this.#refuse(reply.id, "too_large", tooLargeAnswer(bound, bytes));
    } else {
      this.#answer(`reply ${reply.id} ${reply.ok ? 1 : 0}`, reply.json);
    }
    const next = this.#queue.shift();
    if (next === undefined) return;
    this.#running.add(next.id);
    next.send();
  }

  // The answer is sent immediately. Replies to tool calls are only taken from the port in `wait`, so this answer
  // precedes them.
  #zone({ key }: JsonObject): void {
    if (typeof key !== "string" || this.#answers.length > 0) throw new GuestError("inval");
    this.#answer("zone", timeZoneFile(key)?.toString("base64") ?? "");
  }

  #done(frame: JsonObject): void {
    const job = this.#job;
    if (job === undefined) throw new GuestError("perm");
    this.#finish(toDone(frame, job.limits));
  }

  /** Ends the running job for a reason that the guest did not report. */
  fail(end: Exclude<SandboxEnd, "finished">, type: string, message: string): void {
    if (this.#job !== undefined) this.#finish({ end, error: { type, message, traceback: "" } });
  }

  #finish(done: ReturnType<typeof toDone>): void {
    const { host, output, files } = this.#parts;
    this.#job = undefined;
    this.#endsAt = Infinity;
    this.#answers = [];
    output.flush();
    const artifacts = files.artifacts();
    host.send({ type: "done", done: { ...done, artifacts, truncated: output.truncated } });
  }

  /**
   * Throws unless the run has the scripting profile, in which tools are available. Checked here, because the guest may
   * have changed its own rules.
   */
  #scripting(): SandboxJob {
    if (this.#job?.profile !== "scripting") throw new GuestError("perm");
    return this.#job;
  }

  #refuse(id: number, kind: string, message: string): void {
    this.#answer(`reply ${id} 0`, JSON.stringify({ kind, message, retryable: false }));
  }

  #answer(head: string, json: string): void {
    if (this.#answers.length >= MAX_ANSWERS) throw new GuestError("nospc");
    const body = Buffer.from(`${head}\n${json}`);
    const length = Buffer.alloc(4);
    length.writeUInt32LE(body.length);
    this.#answers.push(length, body);
  }
}

function parseFrame(bytes: Uint8Array): JsonObject {
  let frame: unknown;
  try {
    frame = JSON.parse(Buffer.from(bytes).toString("utf8"));
  } catch {
    throw new GuestError("inval");
  }
  if (!isJsonObject(frame)) throw new GuestError("inval");
  return frame;
}

function isId(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}
