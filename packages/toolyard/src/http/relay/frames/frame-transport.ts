import type { HttpExchange } from "../../exchange.ts";
import type { ForwardResult } from "../forwarding.ts";
import { FrameClient, type FramedMessage } from "./frame-client.ts";
import type { Handshakes } from "./handshake.ts";
import { openSocket } from "./open-socket.ts";

/** Hub that answers a request. */
export interface OtherHub {
  readonly hub: string;
  /** Base URL that the hub announces. */
  readonly url: string;
}

/** Milliseconds after which a hub that refused a connection with frames is asked again. */
const REFUSED_MS = 30_000;
/** Maximum number of hubs with a recorded connection or refusal. */
const MAX_HUBS = 4096;

type Opening = "gone" | "unsent" | "refused";

interface HubLink {
  readonly url: string;
  /** Connection, or the reason why there is none. */
  readonly opened: Promise<FrameClient | Opening>;
  /** Set when the connection is open, so that a request need not wait for a promise. */
  client: FrameClient | undefined;
  /** Time until which the hub is not asked for another connection, on the clock of `performance.now()`. */
  refusedUntil: number;
}

/**
 * Passes requests to other hubs, on one connection for each hub. A frame on this connection costs less than a separate
 * HTTP request.
 */
export class FrameTransport {
  readonly #handshakes: Handshakes;
  readonly #links = new Map<string, HubLink>();

  constructor(handshakes: Handshakes) {
    this.#handshakes = handshakes;
  }

  /**
   * Passes a request to a hub. The answer goes to the caller. Resolves to `undefined` if the request must be sent in
   * another way, because the hub refuses connections with frames or the connection has no room.
   */
  forward(http: HttpExchange, to: OtherHub, message: FramedMessage): Promise<ForwardResult | undefined> {
    const link = this.#linkTo(to);
    return link.client?.isUsable ? link.client.forward(http, message) : this.#forwardLate(http, link, message);
  }

  close(): void {
    for (const link of this.#links.values()) link.client?.close();
    this.#links.clear();
  }

  async #forwardLate(http: HttpExchange, link: HubLink, message: FramedMessage): Promise<ForwardResult | undefined> {
    const opened = await link.opened;
    if (opened === "refused") return undefined;
    if (typeof opened === "string") return opened;
    return opened.forward(http, message);
  }

  #linkTo({ hub, url }: OtherHub): HubLink {
    const known = this.#links.get(hub);
    if (known?.url === url && (known.client?.isUsable ?? performance.now() < known.refusedUntil)) return known;
    // Running requests are still answered on the previous connection.
    known?.client?.leave();
    if (this.#links.size >= MAX_HUBS) this.#links.delete(this.#links.keys().next().value!);
    const link: HubLink = { url, opened: this.#open(hub, url), client: undefined, refusedUntil: Infinity };
    this.#links.set(hub, link);
    void link.opened.then((opened) => this.#settle(hub, link, opened));
    return link;
  }

  #settle(hub: string, link: HubLink, opened: FrameClient | Opening): void {
    link.refusedUntil = performance.now() + REFUSED_MS;
    if (opened instanceof FrameClient) {
      link.client = opened;
      if (this.#links.get(hub) !== link) opened.leave();
    } else if (opened !== "refused" && this.#links.get(hub) === link) this.#links.delete(hub);
  }

  async #open(hub: string, url: string): Promise<FrameClient | Opening> {
    const { hello, finish } = this.#handshakes.start(hub);
    const opened = await openSocket(url, hello);
    if (opened.type !== "open") return opened.type === "unreached" ? "unsent" : opened.type;
    const keys = finish(opened.reply);
    if (keys) return new FrameClient(opened.socket, keys, opened.rest);
    opened.socket.destroy();
    return "refused";
  }
}
