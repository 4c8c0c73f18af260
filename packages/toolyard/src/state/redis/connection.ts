import { messageOf } from "../../core/errors.ts";
import { processActivity } from "../../core/process-activity.ts";
import { Emitter } from "../../core/events.ts";
import type { Logger } from "../../core/ports/ports.ts";
import type { SharedScript } from "../ports/shared-queues.ts";
import type { RedisClient } from "./client.ts";

type ReplyPart = string | number | Buffer;

/** Message of ioredis for a command without an answer. */
const TIMEOUT_MESSAGE = "Command timed out";
/** Milliseconds after a loss within which each hub reconnects and stores its data again. */
const RECOVERY_MS = 5000;
/** Maximum number of different reasons that are logged. */
const MAX_REASONS = 16;

/** Commands to the store. Reports once that the store is lost, and once that it is back. */
export class RedisConnection {
  /** Emitted after the connection was established again. */
  readonly restored = new Emitter<void>();
  /** Last error of the connection itself. */
  lastError: Error | undefined;
  readonly #client: RedisClient;
  #logger: Pick<Logger, "info" | "warning">;
  #isLost = false;
  #isClosed = false;
  /** Milliseconds to add to the clock of this machine to get the clock of the store. */
  #offsetMs = 0;
  #lastWrite: Promise<unknown> = Promise.resolve();
  /** Time at which the connection was established again, on the clock of `performance.now()`. */
  #restoredAt = -Infinity;
  readonly #reasons = new Set<string>();
  /** Digests of the scripts that were sent on this connection. Limited by the number of scripts. */
  readonly #sentScripts = new Set<string>();

  constructor(client: RedisClient, logger: Pick<Logger, "info" | "warning">) {
    this.#client = client;
    this.#logger = logger;
    client.on("error", (error: Error) => {
      this.lastError = error;
      this.#lost(error);
    });
    client.on("close", () => this.#lost(new Error("The connection was closed.")));
    client.on("ready", () => this.#ready());
  }

  reportTo(logger: Pick<Logger, "info" | "warning">): void {
    this.#logger = logger;
  }

  get isLost(): boolean {
    return this.#isLost;
  }

  /**
   * True if the store was back recently. It may have lost its data, and other hubs may not have stored theirs again, so
   * a missing record proves nothing.
   */
  get isRecovering(): boolean {
    return performance.now() - this.#restoredAt < RECOVERY_MS;
  }

  /** Current time on the clock of the store, so that hubs with different clocks agree on leases. */
  get now(): number {
    return Date.now() + this.#offsetMs;
  }

  async readClock(): Promise<void> {
    const [seconds, micros] = (await this.command("TIME")) as [string, string];
    this.#offsetMs = Number(seconds) * 1000 + Math.floor(Number(micros) / 1000) - Date.now();
  }

  async command(name: string, ...parts: ReplyPart[]): Promise<unknown> {
    const startedAt = performance.now();
    try {
      return await this.#client.call(name, ...parts);
    } catch (error) {
      processActivity.storeFailures += 1;
      // A store that accepts commands and does not answer must not delay each call until the timeout.
      if (messageOf(error) === TIMEOUT_MESSAGE && !this.#isLost) this.#reconnect(error);
      throw error;
    } finally {
      processActivity.storeCommands += 1;
      processActivity.storeMs += performance.now() - startedAt;
    }
  }

  /**
   * Runs a script with one key. The text of the script is sent with the first use on a connection, because text that is
   * sent only after a refusal would be executed after later commands. A server that forgot the script, or another
   * server of a cluster, gets the text again.
   */
  async run({ text, digest }: SharedScript, key: string, ...parts: ReplyPart[]): Promise<unknown> {
    if (!this.#sentScripts.has(digest)) {
      this.#sentScripts.add(digest);
      return this.command("EVAL", text, 1, key, ...parts);
    }
    try {
      return await this.command("EVALSHA", digest, 1, key, ...parts);
    } catch (error) {
      if (!messageOf(error).startsWith("NOSCRIPT")) throw error;
      return this.command("EVAL", text, 1, key, ...parts);
    }
  }

  /** Starts a write. Resolves when it has ended, also if it failed: the log gets each reason for a failure once. */
  write(writing: Promise<unknown>): Promise<void> {
    const ended = writing.then(
      () => {},
      (error: unknown) => this.refused(error, "The shared store refused a write."),
    );
    this.#lastWrite = ended;
    return ended;
  }

  /** Resolves when all writes that were started have ended. The connection keeps their order. */
  async flush(): Promise<void> {
    await this.#lastWrite;
  }

  close(): void {
    this.#isClosed = true;
    this.#client.disconnect();
  }

  #reconnect(error: unknown): void {
    this.#lost(error);
    this.#client.disconnect(true);
  }

  /** Logs each reason for a refused command once. A lost connection is logged separately. */
  refused(error: unknown, message: string): void {
    const reason = messageOf(error);
    if (!this.#isLost) this.warnOnce(message, { error: reason });
  }

  /** Logs each warning once, except after `close`. */
  warnOnce(message: string, fields: { readonly error?: string } = {}): void {
    const line = `${message} ${fields.error}`;
    if (this.#isClosed || this.#reasons.has(line) || this.#reasons.size >= MAX_REASONS) return;
    this.#reasons.add(line);
    this.#logger.warning(message, fields);
  }

  #lost(error: unknown): void {
    if (this.#isLost || this.#isClosed) return;
    this.#isLost = true;
    this.#sentScripts.clear();
    this.#logger.warning("The shared store cannot be reached. This hub continues alone until the store is back.", {
      error: messageOf(error),
    });
  }

  #ready(): void {
    if (!this.#isLost) return;
    this.#isLost = false;
    this.#restoredAt = performance.now();
    this.#logger.info("The shared store can be reached again.");
    this.restored.emit();
  }
}
