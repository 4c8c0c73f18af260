import type { HttpExchange } from "./exchange.ts";
import type { Refusal } from "./answer/refusal.ts";

/**
 * Answers one request. What it throws is answered by the listener: a `Refusal` as it says, anything else as 500 with an
 * error id.
 */
export type Handler = (exchange: HttpExchange) => void | Promise<void>;

/** In place of methods: all of them come to the handler, which says which it has. */
export const EVERY_METHOD = "*";

/** What a browser is told of where nothing may be told. */
export const USUAL_METHODS: readonly string[] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/** What a handler is for. */
export interface RoutePlace {
  /** Others are answered 405; `EVERY_METHOD` alone stands for all. */
  readonly methods: readonly string[];
  /** One that ends in `/*` takes everything below it. */
  readonly path: string;
  /** Whoever comes is let in, as nobody in particular; what is asked for has to say whose it is. @default false */
  readonly isOpen?: boolean;
}

export interface Route {
  readonly methods: readonly string[];
  readonly isOpen: boolean;
  readonly handler: Handler;
  readonly refusalBody?: RefusalBody;
}

/** The JSON text that says a refusal on a door's paths. */
export type RefusalBody = (refusal: Refusal) => string;

/**
 * Which handler a path belongs to. A path that ends in `/*` takes everything below it; an exact path goes first, then
 * the longest.
 */
export class Router {
  readonly #exact = new Map<string, Route>();
  #below: { readonly prefix: string; readonly route: Route }[] = [];

  add({ methods, path, isOpen = false }: RoutePlace, handler: Handler, refusalBody?: RefusalBody): void {
    const route: Route = { methods, isOpen, handler, ...(refusalBody && { refusalBody }) };
    if (!path.endsWith("/*")) return this.#addExact(path, route);
    const prefix = path.slice(0, -1);
    if (this.#below.some((entry) => entry.prefix === prefix)) throw new Error(`Two handlers want the path ${path}.`);
    this.#below = [...this.#below, { prefix, route }].toSorted((a, b) => b.prefix.length - a.prefix.length);
  }

  find(path: string): Route | undefined {
    return (
      this.#exact.get(path) ??
      this.#exact.get(withoutEndSlash(path)) ??
      this.#below.find(({ prefix }) => path.startsWith(prefix))?.route
    );
  }

  #addExact(path: string, route: Route): void {
    if (this.#exact.has(path)) throw new Error(`Two handlers want the path ${path}.`);
    this.#exact.set(path, route);
  }
}

function withoutEndSlash(path: string): string {
  return path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path;
}
