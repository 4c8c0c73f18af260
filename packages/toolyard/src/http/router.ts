import type { HttpExchange } from "./exchange.ts";
import type { Refusal } from "./answer/refusal.ts";

/**
 * Answers one request. The listener answers its exceptions: a `Refusal` as it specifies, any other with 500 and an
 * error id.
 */
export type Handler = (exchange: HttpExchange) => void | Promise<void>;

/** Stands for all methods. All methods then reach the handler, which reports those that it supports. */
export const EVERY_METHOD = "*";

/** Methods that are reported to a browser instead of the supported methods, if these must not be revealed. */
export const USUAL_METHODS: readonly string[] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/** Path and methods of a handler. */
export interface RoutePlace {
  /**
   * Methods of the handler; other methods are answered with 405. `EVERY_METHOD` as the only entry means all methods.
   */
  readonly methods: readonly string[];
  /** Path of the handler. A path that ends with `/*` matches all paths below it. */
  readonly path: string;
  /** True if requests need no authentication. The handler then checks access itself. @default false */
  readonly isOpen?: boolean;
  /** True if pages of every origin may read the answers, regardless of `server.cors_origins`. @default false */
  readonly isShared?: boolean;
  /**
   * True to serve the path at the root too, if the hub has a base path: a probe may be on either side of a proxy.
   * @default false
   */
  readonly isAtRoot?: boolean;
  /**
   * Location, relative to the path, to which a browser is redirected that opens the path without credentials. Programs
   * get 401. It is data, not a function, because workers get a copy. @default every caller gets 401
   */
  readonly signInAt?: string;
}

export interface Route {
  readonly methods: readonly string[];
  /** Path with which the route was added, without `/*`. */
  readonly mount: string;
  readonly isOpen: boolean;
  readonly isShared: boolean;
  readonly isAtRoot: boolean;
  readonly signInAt?: string;
  readonly handler: Handler;
  readonly refusalBody?: RefusalBody;
}

/** Formats the JSON text of a refusal on the paths of an endpoint. */
export type RefusalBody = (refusal: Refusal) => string;

/**
 * Finds the handler of a path. A path that ends with `/*` matches all paths below it. An exact path has precedence,
 * then the longest path.
 */
export class Router {
  readonly #exact = new Map<string, Route>();
  #below: { readonly prefix: string; readonly route: Route }[] = [];

  add(place: RoutePlace, handler: Handler, refusalBody?: RefusalBody): void {
    const { methods, path, isOpen = false, isShared = false, isAtRoot = false, signInAt } = place;
    const mount = path.replace(/\/\*$/, "");
    const further = { ...(signInAt !== undefined && { signInAt }), ...(refusalBody && { refusalBody }) };
    const route: Route = { methods, mount, isOpen, isShared, isAtRoot, handler, ...further };
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
