import { Late } from "../core/late.ts";
import type { HttpExchange } from "../http/exchange.ts";
import type { Mountable } from "../http/listening/listener.ts";
import { EVERY_METHOD, type Handler, type RefusalBody, type RoutePlace } from "../http/router.ts";
import type { Endpoint } from "./endpoint.ts";

export interface LateEndpointParts {
  /** All paths that the endpoint will mount, known from its options. */
  readonly places: readonly RoutePlace[];
  /** Formats refusals at these paths while the endpoint is not loaded. */
  readonly refusalBody?: RefusalBody;
  readonly load: () => Promise<Endpoint>;
}

/**
 * Endpoint whose code is loaded by the first request to one of its paths, because most hubs use few of their endpoints.
 */
export class LateEndpoint implements Endpoint {
  readonly #parts: LateEndpointParts;
  readonly #handlers = new Map<string, Handler>();
  readonly #late = new Late(() => this.#load());
  #endpoint: Endpoint | undefined;
  #hasGivenUp = false;
  #isClosed = false;

  constructor(parts: LateEndpointParts) {
    this.#parts = parts;
  }

  mount(listener: Mountable): void {
    const { places, refusalBody } = this.#parts;
    for (const place of places) {
      const serve: Handler = (exchange) => {
        const handler = this.#handlers.get(place.path);
        return handler ? handler(exchange) : this.#serve(place, exchange);
      };
      // The refusal must look like that of an unknown path, because the loaded endpoint may hide this path from the
      // caller.
      const isPlain = !place.methods.includes(EVERY_METHOD);
      listener.route(place, serve, isPlain ? refusalBody : undefined);
    }
  }

  giveUp(): void {
    this.#hasGivenUp = true;
    this.#endpoint?.giveUp();
  }

  close(): void {
    this.#isClosed = true;
    this.#endpoint?.close();
  }

  async #serve({ path }: RoutePlace, exchange: HttpExchange): Promise<void> {
    await this.#late.get();
    await this.#handlers.get(path)?.(exchange);
  }

  async #load(): Promise<Endpoint> {
    const endpoint = await this.#parts.load();
    const mounted = new Map<string, Handler>();
    endpoint.mount({ route: ({ path }, handler) => void mounted.set(path, handler) });
    const missing = this.#parts.places.find(({ path }) => !mounted.has(path));
    if (missing) throw new Error(`Nothing was mounted at ${missing.path}.`);
    for (const [path, handler] of mounted) this.#handlers.set(path, handler);
    this.#endpoint = endpoint;
    if (this.#hasGivenUp) endpoint.giveUp();
    if (this.#isClosed) endpoint.close();
    return endpoint;
  }
}
