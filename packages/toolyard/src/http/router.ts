import type { HttpExchange } from "./exchange.ts";
import type { Refusal } from "./answer/refusal.ts";

/**
 * Answers one request. The listener answers its errors: a `Refusal` as it specifies, any other as 500 with an error id.
 */
export type Handler = (exchange: HttpExchange) => void | Promise<void>;

/** Used instead of methods: all methods reach the handler, which names those that it supports. */
export const EVERY_METHOD = "*";

/** The methods reported to a browser if nothing may be revealed. */
export const USUAL_METHODS: readonly string[] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/** The place of a handler. */
export interface RoutePlace {
  /** Others are answered with 405; `EVERY_METHOD` alone means all. */
  readonly methods: readonly string[];
  /** A path that ends in `/*` matches everything below it. */
  readonly path: string;
  /** Requests are admitted without authentication; the requested document is checked by its handler. @default false */
  readonly isOpen?: boolean;
  /** Pages of every origin may read the answers, whatever `server.cors_origins` names. @default false */
  readonly isShared?: boolean;
  /** Also served at the root if the hub has a base path: a probe may be on either side of a proxy. @default false */
  readonly isAtRoot?: boolean;
}

export interface Route {
  readonly methods: readonly string[];
  /** The path that it was added with, without `/*`. */
  readonly mount: string;
  readonly isOpen: boolean;
  readonly isShared: boolean;
  readonly isAtRoot: boolean;
  readonly handler: Handler;
  readonly refusalBody?: RefusalBody;
}

/** Formats the JSON text of a refusal on an endpoint's paths. */
export type RefusalBody = (refusal: Refusal) => string;

/**
 * Finds the handler of a path. A path that ends in `/*` matches everything below it; an exact path comes first, then
 * the longest.
 */
export class Router {
  readonly #exact = new Map<string, Route>();
  #below: { readonly prefix: string; readonly route: Route }[] = [];

  add(place: RoutePlace, handler: Handler, refusalBody?: RefusalBody): void {
    const { methods, path, isOpen = false, isShared = false, isAtRoot = false } = place;
    const mount = path.replace(/\/\*$/, "");
    const route: Route = { methods, mount, isOpen, isShared, isAtRoot, handler, ...(refusalBody && { refusalBody }) };
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
