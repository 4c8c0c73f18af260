import type { Authentication, Authenticator } from "../core/ports/authenticator.ts";
import type { Principal } from "../core/calls/call.ts";
import type { Logger } from "../core/ports/ports.ts";
import type { HttpAnswer } from "./answer/answer.ts";
import { allowOrigin, answerPreflight, isPreflight } from "./request/cors.ts";
import { BodyBudget } from "./request/body-budget.ts";
import { HttpExchange, NOBODY, type Arrival, type ExchangePlace } from "./exchange.ts";
import { answerFailure } from "./answer/failure.ts";
import { ForwardedReader } from "./request/forwarded.ts";
import { Guard } from "./request/guard.ts";
import type { HttpOptions } from "./options.ts";
import { Refusal } from "./answer/refusal.ts";
import { RefusalCount } from "./answer/refusal-count.ts";
import { EVERY_METHOD, Router, USUAL_METHODS, type Route } from "./router.ts";
import { HEALTH_PATHS } from "./health.ts";
import { sendJson, sendText } from "./answer/send.ts";
import type { HttpRequest } from "./wire.ts";

export interface DispatcherParts {
  readonly logger: Logger;
  readonly authenticator: Authenticator;
  /** Aborted when the listener begins to close. */
  readonly closing: AbortSignal;
}

/**
 * What every request goes through before its door has it, whatever carries it: hosts and origins, CORS, health, the
 * path, the caller's token, the method.
 */
export class Dispatcher {
  readonly router = new Router();
  /** Limit of requests that are still arriving. */
  readonly bodies: BodyBudget;
  readonly #options: HttpOptions;
  readonly #logger: Logger;
  readonly #guard: Guard;
  readonly #authenticator: Authenticator;
  readonly #forwarded: ForwardedReader;
  readonly #place: ExchangePlace;
  readonly #refusals = new RefusalCount();

  constructor(options: HttpOptions, { logger, authenticator, closing }: DispatcherParts) {
    this.#options = options;
    this.#logger = logger;
    this.#guard = new Guard(options);
    this.#authenticator = authenticator;
    this.#forwarded = new ForwardedReader(options.trustedProxies);
    this.bodies = new BodyBudget(options.limits);
    this.#place = { limits: options.limits, closing, bodies: this.bodies };
  }

  /** Whether a path is one that is answered here. */
  isOwn(target: string): boolean {
    const { path } = splitTarget(target);
    const inner = innerPath(path, this.#options.basePath);
    return isHealthPath(path, this.#options.basePath) || (inner !== undefined && this.router.find(inner) !== undefined);
  }

  /** Answers one request, also with what its handler throws. */
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
    this.#check(request);
    const allowed = this.#guard.corsOrigin(request.header("origin"));
    if (allowed !== undefined) allowOrigin(answer, allowed);
    const { path, search } = splitTarget(request.target);
    const { basePath } = this.#options;
    if (isHealthPath(path, basePath)) return this.#answerHealth(answer);
    const inner = innerPath(path, basePath);
    const route = inner === undefined ? undefined : this.router.find(inner);
    if (allowed !== undefined && isPreflight(request)) return answerPreflight(arrival, toldMethods(route));
    // Clients look there for how to sign in, and take nothing but a 404 for a no.
    if (inner === undefined || (!route && inner.startsWith(WELL_KNOWN))) return sendText(answer, 404, "Not Found");
    if (route?.isOpen) return this.#enter(NOBODY, { arrival, route, path: inner, search });
    const known = { arrival, route, path: inner, search };
    const found = this.#authenticator.authenticate(request);
    return found instanceof Promise
      ? found.then((authentication) => this.#enter(this.#admitted(authentication, request), known))
      : this.#enter(this.#admitted(found, request), known);
  }

  /** Throws a 400 or 403 for a request that no client of this hub may send. */
  #check(request: HttpRequest): void {
    try {
      this.#guard.check(request);
    } catch (error) {
      throw error instanceof Refusal ? this.#counted(error, request) : error;
    }
  }

  /** Throws a 401 that says what is missing. */
  #admitted(authentication: Authentication, request: HttpRequest): Principal {
    if (authentication.admitted) return authentication.principal;
    const { message, challenge } = authentication;
    throw this.#counted(new Refusal(401, message, { "www-authenticate": challenge }), request);
  }

  #counted(refusal: Refusal, request: HttpRequest): Refusal {
    return this.#refusals.add(refusal, request.connection, this.#forwarded.read(request).remoteAddress);
  }

  /** It is known who calls. Who does not say so hears nothing of which paths there are. */
  #enter(principal: Principal, { arrival, route, path, search }: ResolvedRequest): void | Promise<void> {
    const { request, answer } = arrival;
    if (this.#place.closing.aborted)
      throw new Refusal(503, "The server is stopping.", { connection: "close", "retry-after": "1" });
    if (!route) return sendText(answer, 404, "Not Found");
    assertMethod(route, request.method);
    const { remoteAddress, origin } = this.#forwarded.read(request);
    const facts = { principal, remoteAddress, baseUrl: origin + this.#options.basePath, path, search };
    return route.handler(new HttpExchange(arrival, facts, this.#place));
  }

  #answerHealth(answer: HttpAnswer): void {
    const isStopping = this.#place.closing.aborted;
    sendJson(answer, isStopping ? 503 : 200, isStopping ? '{"status":"stopping"}' : '{"status":"ok"}');
  }

  #failed(error: unknown, { request, answer }: Arrival): void {
    const inner = innerPath(splitTarget(request.target).path, this.#options.basePath);
    const route = inner === undefined ? undefined : this.router.find(inner);
    answerFailure(error, { answer, method: request.method, logger: this.#logger, refusalBody: route?.refusalBody });
  }
}

/** What is settled of a request before it is known who sends it. */
interface ResolvedRequest {
  readonly arrival: Arrival;
  /** Absent: there is none. */
  readonly route: Route | undefined;
  /** Below the base path. */
  readonly path: string;
  readonly search: string;
}

/** Below it are the documents of RFC 8414, RFC 9728 and their like. */
const WELL_KNOWN = "/.well-known/";

/** A path that some callers must not know of is answered like one that nobody has. */
function toldMethods(route: Route | undefined): readonly string[] {
  return route && !route.methods.includes(EVERY_METHOD) ? route.methods : USUAL_METHODS;
}

function assertMethod(route: Route, method: string): void {
  if (!route.methods.includes(method) && !route.methods.includes(EVERY_METHOD))
    throw new Refusal(405, "Method not allowed.", { allow: route.methods.join(", ") });
}

/** Path and query of a request line; the form with a whole URL is legal too. */
function splitTarget(target: string): { readonly path: string; readonly search: string } {
  const local = target.startsWith("/") ? target : target.replace(/^https?:\/\/[^/?]*/i, "") || "/";
  const mark = local.indexOf("?");
  return mark === -1 ? { path: local, search: "" } : { path: local.slice(0, mark), search: local.slice(mark + 1) };
}

function innerPath(path: string, basePath: string): string | undefined {
  if (basePath === "") return path;
  if (path === basePath) return "/";
  return path.startsWith(`${basePath}/`) ? path.slice(basePath.length) : undefined;
}

/** Both at the root and below the base path: whoever checks may sit on either side of a proxy. */
function isHealthPath(path: string, basePath: string): boolean {
  const inner = basePath !== "" && path.startsWith(`${basePath}/`) ? path.slice(basePath.length) : path;
  return HEALTH_PATHS.includes(inner);
}
