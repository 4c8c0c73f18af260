// The asking servers of a test report their events here and wait for releases, so that no test depends on durations.
import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { createInterface } from "node:readline";

export type StageEventName = "started" | "began" | "asked" | "answered" | "cancelled" | "ended";

export interface StageEvent {
  /** Server instance: one per process, or one per connection over HTTP+SSE. */
  readonly instance: string;
  readonly event: StageEventName;
  readonly tag?: string;
  readonly question?: string;
  readonly answer?: string;
}

/** Time limit of each wait in these tests. A wait that fails reports its subject. */
const PATIENCE_MS = 10_000;

export class Stage implements AsyncDisposable {
  /** All reported events, in order. */
  readonly events: StageEvent[] = [];
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #released: string[] = [];
  #waiting: (() => void)[] = [];

  private constructor(server: Server) {
    this.#server = server;
    server.on("connection", (socket) => this.#accept(socket));
  }

  static async open(): Promise<Stage> {
    const server = createServer();
    const stage = new Stage(server);
    await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
    return stage;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Releases the call with this tag, also before it waits. */
  release(tag: string): void {
    this.#released.push(tag);
    for (const socket of this.#sockets) socket.write(`${JSON.stringify({ release: tag })}\n`);
  }

  /** Resolves with the event of this call, past or future. */
  async reached(event: StageEventName, tag: string): Promise<StageEvent> {
    return this.find(`${event} ${tag}`, (one) => one.event === event && one.tag === tag);
  }

  /** Resolves when the server no longer works on this call, because of a cancellation or its exit. */
  async over(tag: string): Promise<StageEvent> {
    return this.find(
      `the end of ${tag}`,
      (one) => (one.event === "cancelled" || one.event === "ended") && one.tag === tag,
    );
  }

  async find(what: string, isWanted: (event: StageEvent) => boolean): Promise<StageEvent> {
    const patientUntil = performance.now() + PATIENCE_MS;
    for (;;) {
      const found = this.events.find(isWanted);
      if (found) return found;
      if (performance.now() > patientUntil)
        throw new Error(`No event ${what} arrived. Events so far: ${this.told().join(", ")}`);
      await this.#next();
    }
  }

  /** Returns the events as text, for messages and for comparing orders. */
  told(): string[] {
    return this.events.map(({ event, tag, question, answer }) =>
      [event, question ?? tag, answer].filter((word) => word !== undefined).join(" "),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise<void>((resolve) => void this.#server.close(() => resolve()));
  }

  #accept(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => this.#sockets.delete(socket));
    for (const tag of this.#released) socket.write(`${JSON.stringify({ release: tag })}\n`);
    createInterface({ input: socket }).on("line", (line) => {
      this.events.push(JSON.parse(line) as StageEvent);
      for (const wake of this.#waiting.splice(0)) wake();
    });
  }

  #next(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, 500);
      this.#waiting.push(() => (clearTimeout(timer), resolve()));
    });
  }
}
