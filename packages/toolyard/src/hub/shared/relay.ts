import type { Readable, Writable } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import { messageOf } from "../../core/errors.ts";
import type { Logger } from "../../core/ports/ports.ts";
import type { ProtocolSink } from "../../process/stdout-guard.ts";
import { LineDecoder } from "../../wire/lines.ts";
import { rpcError, RPC } from "../../wire/messages.ts";
import { Conversation } from "./conversation.ts";
import { STOPPED_LINE } from "./stopped-line.ts";

/** Connection to a hub: a socket, or a process that serves only this client. */
export interface HubEnd {
  readonly input: Readable;
  readonly output: Writable;
  /** Closes the connection immediately. */
  destroy(): void;
}

export interface RelayOptions {
  /** Input and output of the client. */
  readonly input: Readable;
  readonly output: ProtocolSink;
  /** Resolves with the next hub after one has exited. Rejects with the reason if there is none. */
  readonly next: () => Promise<HubEnd>;
  readonly logger: Logger;
  /** Aborted when the program receives a request to exit. */
  readonly signal: AbortSignal;
}

/** Maximum length of one line in bytes: the limit that a hub has, too. */
const MAX_LINE_BYTES = 10 * 1024 * 1024;
/** Maximum length of one line from a hub; a longer one counts as an error. */
const MAX_ANSWER_BYTES = 256 * 1024 * 1024;
/** Minimum milliseconds between two starts, for a hub that exits repeatedly. */
const RETRY_MS = 1000;
/** Milliseconds for running calls after the program received a request to exit. */
const END_MS = 5000;

/**
 * Forwards lines between a client and its hub. When the hub has exited, continues with the next hub, while the client's
 * connection stays open. Resolves when the client has disconnected and all requests are answered, or when the signal is
 * aborted.
 */
export async function relay(first: HubEnd, options: RelayOptions): Promise<void> {
  await new Relay(options).run(first);
}

class Relay {
  readonly #options: RelayOptions;
  readonly #conversation = new Conversation();
  readonly #decoder: LineDecoder;
  /** Lines of the client that no hub has received yet. */
  #held: string[] = [];
  #hub: HubEnd | undefined;
  #isClientGone = false;
  /** True if the user stopped the hub, and the client has sent nothing since. */
  #isStopped = false;
  #onHeld: (() => void) | undefined;

