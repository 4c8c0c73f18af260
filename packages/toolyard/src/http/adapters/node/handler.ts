import type { IncomingMessage } from "node:http";
import type { Authenticator } from "../../../core/ports/authenticator.ts";
import type { Logger } from "../../../core/ports/ports.ts";
import { findGivenHeadFault } from "../../request/head-limits.ts";
import type { HttpOptions } from "../../options.ts";
import { PortlessListener } from "../../listening/portless-listener.ts";
import {
  FrameworkWire,
  readFrameworkRequest,
  type GivenRequest,
  type GivenResponse,
  type FrameworkRequest,
} from "./framework-request.ts";
import type { WireOwner } from "./wire.ts";

/**
 * Answers a request of Node's server, for Express, Fastify and `node:http`. Express supplies `next`, which is called
 * for a path that does not belong to the hub. Throws a `TypeError` for a request of another type.
 */
export type NodeRequestHandler = (
  request: GivenRequest,
  response: GivenResponse,
  next?: (error?: unknown) => void,
) => void;

/** Listener without a port, for Node servers that belong to the program. */
export class HandlerListener extends PortlessListener<FrameworkWire> implements WireOwner {
  readonly streamStallMs: number;
  #ready: Promise<unknown> | undefined;

  constructor(options: HttpOptions, logger: Logger, authenticator: Authenticator) {
    super(options, logger, authenticator);
    this.streamStallMs = this.limits.streamStallMs;
  }

  /** Makes requests wait for `ready`, which resolves when the endpoints are mounted. */
  waitFor(ready: Promise<unknown>): void {
    void this.#settle(ready);
  }

  async #settle(ready: Promise<unknown>): Promise<void> {
    this.#ready = ready;
    // The caller of this function handles a failure of `ready`.
    const isOpen = await ready.then(
      () => true,
      () => false,
    );
    if (isOpen) this.#ready = undefined;
  }

  readonly handle: NodeRequestHandler = (request, response, next) => {
    const handed = readFrameworkRequest(request, response);
    if (this.#ready === undefined) return this.#takeOwn(handed, next);
    void this.#takeLate(handed, next);
  };

  protected override stop(wire: FrameworkWire): void {
    wire.cut();
  }

  async #takeLate(handed: FrameworkRequest, next?: (error?: unknown) => void): Promise<void> {
    try {
      await this.#ready;
      this.#takeOwn(handed, next);
    } catch (error) {
      if (next) return next(error);
      handed.response.writeHead(500).end();
    }
  }

  #takeOwn(handed: FrameworkRequest, next?: (error?: unknown) => void): void {
    const { wholeUrl, request, response } = handed;
    // A client that has disconnected meanwhile gets no answer.
    if (response.destroyed) return;
    const url = request.url ?? "/";
    // A router at `/mcp` sets `url` to `/`, so the original URL is used. A router at another path sets `url` to the
    // hub's path, so `url` is used.
    const target = wholeUrl !== undefined && this.dispatcher.isOwn(wholeUrl) ? wholeUrl : url;
    if (next && !this.dispatcher.isOwn(target)) return next();
    const wire = new FrameworkWire(handed, target, this);
    this.take(wire, wire, findGivenHeadFault(request.rawHeaders, keptFieldsOf(request)));
  }
}

/** Number of header fields that Node's server keeps if the program does not set `maxHeadersCount`. */
const USUAL_KEPT_FIELDS = 2000;

/** Returns the number of header fields that the program's server keeps. 0 means no limit. */
function keptFieldsOf({ socket }: IncomingMessage): number {
  const { server } = socket as { readonly server?: { readonly maxHeadersCount?: number | null } };
  return server?.maxHeadersCount ?? USUAL_KEPT_FIELDS;
}
