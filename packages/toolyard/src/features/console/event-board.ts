import { LOCAL_PRINCIPAL } from "../../core/calls/call.ts";
import { callerKey } from "../../core/ports/profiles.ts";
import { isFor, type ResourceUpdate } from "../../core/sources/provider.ts";
import type { EventStream } from "../../http/answer/event-stream.ts";
import type { AdminCaller, StreamPermit } from "./access/admin-caller.ts";
import { toLogRecord } from "./api/records.ts";
import type { CallRecord, EventTypes, LogRecord } from "./api-types.ts";
import type { ConsoleParts } from "./parts.ts";

/** Interval at which states are compared and figures are sent. */
const TICK_MS = 1000;
/** Number of ticks after which the caller of a stream is authenticated again. */
const RENEW_TICKS = 15;

export interface StreamWish {
  readonly topics: ReadonlySet<string>;
  /** `Last-Event-ID` of the reader: the numbers of the last call and of the last log line that it received. */
  readonly lastId: string | undefined;
  /** Permit of the reader. It is checked repeatedly while the stream is open. */
  readonly permit: StreamPermit;
  /** Resource whose changes are sent with the topic `resource`. The caller has subscribed to it. */
  readonly uri?: string;
}

interface BoardReader extends StreamWish {
  readonly stream: EventStream;
  readonly caller: AdminCaller;
  /** Number of events that may still be sent in this second. */
  left: number;
  /** Number of ticks since the caller was last authenticated. */
  ticks: number;
  skipped: number;
  /** Changes of tasks in this tick: the first is sent immediately, the others together at the end of the tick. */
  taskNews: "none" | "sent" | "waiting";
  /** Numbers of the last call and of the last log line that were sent or skipped. */
  call: number;
  line: number;
}

/**
 * The event streams of the console. Each stream sends a limited number of calls and log lines per second and only
 * counts further ones, so that neither the hub nor the page slows down. While no stream is open, nothing is computed.
 */
export class EventBoard {
  readonly #parts: ConsoleParts;
  readonly #perSecond: number;
  readonly #readers = new Set<BoardReader>();
  #leave: (() => void) | undefined;

  constructor(parts: ConsoleParts, perSecond: number) {
    this.#parts = parts;
    this.#perSecond = perSecond;
  }

  get size(): number {
    return this.#readers.size;
  }

