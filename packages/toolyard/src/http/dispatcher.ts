import type { Authentication, Authenticator, RefusedCaller } from "../core/ports/authenticator.ts";
import type { Principal } from "../core/calls/call.ts";
import type { Logger } from "../core/ports/ports.ts";
import type { HttpAnswer } from "./answer/answer.ts";
import { HeadChecks, WELL_KNOWN, type CheckedHead } from "./checked-head.ts";
import { allowOrigin, answerPreflight, isPreflight } from "./request/cors.ts";
import { BodyBudget } from "./request/body-budget.ts";
import { HttpExchange, NOBODY, type Arrival, type ExchangePlace } from "./exchange.ts";
import { answerFailure } from "./answer/failure.ts";
import { withProfile } from "../core/ports/profiles.ts";
import type { HttpOptions } from "./options.ts";
import { Refusal } from "./answer/refusal.ts";
import { RefusalCount } from "./answer/refusal-count.ts";
import { EVERY_METHOD, USUAL_METHODS, type Route, type Router } from "./router.ts";
import type { ProfiledPath } from "./profile-paths.ts";
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
  readonly router: Router;
  /** Limit of requests that are still arriving. */
  readonly bodies: BodyBudget;
  readonly #logger: Logger;
  readonly #authenticator: Authenticator;
  readonly #checks: HeadChecks;
  /** Parts that all exchanges share. */
  readonly place: ExchangePlace;
  readonly #refusals = new RefusalCount();

  constructor(options: HttpOptions, { logger, authenticator, closing }: DispatcherParts) {
    this.#logger = logger;
    this.#authenticator = authenticator;
    this.#checks = new HeadChecks(options);
    this.router = this.#checks.router;
    this.bodies = new BodyBudget(options.limits);
    this.place = { limits: options.limits, closing, bodies: this.bodies, authenticator };
  }

  /** Returns true if a path is served here. */
  isOwn(target: string): boolean {
    return this.#checks.isOwn(target);
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
    const head = this.#headOf(request);
    const { place, route, allowedOrigin } = head;
    if (allowedOrigin !== undefined) allowOrigin(answer, allowedOrigin);
    if (head.isHealth) return this.#answerHealth(answer);
    if (allowedOrigin !== undefined && isPreflight(request)) return answerPreflight(arrival, reportedMethods(route));
    // Clients look for sign-in documents at these paths, and treat only a 404 as "there is none".
    if (!place || (!route && place.path.startsWith(WELL_KNOWN))) return sendText(answer, 404, "Not Found");
    const known = { arrival, head, place };
    if (route?.isOpen) return this.#enter(ON_OPEN_PATH, known);
    const found = this.#authenticator.authenticate(request, head.mount);
    return found instanceof Promise
      ? found.then((authentication) => this.#enter(authentication, known))
      : this.#enter(found, known);
  }

  /**
   * Returns the checked head. It is reused if the previous request on the connection had the same head. Throws a 400 or
   * 403.
   */
  #headOf(request: HttpRequest): CheckedHead {
    const { memo } = request;
    // The type assertion is safe: only this dispatcher stores values under itself.
    if (memo?.checker === this) return memo.checked as CheckedHead;
    const checked = this.#checked(request);
    if (memo) [memo.checker, memo.checked] = [this, checked];
    return checked;
  }

  #checked(request: HttpRequest): CheckedHead {
    try {
      return this.#checks.check(request);
    } catch (error) {
      throw error instanceof Refusal ? this.#counted(error, request) : error;
    }
  }

  #refuse(refused: RefusedCaller, { arrival, head, place }: ResolvedRequest): void {
    const { request, answer } = arrival;
    const { route } = head;
    const isRefused = (refused.status ?? 401) === 401;
    if (isRefused && route?.signInAt !== undefined && place.name === undefined && isNavigation(request))
      return answer.send(303, ["location", route.signInAt, "cache-control", "no-store"]);
    throw this.#counted(refusalOf(refused), request);
  }

  #counted(refusal: Refusal, request: HttpRequest): Refusal {
    return this.#refusals.add(refusal, request.connection, this.#checks.forwarded.read(request).remoteAddress);
  }

  /** Continues after the authentication. A caller that is not authenticated does not learn which paths exist. */
  #enter(authentication: Authentication, known: ResolvedRequest): void | Promise<void> {
    if (!authentication.admitted) return this.#refuse(authentication, known);
    const { arrival, head, place } = known;
    const { request, answer } = arrival;
    if (this.place.closing.aborted)
      throw new Refusal(503, "The server is stopping.", { connection: "close", "retry-after": "1" });
    const caller = authentication.principal;
    const principal = place.name === undefined ? caller : principalOf(place.name, place.profile, caller);
    const { route } = head;
    if (!route) return sendText(answer, 404, "Not Found");
    if (head.facts?.principal !== principal) {
      assertMethod(route, request.method);
      head.facts = this.#checks.factsOf(head, place, { request, principal });
    }
    return route.handler(new HttpExchange(arrival, head.facts, this.place));
  }

  #answerHealth(answer: HttpAnswer): void {
    const isStopping = this.place.closing.aborted;
    sendJson(answer, isStopping ? 503 : 200, isStopping ? '{"status":"stopping"}' : '{"status":"ok"}');
  }

  #failed(error: unknown, { request, answer }: Arrival): void {
    const { refusalBody } = this.#checks.routeOf(request.target) ?? {};
    answerFailure(error, { answer, method: request.method, logger: this.#logger, refusalBody });
  }
}

/** Authentication of requests on paths that need no sign-in. */
const ON_OPEN_PATH: Authentication = Object.freeze({ admitted: true, principal: NOBODY });

/** Parts of a request that are known before the authentication. */
interface ResolvedRequest {
  readonly arrival: Arrival;
  readonly head: CheckedHead;
  readonly place: ProfiledPath;
}

/** Returns the refusal (401, 403 or 503) for a caller that is not admitted. */
function refusalOf({ status = 401, message, challenge, nonce, retryAfterMs }: RefusedCaller): Refusal {
  return new Refusal(status, message, {
    ...(nonce !== undefined && { "dpop-nonce": nonce }),
    ...(challenge !== "" && { "www-authenticate": challenge }),
    ...(retryAfterMs !== undefined && { "retry-after": String(Math.ceil(retryAfterMs / 1000)) }),
  });
}

/**
 * Returns the caller with the rights of the path's profile. Throws the same 404 for a profile that does not exist and
 * for one that the caller may not use.
 */
function principalOf(name: string, profile: ProfiledPath["profile"], caller: Principal): Principal {
  const principal = profile && withProfile(caller, profile);
  if (principal) return principal;
  throw new Refusal(
    404,
    `There is no profile ${JSON.stringify(firstChars(name, MAX_SHOWN_NAME))} for this caller. ` +
      "`[profiles]` of the configuration lists the profiles, and `roles` of a profile who may use it.",
  );
}

const MAX_SHOWN_NAME = 64;

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
