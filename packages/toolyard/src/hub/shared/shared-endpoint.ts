import { chmod, rm } from "node:fs/promises";
import { createServer, type Server, type Socket } from "node:net";
import { messageOf } from "../../core/errors.ts";
import { AUDIT, PROFILES } from "../../core/services.ts";
import { getService } from "../../kernel/start-features.ts";
import { createProtocolSink } from "../../process/stdout-guard.ts";
import { withFileLock } from "../../files/file-lock.ts";
import type { Hub } from "../hub.ts";
import type { ServerConfig } from "../serve/endpoints.ts";
import type { FirstCaller } from "../serve/first-caller.ts";
import type { ServedHub } from "../serve/serve.ts";
import type { Hello, HubCommand } from "./greeting.ts";
import { adoptEnvironment } from "./client-environment.ts";
import { tryConnect } from "./connect.ts";
import type { SharedPlace } from "./place.ts";
import { STOPPED_LINE } from "./stopped-line.ts";

export interface SharedEndpointOptions {
  readonly hub: Hub;
  readonly place: SharedPlace;
  /** Returns the identity of the hub's configuration, after changes of its files were applied. */
  readonly identity: () => Promise<string>;
  /** Returns the current `[server]` settings. */
  readonly server: () => ServerConfig;
  readonly firstCaller?: FirstCaller;
  /** True if the process also serves HTTP. */
  readonly isBesideHttp: boolean;
  /** Ends the process properly. Called by `toolyard stop`. */
  readonly onStop: () => void;
}

/** Maximum number of concurrent clients of one user. Each is a process. */
const MAX_CLIENTS = 1000;
const SOCKET_MODE = 0o600;

/**
 * Opens the socket at which the clients of one user join this hub. Each has a separate MCP connection. Resolves with
 * `undefined` if another hub of the same files has the socket.
 */
export async function openSharedEndpoint(options: SharedEndpointOptions): Promise<SharedEndpoint | undefined> {
  const { place } = options;
  return withFileLock(place.lock, () => listenIfFree(options));
}

/** Opens the socket for a caller that holds the lock of the place. */
export async function listenIfFree(options: SharedEndpointOptions): Promise<SharedEndpoint | undefined> {
  const { socket: path } = options.place;
  const other = await tryConnect(path);
  if (other) {
    other.destroy();
    return undefined;
  }
  const endpoint = new SharedEndpoint(options);
  // The socket file is removed first, because a killed hub leaves it.
  if (process.platform !== "win32") await rm(path, { force: true });
  await endpoint.listen(path);
  return endpoint;
}

export class SharedEndpoint {
  readonly #options: SharedEndpointOptions;
  readonly #server: Server;
  readonly #clients = new Map<ServedHub, Socket>();
  readonly #sockets = new Set<Socket>();
  #onCount: () => void = () => {};
  #closed: Promise<void> | undefined;

  constructor(options: SharedEndpointOptions) {
    this.#options = options;
    // A client that closes its side of the connection still gets the pending answers.
    this.#server = createServer({ allowHalfOpen: true }, (socket) => this.#take(socket));
    this.#server.maxConnections = MAX_CLIENTS;
  }

