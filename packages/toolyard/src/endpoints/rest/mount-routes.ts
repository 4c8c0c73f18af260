import type { Logger } from "../../core/ports/ports.ts";
import type { HttpExchange } from "../../http/exchange.ts";
import { answerFailure } from "../../http/answer/failure.ts";
import type { Mountable } from "../../http/listening/listener.ts";
import { Refusal } from "../../http/answer/refusal.ts";
import { EVERY_METHOD } from "../../http/router.ts";
import { sendEmpty, sendText } from "../../http/answer/send.ts";
import { RestExchange } from "./rest-exchange.ts";
import type { RestRoute } from "./options.ts";
import { methodsOf } from "./places.ts";
import { refusalText } from "./refusal-text.ts";

export interface RouteAnswers {
  readonly logger: Logger;
  /** Resolves to true if the caller may learn that the route exists. */
  isKnown(exchange: HttpExchange, route: RestRoute): Promise<boolean>;
  answer(exchange: RestExchange, route: RestRoute): Promise<void>;
}

/**
 * Mounts the configured paths. A caller that may use no target of a path, or that is not authenticated, gets the same
 * response as at an unknown path, for every method. A caller that may use only some methods of a path sees only these
 * methods.
 */
export function mountRoutes(listener: Mountable, routes: readonly RestRoute[], answers: RouteAnswers): void {
  for (const path of new Set(routes.map((route) => route.path))) {
    const own = routes.filter((route) => route.path === path);
    listener.route({ methods: [EVERY_METHOD], path }, (exchange) => serve(exchange, own, answers));
  }
}

async function serve(http: HttpExchange, routes: readonly RestRoute[], answers: RouteAnswers): Promise<void> {
  const areKnown = await Promise.all(routes.map((route) => answers.isKnown(http, route)));
  const known = routes.filter((_, at) => areKnown[at]);
  if (known.length === 0) return sendText(http.answer, 404, "Not Found");
  try {
    await serveKnown(http, known, answers);
  } catch (error) {
    const { answer, method } = http;
    answerFailure(error, { answer, method, logger: answers.logger, refusalBody: refusalText });
  }
}

async function serveKnown(http: HttpExchange, known: readonly RestRoute[], { answer }: RouteAnswers): Promise<void> {
  const allow = methodsOf(known.map((route) => route.method)).join(", ");
  if (http.method === "OPTIONS") return sendEmpty(http.answer.setHeader("allow", allow), 204);
  const method = http.method === "HEAD" ? "GET" : http.method;
  const route = known.find((one) => one.method === method);
  if (!route) throw new Refusal(405, "Method not allowed.", { allow });
  return answer(new RestExchange(http), route);
}
