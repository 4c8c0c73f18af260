import type { IncomingMessage, ServerResponse } from "node:http";
import type { Listener } from "../../http/listener.ts";
import { sendEmpty } from "../../http/send.ts";
import type { RequestContext } from "../../http/request-context.ts";
import { Exchange } from "./exchange.ts";
import { refusalText } from "./failures.ts";

type Answer = (exchange: Exchange) => void | Promise<void>;

/** Mounts handlers by method. `HEAD` is a `GET` without its body, and `OPTIONS` names the methods. */
export function mountPath(listener: Listener, path: string, answers: Readonly<Record<string, Answer>>): void {
  const methods = [...Object.keys(answers), ...("GET" in answers ? ["HEAD"] : []), "OPTIONS"];
  const serve = (request: IncomingMessage, response: ServerResponse, context: RequestContext): void | Promise<void> => {
    if (request.method === "OPTIONS") {
      response.setHeader("allow", methods.join(", "));
      return sendEmpty(response, 204);
    }
    const method = request.method === "HEAD" ? "GET" : request.method!;
    return answers[method]!(new Exchange(request, response, context));
  };
  listener.route(methods, path, serve, refusalText);
}