  async listen(path: string): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen(path, () => {
        this.#server.off("error", reject);
        resolve();
      });
    });
    if (process.platform !== "win32") await chmod(path, SOCKET_MODE);
  }

  /** Resolves when no client was connected for `lingerMs`, counted from now or from the last disconnection. */
  unused(lingerMs: number): Promise<void> {
    return new Promise((resolve) => {
      let timer: NodeJS.Timeout | undefined;
      this.#onCount = () => {
        clearTimeout(timer);
        if (this.#sockets.size === 0) timer = setTimeout(resolve, lingerMs);
      };
      this.#onCount();
    });
  }

  /** Refuses new clients, answers running requests, and closes all connections. Idempotent. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.#onCount = () => {};
    const ended = new Promise<void>((resolve) => void this.#server.close(() => resolve()));
    const clients = [...this.#clients.keys()];
    this.#clients.clear();
    await Promise.all(clients.map((client) => client.close()));
    for (const socket of this.#sockets) socket.destroy();
    await ended;
  }

  #take(socket: Socket): void {
    this.#sockets.add(socket);
    this.#onCount();
    socket.on("error", () => {});
    socket.once("close", () => {
      this.#sockets.delete(socket);
      this.#onCount();
    });
    this.#welcome(socket).catch((error: unknown) => {
      this.#options.hub.logger.error("A client could not be served.", { error: messageOf(error) });
      socket.destroy();
    });
  }

  async #welcome(socket: Socket): Promise<void> {
    // The code is loaded by the first client.
    const { readCommand, readGreeting, readHello } = await import("./greeting.ts");
    if (socket.destroyed) return;
    const greeting = await readGreeting(socket);
    if (typeof greeting === "string" || this.#closed) return void socket.destroy();
    const command = readCommand(greeting);
    if (command) return this.#answer(socket, command);
    const hello = readHello(greeting);
    if (!hello) return void socket.destroy();
    await this.#join(socket, hello);
  }

  async #join(socket: Socket, hello: Hello): Promise<void> {
    const { writeGreeting } = await import("./greeting.ts");
    const { hub, identity } = this.#options;
    const refusal =
      (await identity().then(
        (own) => (own === hello.identity ? undefined : "its configuration, or the values of its variables, differ"),
        () => "its configuration cannot be read at the moment",
      )) ?? profileRefusal(hub, hello);
    if (refusal !== undefined || this.#closed) {
      writeGreeting(socket, { refused: refusal ?? "it is ending" });
      return void socket.end();
    }
    if (hello.environment) await adoptEnvironment(hub, hello.environment);
    writeGreeting(socket, { joined: true, pid: process.pid });
    hub.logger.info("A client has joined.", { clients: this.#clients.size + 1 });
    await this.#serve(socket, hello);
    hub.logger.info("A client has left.", { clients: this.#clients.size });
  }

  /** Answers a command of this user. The answer is sent before the hub ends. */
  async #answer(socket: Socket, command: HubCommand): Promise<void> {
    const { hub, isBesideHttp, onStop } = this.#options;
    const { commandAnswer } = await import("./commands.ts");
    const answer = await commandAnswer(hub, command, { clients: this.#clients.size, isBesideHttp });
    await new Promise<void>((resolve) => void socket.end(`${answer}\n`, () => resolve()));
    if (command !== "stop") return;
    hub.logger.info("`toolyard stop` ends this hub.", { clients: this.#clients.size });
    getService(hub.services, AUDIT).record({ event: "administration", action: "stop", endpoint: "shared", kind: "ok" });
    for (const client of this.#clients.values()) client.write(`${STOPPED_LINE}\n`);
    onStop();
  }

  async #serve(socket: Socket, { mode, era, profile, deny }: Hello): Promise<void> {
    const { hub, server, firstCaller } = this.#options;
    const config = {
      ...server(),
      ...(mode === undefined ? {} : { tool_mode: mode }),
      ...(era === undefined ? {} : { era }),
    };
    // The code is loaded by the first client.
    const { serveStdio } = await import("../serve/serve-stdio.ts");
    const served = serveStdio(hub, config, {
      input: socket,
      output: { sink: createProtocolSink(socket), release: () => {} },
      ...(firstCaller ? { firstCaller } : {}),
      ...(profile === undefined ? {} : { profile }),
      isModeNamed: mode !== undefined,
      ...(deny ? { deny } : {}),
    });
    this.#clients.set(served, socket);
    // The socket is resumed only when the endpoint reads from it, because data that arrive earlier would be lost.
    await served.done;
    if (this.#clients.delete(served)) await served.close();
    socket.end();
  }
}

/** Returns the reason why a client cannot get the profile that it requests. */
function profileRefusal({ services }: Hub, { profile }: Hello): string | undefined {
  if (profile === undefined || getService(services, PROFILES).find(profile)) return undefined;
  return `it has no profile \`${profile}\``;
}