  /** Sends the missed events that are still kept, and then new events as they occur. */
  add(stream: EventStream, caller: AdminCaller, wish: StreamWish): void {
    const { recentCalls, logFeed, startedAt } = this.#parts;
    const [call = NaN, line = NaN] = /^\d+\.\d+$/.test(wish.lastId ?? "") ? wish.lastId!.split(".").map(Number) : [];
    const lastLine = logFeed.lines().at(-1)?.number ?? 0;
    const reader: BoardReader = {
      ...wish,
      stream,
      caller,
      left: this.#perSecond,
      ticks: 0,
      skipped: 0,
      taskNews: "none",
      call: Number.isInteger(call) ? call : (recentCalls?.lastNumber ?? 0),
      line: Number.isInteger(line) ? line : lastLine,
    };
    this.#send(reader, "hello", { startedAt: startedAt.toISOString() });
    this.#replay(reader);
    this.#readers.add(reader);
    stream.onClosed(() => this.#remove(reader));
    this.#leave ??= this.#listen();
  }

  close(): void {
    for (const { stream } of this.#readers) stream.end();
  }

  #remove(reader: BoardReader): void {
    this.#readers.delete(reader);
    if (this.#readers.size > 0) return;
    this.#leave?.();
    this.#leave = undefined;
  }

  #replay(reader: BoardReader): void {
    for (const call of this.#parts.recentCalls?.after(reader.call) ?? []) this.#sendCall(reader, call);
    for (const line of this.#parts.logFeed.lines()) if (line.number > reader.line) this.#sendLine(reader, line);
  }

  #listen(): () => void {
    const { recentCalls, logFeed, hub, tasks } = this.#parts;
    let seen = this.#sourceStates();
    const tick = setInterval(() => {
      this.#endRevoked();
      const now = this.#sourceStates();
      if (now !== seen) this.#broadcast("state", { what: "sources" });
      seen = now;
      this.#tick();
    }, TICK_MS).unref();
    const leaves = [
      recentCalls?.added.on((call) => this.#each((reader) => this.#sendCall(reader, call))),
      logFeed.added.on((line) => this.#each((reader) => this.#sendLine(reader, line))),
      tasks.changed.on(({ owner }) => this.#each((reader) => this.#sendTasks(reader, owner))),
      hub.events.listsChanged.on(() => this.#broadcast("state", { what: "lists" })),
      hub.events.resourceUpdated.on((update) => this.#each((reader) => this.#sendResource(reader, update))),
    ];
    return () => {
      clearInterval(tick);
      for (const leave of leaves) leave?.();
    };
  }

  #each(run: (reader: BoardReader) => void): void {
    for (const reader of this.#readers) run(reader);
  }

  #broadcast<T extends keyof EventTypes>(type: T, data: EventTypes[T]): void {
    this.#each((reader) => {
      if (reader.topics.has("state")) this.#send(reader, type, data);
    });
  }

  /** Ends the streams whose session or token has ended, or whose caller has lost its rights. */
  #endRevoked(): void {
    this.#each((reader) => {
      const { stream, permit } = reader;
      const isOver = permit.isOver();
      if (isOver === true) return stream.end();
      if (isOver instanceof Promise) void isOver.then((over) => over && stream.end());
      reader.ticks += 1;
      if (reader.ticks < RENEW_TICKS) return;
      reader.ticks = 0;
      const onRefused = (): void => stream.end();
      permit.renew().then((isAdmitted) => isAdmitted || onRefused(), onRefused);
    });
  }

  #tick(): void {
    const { calls = 0, errors = 0 } = this.#parts.recentCalls?.counts ?? {};
    this.#each((reader) => {
      reader.left = this.#perSecond;
      if (reader.taskNews === "waiting") this.#send(reader, "state", { what: "tasks" });
      reader.taskNews = reader.taskNews === "waiting" ? "sent" : "none";
      if (!reader.caller.seesAll) return;
      this.#send(reader, "figures", { calls, errors, skipped: reader.skipped });
    });
  }

  #sendCall(reader: BoardReader, call: CallRecord): void {
    reader.call = call.number;
    const { seesAll, principal } = reader.caller;
    if (!reader.topics.has("calls") || !(seesAll || call.who === principal.id)) return;
    if (this.#takes(reader)) this.#send(reader, "call", call);
  }

  #sendLine(reader: BoardReader, line: LogRecord): void {
    reader.line = line.number;
    if (!reader.topics.has("logs") || !reader.caller.seesAll) return;
    if (this.#takes(reader)) this.#send(reader, "log", toLogRecord(line));
  }

  #sendResource(reader: BoardReader, update: ResourceUpdate): void {
    const { uri } = update;
    if (reader.uri !== uri || !isFor(update, reader.caller.principal)) return;
    if (this.#takes(reader)) this.#send(reader, "resource", { uri });
  }

  /** Runs of schedules belong to the local caller; they are shown to every caller without narrowed rights. */
  #sendTasks(reader: BoardReader, owner: string): void {
    const { seesAll, principal } = reader.caller;
    const isShown = owner === callerKey(principal) || (seesAll && owner === callerKey(LOCAL_PRINCIPAL));
    if (!isShown || !reader.topics.has("state")) return;
    if (reader.taskNews !== "none") return void (reader.taskNews = "waiting");
    reader.taskNews = "sent";
    this.#send(reader, "state", { what: "tasks" });
  }

  #takes(reader: BoardReader): boolean {
    if (reader.left > 0) {
      reader.left -= 1;
      return true;
    }
    reader.skipped += 1;
    return false;
  }

  #send<T extends keyof EventTypes>({ stream, call, line }: BoardReader, event: T, data: EventTypes[T]): void {
    stream.send(JSON.stringify(this.#parts.redactFacts({ ...data })), { event, id: `${call}.${line}` });
  }

  /** Returns the states of all sources and of the configuration as text, because no event reports their changes. */
  #sourceStates(): string {
    const states = this.#parts.hub.sources().map(({ source, status, tools }) => [
      source.id,
      status.state,
      // Includes the time of the state: within one tick a source may leave a state and enter it again.
      status.since,
      status.lastError,
      status.restarts,
      status.installing?.waitsFor,
      tools,
    ]);
    return JSON.stringify([states, this.#parts.hubControl().problem]);
  }
}
