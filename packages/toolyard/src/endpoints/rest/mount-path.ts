import type { HttpExchange } from "../../http/exchange.ts";
import type { Mountable } from "../../http/listening/listener.ts";
import { sendEmpty } from "../../http/answer/send.ts";
import { RestExchange } from "./rest-exchange.ts";
import { methodsOf } from "./places.ts";
import { refusalText } from "./refusal-text.ts";

type MountHandler = (exchange: RestExchange) => void | Promise<void>;

/** Mounts one handler per method. `HEAD` runs `GET` without a body, and `OPTIONS` lists the methods. */
export function mountPath(listener: Mountable, path: string, answers: Readonly<Record<string, MountHandler>>): void {
  const methods = methodsOf(Object.keys(answers));
  const serve = (exchange: HttpExchange): void | Promise<void> => {
    if (exchange.method === "OPTIONS") return sendEmpty(exchange.answer.setHeader("allow", methods.join(", ")), 204);
    const method = exchange.method === "HEAD" ? "GET" : exchange.method;
    return answers[method]!(new RestExchange(exchange));
  };
  listener.route({ methods, path }, serve, refusalText);
}
