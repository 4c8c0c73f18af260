import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { messageOf, OptionError } from "../../../core/errors.ts";
import type { Authentication, Authenticator, Credentials } from "../../../core/ports/authenticator.ts";
import type { Logger } from "../../../core/ports/ports.ts";
import { ForwardedReader } from "../../request/forwarded.ts";
import { listenOn } from "../../listening/listen-on.ts";
import type { ListenerAddress, PortListener } from "../../listening/listener.ts";
import { addressOf } from "../node/listener.ts";
import type { HttpOptions } from "../../options.ts";
import { Refusal } from "../../answer/refusal.ts";
import { Router, type Handler, type RefusalBody, type RoutePlace } from "../../router.ts";
import type { KeyPair } from "../../tls/key-pair.ts";
import type { CallerQuestion } from "./remote-authenticator.ts";
import type { ExchangePlace } from "../../exchange.ts";
import { WorkerDispatcher } from "./worker-dispatcher.ts";
import { REFUSAL_MARK, REFUSAL_STATUSES, type LogHead, type WorkerRoute } from "./messages.ts";
import { WorkerProcess, type WorkerOwner } from "./worker-process.ts";

/** Maximum milliseconds for the start of a worker. */
const START_MS = 30_000;
/** Milliseconds after the grace time in which an idle worker must exit. */
const EXIT_MS = 2000;
/** Pause before a worker that exited during its start is started again. It grows with each attempt. */
const MIN_DELAY_MS = 100;
const MAX_DELAY_MS = 5000;

/**
 * Creates a listener whose connections are served by workers. This process accepts connections and passes each to the
 * worker with the fewest. The handlers run in this process, as without workers, so that tools, sessions and limits
 * exist once.
 */
export function createWorkerPool(options: HttpOptions, logger: Logger, authenticator: Authenticator): PortListener {
  return new HttpWorkerPool(options, logger, authenticator);
}

class HttpWorkerPool implements PortListener, WorkerOwner {
  readonly #options: HttpOptions;
  readonly #logger: Logger;
  readonly #authenticator: Authenticator;
  readonly #router = new Router();
  readonly #routes: WorkerRoute[] = [];
  readonly #dispatcher: WorkerDispatcher;
  readonly #workers = new Set<WorkerProcess>();
  /** Connections that arrived while no worker accepted connections. */
  readonly #unserved = new Set<Socket>();
  readonly #server: Server;
  readonly #closing = new AbortController();
  readonly #restarts = new Set<NodeJS.Timeout>();
  #onChange: () => void = () => {};
  #delayMs = MIN_DELAY_MS;
  #pair: KeyPair | undefined;
  #name: string | undefined;
  #address: ListenerAddress | undefined;
  #closed: Promise<void> | undefined;

  constructor(options: HttpOptions, logger: Logger, authenticator: Authenticator) {
    this.#options = options;
    this.#logger = logger;
    this.#authenticator = authenticator;
    // Invalid options are detected here, so that they are reported once and not by each worker.
    void new ForwardedReader(options.trustedProxies);
    this.#dispatcher = new WorkerDispatcher(options, logger, { closing: this.#closing.signal, authenticator });
    this.#server = createServer({ pauseOnConnect: true, noDelay: true }, (socket) => this.#accepted(socket));
  }

  get address(): ListenerAddress | undefined {
    return this.#address;
  }

  get place(): ExchangePlace {
    return this.#dispatcher.place;
  }

  route(place: RoutePlace, handler: Handler, refusalBody?: RefusalBody): void {
    // The routes are also added to this router, so that two handlers of the same path are detected in the same way as
    // without workers.
    this.#router.add(place, handler, refusalBody);
    this.#routes.push({ ...place, ...(refusalBody && { refusals: refusalTexts(refusalBody) }) });
    this.#dispatcher.add(handler, refusalBody);
  }

