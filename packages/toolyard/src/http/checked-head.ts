import type { Principal } from "../core/calls/call.ts";
import type { ExchangeFacts } from "./exchange.ts";
import { HEALTH_PATHS } from "./health.ts";
import type { HttpOptions } from "./options.ts";
import { MCP_MOUNT, ProfilePaths, type ProfiledPath } from "./profile-paths.ts";
import { ForwardedReader } from "./request/forwarded.ts";
import { Guard } from "./request/guard.ts";
import { Router, type Route } from "./router.ts";
import type { HttpRequest } from "./wire.ts";

/**
 * Result of the checks of a request's head before the authentication. It depends on nothing but the head, the
 * connection and the options of the listener, so it also applies to later requests that repeat the head.
 */
export interface CheckedHead {
  /** Absent for a path that this hub does not have. */
  readonly place: ProfiledPath | undefined;
  /** Absent if no endpoint serves the path. */
  readonly route: Route | undefined;
  readonly search: string;
  readonly isHealth: boolean;
  /** Path of the endpoint as clients know it. Absent without a route. */
  readonly mount: string | undefined;
  /** Origin whose pages may read the answer, or `*`. Absent: none. */
  readonly allowedOrigin: string | undefined;
  /** Facts of the last exchange with this head. */
  facts: ExchangeFacts | undefined;
}

/** Checks heads of requests: Host, Origin, path and profile. */
export class HeadChecks {
  readonly router = new Router();
  readonly forwarded: ForwardedReader;
  readonly #basePath: string;
  readonly #guard: Guard;
  readonly #profiles: ProfilePaths;

  constructor(options: HttpOptions) {
    this.#basePath = options.basePath;
    this.#guard = new Guard(options);
    this.forwarded = new ForwardedReader(options.trustedProxies);
    this.#profiles = new ProfilePaths(options.profiles);
  }

  /** Returns true if a path is served here. */
  isOwn(target: string): boolean {
    return isHealthPath(splitTarget(target).path, this.#basePath) || this.routeOf(target) !== undefined;
  }

  routeOf(target: string): Route | undefined {
    const place = this.#placeOf(splitTarget(target).path);
    return place && this.#routeAt(place);
  }

  /** Throws a 400 or 403 for a request that no client of this hub may send. */
  check(request: HttpRequest): CheckedHead {
    const { path, search } = splitTarget(request.target);
    const place = this.#placeOf(path);
    const route = place && this.#routeAt(place);
    const isShared = route?.isShared === true;
    this.#guard.check(request, isShared);
    return {
      place,
      route,
      search,
      isHealth: isHealthPath(path, this.#basePath),
      mount: route && mountOf(place, route),
      allowedOrigin: isShared ? "*" : this.#guard.corsOrigin(request.header("origin")),
      facts: undefined,
    };
  }

  /** Returns the facts of an exchange with this head. */
  factsOf(
    { search, mount = "" }: CheckedHead,
    place: ProfiledPath,
    { request, principal }: { readonly request: HttpRequest; readonly principal: Principal },
  ): ExchangeFacts {
    const { remoteAddress, origin } = this.forwarded.read(request);
    const baseUrl = origin + this.#basePath + place.base;
    return { principal, remoteAddress, baseUrl, path: place.path, search, mount };
  }

  #placeOf(path: string): ProfiledPath | undefined {
    const inner = innerPath(path, this.#basePath);
    if (inner !== undefined) return this.#profiles.read(inner);
    return this.router.find(path)?.isAtRoot === true ? { path, base: "" } : undefined;
  }

  /**
   * Returns the route. Open paths exist only for the hub itself and not below a profile, because clients use them with
   * the hub's address.
   */
  #routeAt({ path, name }: ProfiledPath): Route | undefined {
    const route = this.router.find(path);
    return route?.isOpen && name !== undefined ? undefined : route;
  }
}

/** Returns the path of the endpoint below the base path, as clients know it. */
function mountOf({ base, name }: ProfiledPath, { mount }: Route): string {
  if (name === undefined) return mount;
  return mount === MCP_MOUNT ? base : base + mount;
}

/** Path below which the documents of RFC 8414, RFC 9728 and similar standards are served. */
export const WELL_KNOWN = "/.well-known/";

/** Splits the target of a request line into path and query. A whole URL is also allowed. */
function splitTarget(target: string): { readonly path: string; readonly search: string } {
  const local = target.startsWith("/") ? target : target.replace(/^https?:\/\/[^/?]*/i, "") || "/";
  const mark = local.indexOf("?");
  return mark === -1 ? { path: local, search: "" } : { path: local.slice(0, mark), search: local.slice(mark + 1) };
}

/**
 * Returns a path without the base path. In well-known addresses the base path follows the name of the document (RFC
 * 8414 section 3.1, RFC 9728 section 3.1).
 */
function innerPath(path: string, basePath: string): string | undefined {
  if (basePath === "") return path;
  if (path === basePath) return "/";
  const name = path.startsWith(WELL_KNOWN) ? path.slice(0, endOfName(path)) : path;
  const rest = path.slice(name.length);
  if (rest === basePath || rest.startsWith(`${basePath}/`)) return name + rest.slice(basePath.length);
  return path.startsWith(`${basePath}/`) ? path.slice(basePath.length) : undefined;
}

/** Returns the index of the slash after the document's name in a well-known address, or the length of the path. */
function endOfName(path: string): number {
  const slash = path.indexOf("/", WELL_KNOWN.length);
  return slash === -1 ? path.length : slash;
}

/**
 * Returns true for a health path, at the root or below the base path, because a health check may be on either side of a
 * proxy.
 */
function isHealthPath(path: string, basePath: string): boolean {
  const inner = basePath !== "" && path.startsWith(`${basePath}/`) ? path.slice(basePath.length) : path;
  return HEALTH_PATHS.includes(inner);
}