  constructor(options: RelayOptions) {
    this.#options = options;
    this.#decoder = new LineDecoder(MAX_LINE_BYTES, {
      onLine: (line) => this.#fromClient(line),
      onTooLong: () => this.#tell([JSON.stringify(rpcError(null, { code: RPC.invalidRequest, message: TOO_LONG }))]),
    });
  }

  async run(first: HubEnd): Promise<void> {
    const { logger, signal } = this.#options;
    this.#watchClient();
    let hub: HubEnd | undefined = first;
    let begunAt = performance.now();
    await this.#serve(hub, []);
    while (!this.#isClientGone && !signal.aborted) {
      logger.warning(
        this.#isStopped
          ? "The hub was stopped. The next request of the client starts a new one."
          : "The hub ended; the next one takes over.",
      );
      this.#tell(this.#conversation.lost());
      if (this.#isStopped) await this.#untilRequested();
      this.#isStopped = false;
      await this.#space(begunAt);
      begunAt = performance.now();
      hub = await this.#next();
      if (hub) await this.#resume(hub);
    }
    this.#hub?.destroy();
    await this.#options.output.flushed();
  }

  #watchClient(): void {
    const { input, output, signal } = this.#options;
    input.on("data", (chunk: Buffer) => this.#decoder.push(chunk));
    const gone = (): void => {
      if (this.#isClientGone) return;
      this.#decoder.flush();
      this.#isClientGone = true;
      this.#onHeld?.();
      this.#hub?.output.end();
    };
    for (const event of ["end", "close", "error"]) input.once(event, gone);
    output.onBroken(() => {
      gone();
      this.#hub?.destroy();
    });
    output.onDrain(() => this.#hub?.input.resume());
    signal.addEventListener("abort", () => {
      gone();
      setTimeout(() => this.#hub?.destroy(), END_MS).unref();
    });
  }

  /**
   * Resolves with the next hub. If there is none, answers the pending requests and resolves with `undefined`; the
   * client's next message tries again.
   */
  async #next(): Promise<HubEnd | undefined> {
    const { next, logger } = this.#options;
    if (this.#isClientGone) return undefined;
    try {
      return await next();
    } catch (error) {
      const reason = `There is no hub to serve this: ${messageOf(error)}`;
      logger.error("There is no hub. The next request of the client starts one.", { reason: messageOf(error) });
      for (const line of this.#held.splice(0)) this.#conversation.fromClient(line);
      this.#tell(this.#conversation.abandoned(reason));
      await this.#untilRequested();
      return undefined;
    }
  }

  /** Resolves when a line of the client waits for a hub, or the client has disconnected. */
  async #untilRequested(): Promise<void> {
    if (this.#isClientGone || this.#held.length > 0) return;
    const asked = new Promise<void>((resolve) => (this.#onHeld = resolve));
    this.#options.input.resume();
    await asked;
    this.#onHeld = undefined;
  }

  async #resume(hub: HubEnd): Promise<void> {
    const { first, opened, rest } = this.#conversation.resume();
    const lines = first === undefined ? rest() : [first];
    const served = this.#serve(hub, lines, first === undefined);
    if (first !== undefined) {
      await Promise.race([opened, served]);
      for (const line of rest()) hub.output.write(`${line}\n`);
      this.#tell(this.#conversation.changes());
      this.#begin(hub);
    }
    await served;
  }

  /** Forwards lines to and from a hub. Resolves when the hub has exited. Drops an incomplete line. */
  async #serve(hub: HubEnd, lines: readonly string[], begins = true): Promise<void> {
    const decoder = new LineDecoder(MAX_ANSWER_BYTES, {
      onLine: (line) => this.#fromHub(line, hub),
      onTooLong: () => hub.destroy(),
    });
    const ended = new Promise<void>((resolve) => {
      hub.input.on("data", (chunk: Buffer) => decoder.push(chunk));
      for (const event of ["end", "close", "error"]) {
        hub.input.once(event, resolve);
        if (event !== "end") hub.output.once(event, resolve);
      }
    });
    hub.output.on("drain", () => this.#options.input.resume());
    for (const line of lines) hub.output.write(`${line}\n`);
    if (begins) this.#begin(hub);
    hub.input.resume();
    await ended;
    if (this.#hub === hub) this.#hub = undefined;
    hub.destroy();
  }

  /** Sends the client's lines to this hub from now on, first those that were waiting. */
  #begin(hub: HubEnd): void {
    if (hub.input.destroyed) return;
    this.#hub = hub;
    for (const line of this.#held.splice(0)) this.#fromClient(line);
    if (this.#isClientGone) hub.output.end();
    else this.#options.input.resume();
  }

  #fromClient(line: string): void {
    if (line.trim() === "") return;
    const hub = this.#hub;
    if (!hub) {
      this.#held.push(line);
      this.#options.input.pause();
      this.#onHeld?.();
      return;
    }
    const passed = this.#conversation.fromClient(line);
    if (passed.line !== undefined && !hub.output.write(`${passed.line}\n`)) this.#options.input.pause();
  }

  #fromHub(line: string, hub: HubEnd): void {
    if (line === "") return;
    if (line === STOPPED_LINE) {
      this.#isStopped = true;
      return;
    }
    const passed = this.#conversation.fromHub(line);
    if (passed.line !== undefined && !this.#options.output.write(`${passed.line}\n`)) hub.input.pause();
  }

  #tell(lines: readonly string[]): void {
    for (const line of lines) this.#options.output.write(`${line}\n`);
  }

  /** Waits until `RETRY_MS` have passed since the last start of a hub. */
  async #space(begunAt: number): Promise<void> {
    const left = begunAt + RETRY_MS - performance.now();
    if (left > 0) await pause(left, undefined, { signal: this.#options.signal }).catch(() => {});
  }
}

const TOO_LONG = `Invalid Request: a line may have ${MAX_LINE_BYTES} bytes at most`;