  async certify(pair: KeyPair): Promise<void> {
    const { nameToReach } = await import("../../tls/key-pair.ts");
    this.#name = nameToReach(pair, this.#options);
    this.#pair = pair;
    for (const worker of this.#workers) worker.certify(pair);
  }

  async listen(): Promise<ListenerAddress> {
    await listenOn(this.#server, this.#options.host, this.#options.port);
    for (let count = 0; count < this.#options.workers; count += 1) this.#start();
    await this.#until(
      () => this.#workers.size === this.#options.workers && Array.from(this.#workers).every((worker) => worker.isReady),
      START_MS,
    ).catch(async () => {
      await this.close();
      throw new OptionError(
        "The workers of the HTTP endpoint do not start; the log has the reason. " +
          "Set `server.workers` to 1 to do without them.",
      );
    });
    this.#address = addressOf(this.#server.address() as AddressInfo, this.#options, this.#name);
    return this.#address;
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  served(...request: Parameters<WorkerOwner["served"]>): void {
    this.#dispatcher.serve(...request);
  }

  async who(question: CallerQuestion): Promise<Authentication> {
    try {
      return await this.#authenticator.authenticate(credentialsOf(question), question.mount);
    } catch (error) {
      this.#logger.error("The caller could not be authenticated.", { error: messageOf(error) });
      return {
        admitted: false,
        message: "The caller could not be authenticated. Try again later.",
        challenge: "Bearer",
      };
    }
  }

  logged({ level, message, facts }: LogHead): void {
    this.#logger[level](message, facts);
  }

  hasRoom(): void {
    for (const socket of this.#unserved) {
      const worker = this.#freest();
      if (!worker) break;
      this.#unserved.delete(socket);
      if (!socket.destroyed) worker.give(socket);
    }
    this.#onChange();
  }

  ended(worker: WorkerProcess, { code, signal, left }: Parameters<WorkerOwner["ended"]>[1]): void {
    this.#workers.delete(worker);
    if (this.#closing.signal.aborted) {
      for (const socket of left) socket.destroy();
      return this.#onChange();
    }
    for (const socket of left) this.#accepted(socket);
    const delayMs = worker.hasServed ? 0 : this.#delayMs;
    this.#delayMs = worker.hasServed ? MIN_DELAY_MS : Math.min(this.#delayMs * 2, MAX_DELAY_MS);
    this.#logger.warning("A worker of the HTTP endpoint has ended; another one replaces it.", {
      pid: worker.pid ?? null,
      code,
      signal,
    });
    const timer = setTimeout(() => {
      this.#restarts.delete(timer);
      this.#start();
    }, delayMs);
    this.#restarts.add(timer);
  }

  #start(): void {
    const { limits, workers } = this.#options;
    const settings = {
      // Limits for all clients together are divided among the workers.
      options: {
        ...this.#options,
        tokens: [],
        limits: { ...limits, maxArrivingBytes: Math.ceil(limits.maxArrivingBytes / workers) },
      },
      routes: this.#routes,
      ...(this.#pair && { pair: this.#pair }),
    };
    this.#workers.add(new WorkerProcess(settings, this));
  }

  #accepted(socket: Socket): void {
    socket.on("error", () => {});
    const open = Array.from(this.#workers).reduce((sum, { load }) => sum + load, this.#unserved.size);
    if (this.#closing.signal.aborted || open >= this.#options.limits.maxConnections) return void socket.destroy();
    const worker = this.#freest();
    if (worker) return worker.give(socket);
    this.#unserved.add(socket);
    socket.once("close", () => this.#unserved.delete(socket));
  }

  #freest(): WorkerProcess | undefined {
    let freest: WorkerProcess | undefined;
    for (const worker of this.#workers) if (worker.isReady && (!freest || worker.load < freest.load)) freest = worker;
    return freest;
  }

  async #close(): Promise<void> {
    this.#closing.abort();
    this.#server.close();
    for (const timer of this.#restarts) clearTimeout(timer);
    for (const socket of this.#unserved) socket.destroy();
    for (const worker of this.#workers) worker.close();
    const areGone = (): boolean => this.#workers.size === 0;
    await this.#until(areGone, this.#options.limits.shutdownGraceMs + EXIT_MS).catch(() => {
      for (const worker of this.#workers) worker.kill();
    });
    await this.#until(areGone, EXIT_MS).catch(() => {});
  }

  /**
   * Resolves when `isSo` returns true. `isSo` is called each time a worker starts or exits. Rejects after `withinMs`
   * milliseconds.
   */
  #until(isSo: () => boolean, withinMs: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error("It took too long.")), withinMs);
      this.#onChange = () => {
        if (!isSo()) return;
        clearTimeout(timer);
        this.#onChange = () => {};
        resolve();
      };
      this.#onChange();
    });
  }
}

function credentialsOf({ authorization, proven }: CallerQuestion): Credentials {
  const headers: Readonly<Record<string, string | undefined>> = { authorization, dpop: proven?.proof };
  return {
    header: (name) => headers[name] || undefined,
    ...(proven && { method: proven.method, target: proven.target }),
  };
}

function refusalTexts(refusalBody: RefusalBody): Record<number, string> {
  return Object.fromEntries(REFUSAL_STATUSES.map((status) => [status, refusalBody(new Refusal(status, REFUSAL_MARK))]));
}
