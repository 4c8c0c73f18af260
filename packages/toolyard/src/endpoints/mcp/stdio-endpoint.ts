import { stringifyExact } from "../../core/json/exact-json.ts";
import type { Readable } from "node:stream";
import { NO_CREDENTIALS, type Authentication, type Authenticator } from "../../core/ports/authenticator.ts";
import type { Client, Principal } from "../../core/calls/call.ts";
import { connectionId } from "../../core/calls/connection-id.ts";
import { isJsonObject } from "../../core/json/json.ts";
import { messageOf } from "../../core/errors.ts";
import { rpcError, RPC } from "../../wire/messages.ts";
import { claimsModernEra } from "../../wire/modern/envelope.ts";
import type { JsonLimits } from "../../wire/parse-json.ts";
import type { Dialect } from "../dialect.ts";
import { MAX_BATCH } from "./legacy/http-checks.ts";
import type { ServedEra } from "../../core/sources/served-era.ts";
import type { Outlet } from "./legacy/outlet.ts";
import { LegacySession, type SessionDeps } from "./legacy/session.ts";
import type { ModernEndpoint } from "./modern/endpoint.ts";
import { ModernPipe } from "./modern-pipe.ts";
import { StdioReader } from "./stdio-reader.ts";
import type { ProtocolSink } from "../../process/stdout-guard.ts";

export interface StdioEndpointDeps extends SessionDeps {
  readonly input: Readable;
  readonly output: ProtocolSink;
  readonly modern: ModernEndpoint;
  /** Era for the client. @default "auto" */
  readonly era?: ServedEra;
  /** Identifies the client. Called once, before any input is read. */
  readonly authenticator: Authenticator;
  readonly jsonLimits: JsonLimits;
  /** Called once with the era of the client's first message; `undefined` if that message is not MCP. */
  readonly onFirst?: (era: Client["era"]) => void;
  /** Dialects that are tried after MCP, in order. No input is read before they are loaded. @default none */
  readonly dialects?: readonly Dialect[] | Promise<readonly Dialect[]>;
}

