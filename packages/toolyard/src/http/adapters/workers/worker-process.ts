import type { ChildProcess } from "node:child_process";
import { fork } from "node:child_process";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { fileURLToPath } from "node:url";
import type { Authentication } from "../../../core/ports/authenticator.ts";
import { childEnvironment } from "../../../process/environment.ts";
import type { KeyPair } from "../../tls/key-pair.ts";
import { Channel } from "./channel.ts";
import type { CallerQuestion } from "./remote-authenticator.ts";
import { FRAME, type WorkerFrame } from "./frames.ts";
import type { LogHead, RequestHead, WorkerSettings } from "./messages.ts";
import { RemoteAnswerWire } from "./remote-wire.ts";

/** Handlers for the messages of a worker. */
export interface WorkerOwner {
  /** Called with a request. `wire` is for its answer. */
  served(head: RequestHead, body: Buffer, wire: RemoteAnswerWire): void;
  logged(line: LogHead): void;
  /** Resolves with the principal for this `Authorization`. Never rejects. */
  who(question: CallerQuestion): Promise<Authentication>;
  /** Called when the worker starts to serve, or has closed a connection. */
  hasRoom(worker: WorkerProcess): void;
  /** Called when the process has exited, requested or not, with the connections that were not passed yet. */
  ended(
    worker: WorkerProcess,
    how: { readonly code: number | null; readonly signal: string | null; readonly left: readonly Socket[] },
  ): void;
}

/** A worker from the view of the primary: the process, its connections and its running requests. */
export class WorkerProcess {
  /** True after the worker has started to serve. */
  hasServed = false;
  readonly #owner: WorkerOwner;
  readonly #child: ChildProcess;
  readonly #channel: Channel;
  readonly #exchanges = new Map<number, RemoteAnswerWire>();
  /**
   * Connections that wait to be passed. They are passed one at a time, so that they are not lost if the worker exits.
   */
  readonly #waiting: Socket[] = [];
  #passing: Socket | undefined;
  #connections = 0;
  #isReady = false;
  #hasEnded = false;

  constructor(settings: WorkerSettings, owner: WorkerOwner) {
    this.#owner = owner;
    // Standard output may be used for a protocol, so the worker's output goes to standard error.
    this.#child = fork(entry(), [], {
      stdio: ["ignore", 2, 2, "overlapped", "ipc"],
      execArgv: [],
      env: childEnvironment(),
    });
    this.#channel = new Channel(this.#child.stdio[3] as Duplex, (frame) => this.#receive(frame));
    this.#child.once("error", () => this.#ended(null, null));
    this.#child.once("exit", (code, signal) => this.#ended(code, signal));
    this.#channel.sendHead(FRAME.settings, 0, JSON.stringify(settings));
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  get isReady(): boolean {
    return this.#isReady;
  }

  /** Number of connections that the worker has or is about to receive. */
  get load(): number {
    return this.#connections + this.#waiting.length + (this.#passing ? 1 : 0);
  }

  give(socket: Socket): void {
    this.#waiting.push(socket);
    this.#handNext();
  }

  certify(pair: KeyPair): void {
    this.#channel.sendHead(FRAME.certificate, 0, JSON.stringify(pair));
  }

  /** Waits for running requests within the grace time of the settings. Then the process exits. */
  close(): void {
    for (const socket of this.#waiting.splice(0)) socket.destroy();
    this.#channel.sendBare(FRAME.close);
  }

  kill(): void {
    this.#child.kill("SIGKILL");
  }

  #handNext(): void {
    if (this.#passing || this.#hasEnded) return;
    const socket = this.#waiting.shift();
    if (!socket) return;
    // A connection that was closed during the wait has no handle, and cannot be passed.
    if (socket.destroyed) return this.#handNext();
    this.#passing = socket;
    // The connection stays open in this process until the worker has received it. Otherwise Node would never close the
    // connection if the worker exits in between.
    this.#child.send("connection", socket, { keepOpen: true }, (error) => {
      if (error) socket.destroy();
    });
  }

  #receive({ type, exchange, head, body }: WorkerFrame): void {
    switch (type) {
      case FRAME.request:
        return this.#request(exchange, JSON.parse(head) as RequestHead, body);
      case FRAME.gone:
        return this.#exchanges.get(exchange)?.gone();
      case FRAME.taken:
        return this.#exchanges.get(exchange)?.taken(Number(head));
      case FRAME.opened:
        this.#passing?.destroy();
        this.#passing = undefined;
        this.#connections += 1;
        return this.#handNext();
      case FRAME.closed:
        this.#connections -= 1;
        return this.#owner.hasRoom(this);
      case FRAME.ready:
        this.#isReady = true;
        this.hasServed = true;
        return this.#owner.hasRoom(this);
      case FRAME.who:
        return void this.#sendPrincipal(exchange, JSON.parse(head) as CallerQuestion);
      case FRAME.log:
        return this.#owner.logged(JSON.parse(head) as LogHead);
    }
  }

  async #sendPrincipal(number: number, question: CallerQuestion): Promise<void> {
    const answer = await this.#owner.who(question);
    if (!this.#hasEnded) this.#channel.sendHead(FRAME.principal, number, JSON.stringify(answer));
  }

  #request(exchange: number, head: RequestHead, body: Buffer): void {
    const wire = new RemoteAnswerWire(this.#channel, exchange, () => this.#exchanges.delete(exchange));
    this.#exchanges.set(exchange, wire);
    this.#owner.served(head, body, wire);
  }

  #ended(code: number | null, signal: string | null): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#isReady = false;
    this.#passing?.destroy();
    for (const wire of Array.from(this.#exchanges.values())) wire.gone();
    this.#owner.ended(this, { code, signal, left: this.#waiting.splice(0) });
  }
}

/**
 * Returns the file of the worker's code. Node itself loads it, so the built file is used, even if this code runs from
 * its source as in tests.
 */
function entry(): string {
  const here = import.meta.url;
  return fileURLToPath(
    here.endsWith(".ts") ? new URL("../../../../dist/http/adapters/workers/main.js", here) : new URL("main.js", here),
  );
}
