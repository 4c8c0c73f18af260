import type { Authentication, Authenticator } from "../core/ports/authenticator.ts";
import type { Principal } from "../core/calls/call.ts";
import type { Logger } from "../core/ports/ports.ts";
import type { HttpAnswer } from "./answer/answer.ts";
import { allowOrigin, answerPreflight, isPreflight } from "./request/cors.ts";
import { BodyBudget } from "./request/body-budget.ts";
import { HttpExchange, NOBODY, type Arrival, type ExchangePlace } from "./exchange.ts";
import { answerFailure } from "./answer/failure.ts";
import { withProfile } from "../core/ports/profiles.ts";
import { ForwardedReader } from "./request/forwarded.ts";
import { Guard } from "./request/guard.ts";
import type { HttpOptions } from "./options.ts";
import { Refusal } from "./answer/refusal.ts";
import { RefusalCount } from "./answer/refusal-count.ts";
import { EVERY_METHOD, Router, USUAL_METHODS, type Route } from "./router.ts";
import { MCP_MOUNT, ProfilePaths, type ProfiledPath } from "./profile-paths.ts";
import { HEALTH_PATHS } from "./health.ts";
import { sendJson, sendText } from "./answer/send.ts";
import { firstChars } from "../core/text/truncate.ts";
import type { HttpRequest } from "./wire.ts";

export interface DispatcherParts {
  readonly logger: Logger;
  readonly authenticator: Authenticator;
  /** Aborted when the listener starts to close. */
  readonly closing: AbortSignal;
}

/** Checks every request before its endpoint, for all adapters: host and origin, CORS, health, path, token, method. */
export class Dispatcher {
  readonly router = new Router();
  /** Limit of requests that are still arriving. */
  readonly bodies: BodyBudget;
  readonly #options: HttpOptions;
  readonly #logger: Logger;
  readonly #guard: Guard;
  readonly #authenticator: Authenticator;
  readonly #forwarded: ForwardedReader;
  readonly #profiles: ProfilePaths;
  readonly #place: ExchangePlace;
  readonly #refusals = new RefusalCount();

  constructor(options: HttpOptions, { logger, authenticator, closing }: DispatcherParts) {
    this.#options = options;
    this.#logger = logger;
    this.#guard = new Guard(options);
    this.#authenticator = authenticator;
    this.#forwarded = new ForwardedReader(options.trustedProxies);
    this.#profiles = new ProfilePaths(options.profiles);
    this.bodies = new BodyBudget(options.limits);
    this.#place = { limits: options.limits, closing, bodies: this.bodies, authenticator };
  }

  /** Returns true if a path is served here. */
  isOwn(target: string): boolean {
    return isHealthPath(splitTarget(target).path, this.#options.basePath) || this.#routeOf(target) !== undefined;
  }

  /** Answers one request, including exceptions of its handler. */
  serve(arrival: Arrival): void {
    try {
      const handled = this.#dispatch(arrival);
      if (handled instanceof Promise) handled.catch((error: unknown) => this.#failed(error, arrival));
    } catch (error) {
      this.#failed(error, arrival);
    }
  }

  #dispatch(arrival: Arrival): void | Promise<void> {
    const { request, answer } = arrival;
    const { path, search } = splitTarget(request.target);
    const place = this.#placeOf(path);
    const route = place && this.#routeAt(place);
    const isAllowed = this.#allow(arrival, route);
    if (isHealthPath(path, this.#options.basePath)) return this.#answerHealth(answer);
    if (isAllowed && isPreflight(request)) return answerPreflight(arrival, reportedMethods(route));
    // Clients look for sign-in documents at these paths, and treat only a 404 as "there is none".
    if (!place || (!route && place.path.startsWith(WELL_KNOWN))) return sendText(answer, 404, "Not Found");
    const known = { arrival, route, place, search };
    if (route?.isOpen) return this.#enter(NOBODY, known);
    const found = this.#authenticator.authenticate(request, route && mountOf(place, route));
    return found instanceof Promise
      ? found.then((authentication) => this.#decide(authentication, known))
      : this.#decide(found, known);
  }

  #decide(authentication: Authentication, known: ResolvedRequest): void | Promise<void> {
    const { arrival, route, place } = known;
    const { request, answer } = arrival;
    const isRefused = !authentication.admitted && (authentication.status ?? 401) === 401;
    if (isRefused && route?.signInAt !== undefined && place.name === undefined && isNavigation(request))
      return answer.send(303, ["location", route.signInAt, "cache-control", "no-store"]);
    return this.#enter(this.#admitted(authentication, request), known);
  }

  /** Checks a request. Returns true if a page of its origin may read the answer. Throws a 400 or 403. */
  #allow({ request, answer }: Arrival, route: Route | undefined): boolean {
    const isShared = route?.isShared === true;
    this.#check(request, isShared);
    const allowed = isShared ? "*" : this.#guard.corsOrigin(request.header("origin"));
    if (allowed !== undefined) allowOrigin(answer, allowed);
    return allowed !== undefined;
  }

  /** Throws a 400 or 403 for a request that no client of this hub may send. */
  #check(request: HttpRequest, isShared: boolean): void {
    try {
      this.#guard.check(request, isShared);
    } catch (error) {
      throw error instanceof Refusal ? this.#counted(error, request) : error;
    }
  }

  /** Returns the admitted principal. Throws a 401, 403 or 503 with the reason. */
  #admitted(authentication: Authentication, request: HttpRequest): Principal {
    if (authentication.admitted) return authentication.principal;
    const { status = 401, message, challenge, nonce, retryAfterMs } = authentication;
    const headers = {
      ...(nonce !== undefined && { "dpop-nonce": nonce }),
      ...(challenge !== "" && { "www-authenticate": challenge }),
      ...(retryAfterMs !== undefined && { "retry-after": String(Math.ceil(retryAfterMs / 1000)) }),
    };
    throw this.#counted(new Refusal(status, message, headers), request);
  }

