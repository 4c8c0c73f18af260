import type { IncomingMessage } from "node:http";
import type { Authenticator } from "../../../core/ports/authenticator.ts";
import type { Logger } from "../../../core/ports/ports.ts";
import { findGivenHeadFault } from "../../request/head-limits.ts";
import type { HttpOptions } from "../../options.ts";
import { PortlessListener } from "../../listening/portless-listener.ts";
import {
  HandedWire,
  readHanded,
  type GivenRequest,
  type GivenResponse,
  type FrameworkRequest,
} from "./framework-request.ts";
import type { WireOwner } from "./wire.ts";

/**
 * Answers a request of Node's server, for Express, Fastify and `node:http`. `next` is what Express gives: it is called
 * for a path that is not the hub's. Throws a `TypeError` for a request of another kind.
 */
export type NodeRequestHandler = (
  request: GivenRequest,
  response: GivenResponse,
  next?: (error?: unknown) => void,
) => void;

/** A listener without a port, for servers of Node's that belong to the program. */
export class HandlerListener extends PortlessListener<HandedWire> implements WireOwner {
  readonly streamStallMs: number;
  #ready: Promise<unknown> | undefined;

  constructor(options: HttpOptions, logger: Logger, authenticator: Authenticator) {
    super(options, logger, authenticator);
    this.streamStallMs = this.limits.streamStallMs;
  }

  /** Requests wait for it: the doors are mounted by then. */
  waitFor(ready: Promise<unknown>): void {
    void this.#settle(ready);
  }

  async #settle(ready: Promise<unknown>): Promise<void> {
    this.#ready = ready;
    // Whoever waits for it hears of a failure, now and later.
    const isOpen = await ready.then(
      () => true,
      () => false,
    );
    if (isOpen) this.#ready = undefined;
  }

  readonly handle: NodeRequestHandler = (request, response, next) => {
    const handed = readHanded(request, response);
    if (this.#ready === undefined) return this.#takeOwn(handed, next);
    void this.#takeLate(handed, next);
  };

  protected override stop(wire: HandedWire): void {
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
    // Whoever went away meanwhile is not told of any more.
    if (response.destroyed) return;
    const url = request.url ?? "/";
    // A router that mounts at `/mcp` leaves `/` in `url`; one that mounts at a path of its own leaves the hub's.
    const target = wholeUrl !== undefined && this.dispatcher.isOwn(wholeUrl) ? wholeUrl : url;
    if (next && !this.dispatcher.isOwn(target)) return next();
    const wire = new HandedWire(handed, target, this);
    this.take(wire, wire, findGivenHeadFault(request.rawHeaders, keptFieldsOf(request)));
  }
}

/** Header fields that Node's server keeps unless the program sets `maxHeadersCount`. */
const USUAL_KEPT_FIELDS = 2000;

/** Header fields that the server of the program keeps of a request; 0 is no limit. */
function keptFieldsOf({ socket }: IncomingMessage): number {
  const { server } = socket as { readonly server?: { readonly maxHeadersCount?: number | null } };
  return server?.maxHeadersCount ?? USUAL_KEPT_FIELDS;
}
