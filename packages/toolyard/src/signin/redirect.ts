import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { OptionError } from "../core/errors.ts";
import { LOOPBACK_NAMES } from "../core/uris/loopback.ts";
import type { BrowserGuard } from "./browser-guard.ts";
import { page, type SignInPage, type PageRequest } from "../core/ports/sign-in-coordinator.ts";
import { escaped, write } from "./page.ts";

export interface RedirectOptions {
  readonly host: "127.0.0.1" | "localhost";
  /** Port that is tried first. */
  readonly port?: number | undefined;
  /** True: if the port is taken, no other port is tried. */
  readonly isFixed: boolean;
}

/** The message for the user in the browser. */
export interface RedirectMessage {
  readonly ok: boolean;
  readonly text: string;
}

export interface Handlers {
  readonly onRedirect: OnRedirect;
  /** Returns whether the parameters of a redirect belong to this sign-in. */
  readonly isAnswer: (parameters: URLSearchParams) => boolean;
  /** Present: only the browser in which the user entered the code may complete the sign-in. */
  readonly guard?: BrowserGuard | undefined;
  /** Called when a newer sign-in takes over the address. This sign-in then gets no response. */
  readonly onDisplaced?: () => void;
}

/** The address to which a browser returns. */
export interface RedirectPlace {
  readonly uri: string;
  /** Returns the address of another page of the same listener. */
  at(path: string): string;
  /** Sets the state by which responses are recognized. */
  expects?(state: string): Promise<void>;
  close(): Promise<void>;
}

export type OpenPlace = (handlers: Handlers) => Promise<RedirectPlace>;

/** Handles a browser's redirect; `undefined` if it belongs to no sign-in of this listener. */
export type OnRedirect = (parameters: URLSearchParams) => Promise<RedirectMessage> | undefined;

const PATH = "/callback";
const MAX_CONNECTIONS = 16;
const MAX_URL_CHARS = 16 * 1024;

/** A listener on this machine to which a browser returns (RFC 8252, 7.3). */
export class RedirectListener implements RedirectPlace {
  readonly uri: string;
  readonly #servers: readonly Server[];

  private constructor(uri: string, servers: readonly Server[]) {
    this.uri = uri;
    this.#servers = servers;
  }

  /** Opens the listener. Rejects with an `OptionError` if a fixed port is taken. */
  static async open({ host, port, isFixed }: RedirectOptions, handlers: Handlers): Promise<RedirectPlace> {
    const listen = (at: string, on: number): Promise<Server | undefined> => listenAt(at, on, handlers);
    let server = await listen("127.0.0.1", port ?? 0);
    if (!server && isFixed)
      throw new OptionError(
        `Port ${port} of this machine is in use, but the browser must return to it. Stop the program that ` +
          "uses it, or set another `redirect_port` in `auth`.",
      );
    server ??= await listen("127.0.0.1", 0);
    if (!server) throw new OptionError("No port of 127.0.0.1 can be listened on.");
    const { port: own } = server.address() as AddressInfo;
    // Listens on both addresses of `localhost`, because the browser may connect to either.
    const other = host === "localhost" ? await listen("::1", own) : undefined;
    return new RedirectListener(`http://${host}:${own}${PATH}`, other ? [server, other] : [server]);
  }

  at(path: string): string {
    return new URL(path, this.uri).href;
  }

  async close(): Promise<void> {
    await Promise.all(
      this.#servers.map(async (server) => {
        const closed = new Promise<void>((resolve) => void server.close(() => resolve()));
        server.closeIdleConnections();
        setTimeout(() => server.closeAllConnections(), LINGER_MS).unref();
        await closed;
      }),
    );
  }
}

/** Time in milliseconds for a browser to load the last page. */
const LINGER_MS = 500;

function listenAt(host: string, port: number, handlers: Handlers): Promise<Server | undefined> {
  const server = createServer({ maxHeaderSize: MAX_URL_CHARS }, (request, response) => {
    answer(request, response, handlers).catch(() => response.destroy());
  });
  server.maxConnections = MAX_CONNECTIONS;
  return new Promise((resolve) => {
    server.once("error", () => resolve(undefined));
    server.listen(port, host, () => resolve(server));
  });
}

async function answer(request: IncomingMessage, response: ServerResponse, handlers: Handlers): Promise<void> {
  const { pathname: path, searchParams: query } = new URL(request.url ?? "/", "http://localhost");
  // Other hosts are refused, because a website may have made its own name resolve to this machine (DNS rebinding).
  if (!isOwnHost(request.headers.host, request.socket.localPort))
    return write(response, page(403, "<p>This address is wrong."));
  const { method = "", headers } = request;
  const asked: PageRequest = { method, path, query, cookie: headers.cookie, body: () => bodyOf(request) };
  const { guard } = handlers;
  if (guard && path === guard.path) return write(response, await guard.serve(asked));
  if (method !== "GET" || path !== PATH) return write(response, page(404, "<p>There is nothing here."));
  write(response, await (takeBack(asked, handlers) ?? page(400, STRAY)));
}

export const STRAY = "<p>No sign-in waits for this response. Start the sign-in again.";

/** Handles a browser's redirect; `undefined` if it belongs to no sign-in of these handlers. */
export function takeBack(
  request: PageRequest,
  { onRedirect, guard, isAnswer }: Handlers,
): Promise<SignInPage> | undefined {
  if (!isAnswer(request.query)) return undefined;
  if (guard && !guard.admits(request))
    return Promise.resolve(page(403, "<p>This sign-in was started in another browser. Finish it there."));
  return onRedirect(request.query)?.then(({ ok, text }) => page(ok ? 200 : 400, `<p>${escaped(text)}`));
}

function isOwnHost(host: string | undefined, port: number | undefined): boolean {
  return LOOPBACK_NAMES.some((name) => host?.toLowerCase() === `${name}:${port}`);
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let body = "";
  for await (const chunk of request) {
    body += String(chunk);
    if (body.length > MAX_BODY_BYTES) return "";
  }
  return body;
}

const MAX_BODY_BYTES = 1024;