  #counted(refusal: Refusal, request: HttpRequest): Refusal {
    return this.#refusals.add(refusal, request.connection, this.#forwarded.read(request).remoteAddress);
  }

  /** Continues after the authentication. A caller that is not authenticated does not learn which paths exist. */
  #enter(caller: Principal, { arrival, route, place, search }: ResolvedRequest): void | Promise<void> {
    const { request, answer } = arrival;
    if (this.#place.closing.aborted)
      throw new Refusal(503, "The server is stopping.", { connection: "close", "retry-after": "1" });
    const principal = principalAt(place, caller);
    if (!route) return sendText(answer, 404, "Not Found");
    assertMethod(route, request.method);
    const { remoteAddress, origin } = this.#forwarded.read(request);
    const baseUrl = origin + this.#options.basePath + place.base;
    const facts = { principal, remoteAddress, baseUrl, path: place.path, search, mount: mountOf(place, route) };
    return route.handler(new HttpExchange(arrival, facts, this.#place));
  }

  #answerHealth(answer: HttpAnswer): void {
    const isStopping = this.#place.closing.aborted;
    sendJson(answer, isStopping ? 503 : 200, isStopping ? '{"status":"stopping"}' : '{"status":"ok"}');
  }

  #failed(error: unknown, { request, answer }: Arrival): void {
    const { refusalBody } = this.#routeOf(request.target) ?? {};
    answerFailure(error, { answer, method: request.method, logger: this.#logger, refusalBody });
  }

  #routeOf(target: string): Route | undefined {
    const place = this.#placeOf(splitTarget(target).path);
    return place && this.#routeAt(place);
  }

  #placeOf(path: string): ProfiledPath | undefined {
    const inner = innerPath(path, this.#options.basePath);
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

/** Parts of a request that are known before the authentication. */
interface ResolvedRequest {
  readonly arrival: Arrival;
  /** Absent if there is no route. */
  readonly route: Route | undefined;
  readonly place: ProfiledPath;
  readonly search: string;
}

/**
 * Returns the caller with the rights of the path's profile. Throws the same 404 for a profile that does not exist and
 * for one that the caller may not use.
 */
function principalAt({ name, profile }: ProfiledPath, caller: Principal): Principal {
  if (name === undefined) return caller;
  const principal = profile && withProfile(caller, profile);
  if (principal) return principal;
  throw new Refusal(
    404,
    `There is no profile ${JSON.stringify(firstChars(name, MAX_SHOWN_NAME))} for this caller. ` +
      "`[profiles]` of the configuration lists the profiles, and `roles` of a profile who may use it.",
  );
}

const MAX_SHOWN_NAME = 64;

/** Path below which the documents of RFC 8414, RFC 9728 and similar standards are served. */
const WELL_KNOWN = "/.well-known/";

/** Returns true if a browser opens a page. Browsers do not let scripts set `Sec-Fetch-Mode`, and programs omit it. */
function isNavigation(request: Pick<HttpRequest, "method" | "header">): boolean {
  return (
    request.method === "GET" &&
    request.header("sec-fetch-mode") === "navigate" &&
    /(?:^|[\s,])text\/html\s*(?:[;,]|$)/i.test(request.header("accept") ?? "")
  );
}

/** Returns the methods to report. A path that is hidden from some callers looks like an unknown path. */
function reportedMethods(route: Route | undefined): readonly string[] {
  return route && !route.methods.includes(EVERY_METHOD) ? route.methods : USUAL_METHODS;
}

function assertMethod(route: Route, method: string): void {
  if (!route.methods.includes(method) && !route.methods.includes(EVERY_METHOD))
    throw new Refusal(405, "Method not allowed.", { allow: route.methods.join(", ") });
}

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