/** MCP on standard input and output: one client, both eras. Each message determines its era. */
export class StdioEndpoint {
  /**
   * Resolves when the client has disconnected or the endpoint was closed, all requests are answered, and the answers
   * were read.
   */
  readonly done: Promise<void>;
  readonly #deps: StdioEndpointDeps;
  /** State of both eras for the client, after the client was identified. */
  #conversation: StdioConversation | undefined;
  readonly #reader: StdioReader;
  readonly #running = new Set<Promise<void>>();
  readonly #pipe: Outlet;
  #dialects: readonly Dialect[] | undefined;
  #hasSpoken = false;
  #state: "reading" | "draining" | "over" = "reading";
  #finish: () => void = () => {};
  #hurry: () => void = () => {};
  readonly #hurried = new Promise<void>((resolve) => {
    this.#hurry = resolve;
  });
  readonly #timers: NodeJS.Timeout[] = [];

  constructor(deps: StdioEndpointDeps) {
    this.#deps = deps;
    this.#pipe = new PipeOutlet(
      (text) => this.#write(text),
      () => this.#state === "reading",
    );
    const limits = { ...deps.jsonLimits, maxLineBytes: MAX_LINE_BYTES };
    this.#reader = new StdioReader(deps.input, limits, {
      onValue: (value) => this.#take(value),
      onRefused: (code, message) => this.#refuse(code, message),
      onEnd: () => void this.#drain(DRAIN_MS),
    });
    this.done = new Promise((resolve) => {
      this.#finish = resolve;
    });
  }

  /** Identifies the client, then starts to read input. */
  start(): void {
    this.#deps.output.onDrain(() => this.#reader.resume());
    this.#deps.output.onBroken((error) => {
      this.#deps.logger.info("The client has closed its end of the pipe.", { error: error.message });
      void this.#drain(0);
    });
    const { dialects } = this.#deps;
    if (!(dialects instanceof Promise)) return this.#begin(dialects);
    dialects.then(
      (loaded) => this.#begin(loaded),
      (error: unknown) => this.#fault("The dialects of the pipe cannot be loaded; the connection ends.", error),
    );
  }

  #fault(message: string, error: unknown): void {
    this.#deps.logger.error(message, { error: messageOf(error) });
    void this.#drain(0);
  }

  #begin(dialects: readonly Dialect[] | undefined): void {
    this.#dialects = dialects;
    const found = this.#authenticate();
    if (found instanceof Promise) void found.then((authentication) => this.#enter(authentication));
    else this.#enter(found);
  }

  /** Stops reading, answers running requests within `graceMs` milliseconds, and resolves with `done`. */
  close(graceMs = CLOSE_MS): Promise<void> {
    void this.#drain(graceMs);
    return this.done;
  }

  #authenticate(): Authentication | Promise<Authentication> {
    const failed = (error: unknown): Authentication => ({ admitted: false, message: messageOf(error), challenge: "" });
    try {
      const found = this.#deps.authenticator.authenticate(NO_CREDENTIALS);
      return found instanceof Promise ? found.catch(failed) : found;
    } catch (error) {
      return failed(error);
    }
  }

  #enter(found: Authentication): void {
    if (this.#state !== "reading") return;
    if (found.admitted) {
      this.#conversation = this.#openConversation(found.principal);
      this.#reader.start();
      return;
    }
    this.#deps.logger.error("The client on the pipe is not admitted; the connection ends.", { error: found.message });
    this.#refuse(RPC.invalidRequest, `Not admitted: ${found.message}`);
    void this.#drain(0);
  }

  #openConversation(principal: Principal): StdioConversation {
    const deps = this.#deps;
    const connection = connectionId();
    return {
      session: new LegacySession(deps, { connection, endpoint: "mcp-stdio", principal, outlet: this.#pipe }),
      modern: new ModernPipe({
        endpoint: deps.modern,
        principal,
        connection,
        mode: deps.defaultMode,
        maxInFlight: deps.options.maxInFlight,
        send: (text) => this.#write(text),
      }),
    };
  }

  #take(value: unknown): void {
    const spoken = this.#conversation;
    if (!spoken) return;
    if (!this.#hasSpoken) this.#first(value);
    const work = Array.isArray(value) ? this.#takeBatch(value, spoken) : this.#takeMessage(value, spoken);
    this.#running.add(work);
    void work.finally(() => this.#running.delete(work));
  }

  #first(value: unknown): void {
    this.#hasSpoken = true;
    const message = isJsonObject(value) ? value : {};
    const isModern = this.#isModern(value);
    const isLegacy = message["method"] === "initialize" || (!isModern && claimsModernEra(message["params"]));
    this.#deps.onFirst?.(isModern ? "modern" : isLegacy ? "legacy" : undefined);
  }

  #isModern(value: unknown): boolean {
    return this.#deps.era !== "legacy" && isJsonObject(value) && claimsModernEra(value["params"]);
  }

  #takeMessage(value: unknown, { session, modern }: StdioConversation, outlet: Outlet = this.#pipe): Promise<void> {
    if (this.#isModern(value)) return modern.receive(value);
    // A cancellation may lack the envelope, so both eras receive it. This is safe, because the client's request ids are
    // unique across both eras.
    modern.handleCancelled(value);
    const dialects = this.#dialects;
    return session.receive(value, { outlet, ...(dialects ? { dialects } : {}) });
  }

  /**
   * Sends the replies to a batch as one array when the last one is ready. Messages before the replies are sent
   * immediately.
   */
  async #takeBatch(messages: readonly unknown[], spoken: StdioConversation): Promise<void> {
    if (messages.length === 0) return this.#refuse(RPC.invalidRequest, "Invalid Request: Batch must not be empty");
    if (messages.length > MAX_BATCH)
      return this.#refuse(RPC.invalidRequest, `Invalid Request: Batch must not exceed ${MAX_BATCH} messages`);
    if (messages.some((message) => this.#isModern(message))) {
      return this.#refuse(
        RPC.invalidRequest,
        "Invalid Request: the revision named in `_meta` has no batches. Send one message per line.",
      );
    }
    const replies: string[] = [];
    const outlet = new PipeOutlet(
      (text) => this.#pipe.note(text),
      () => this.#pipe.reachable,
      (text) => void replies.push(text),
    );
    await Promise.all(messages.map((message) => this.#takeMessage(message, spoken, outlet)));
    if (replies.length > 0) this.#pipe.reply(`[${replies.join(",")}]`);
  }

  #refuse(code: number, message: string): void {
    this.#pipe.reply(stringifyExact(rpcError(null, { code, message })));
  }

  #write(text: string): void {
    const { output, logger } = this.#deps;
    if (this.#state === "over" || output.write(`${text}\n`)) return;
    // Reading stops only above a certain backlog, because a client may write many messages before it starts to read.
    if (output.backlogBytes > PAUSE_BYTES) this.#reader.pause();
    if (output.backlogBytes <= MAX_BACKLOG_BYTES || this.#state === "draining") return;
    logger.error("The client on the pipe does not read its answers; the connection ends.", {
      backlogBytes: output.backlogBytes,
    });
    void this.#drain(0);
  }

  async #drain(graceMs: number): Promise<void> {
    if (this.#state === "over") return;
    // A later call with a shorter grace time shortens a close that is already running.
    this.#timers.push(setTimeout(this.#hurry, graceMs));
    if (this.#state !== "reading") return;
    this.#state = "draining";
    this.#reader.stop();
    this.#conversation?.session.endQuestions();
    this.#conversation?.modern.endInput();
    await Promise.race([this.#idle(), this.#hurried]);
    this.#conversation?.session.close("The hub is closing.");
    this.#conversation?.modern.close("The hub is closing.");
    const given = new Promise<void>((resolve) => {
      this.#timers.push(setTimeout(resolve, FLUSH_MS));
    });
    await Promise.race([this.#deps.output.flushed(), given]);
    for (const timer of this.#timers) clearTimeout(timer);
    this.#state = "over";
    this.#finish();
  }

  async #idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }
}

interface StdioConversation {
  readonly session: LegacySession;
  readonly modern: ModernPipe;
}

class PipeOutlet implements Outlet {
  readonly isShared = true;
  readonly note: (text: string) => void;
  readonly reply: (text: string) => void;
  readonly #isReachable: () => boolean;

  constructor(note: (text: string) => void, isReachable: () => boolean, reply = note) {
    this.note = note;
    this.reply = reply;
    this.#isReachable = isReachable;
  }

  get reachable(): boolean {
    return this.#isReachable();
  }
}

const MAX_LINE_BYTES = 10 * 1024 * 1024;
const PAUSE_BYTES = 1024 * 1024;
const MAX_BACKLOG_BYTES = 64 * 1024 * 1024;
/** Grace time if the client closed its writing end: it may still read, so calls get their default time limit. */
const DRAIN_MS = 60_000;
const CLOSE_MS = 5000;
const FLUSH_MS = 5000;
