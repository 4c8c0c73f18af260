import type { Authenticator } from "../../../core/ports/authenticator.ts";
import type { Logger } from "../../../core/ports/ports.ts";
import type { Listener } from "../../listening/listener.ts";
import type { HttpOptions } from "../../options.ts";
import { PortlessListener } from "../../listening/portless-listener.ts";
import { Refusal } from "../../answer/refusal.ts";
import { requestKind, wrongRequest } from "../../request/request-kinds.ts";
import type { HttpRequest } from "../../wire.ts";
import { FetchAnswerWire, FetchRequest } from "./wire.ts";

/** Answers a `Request`. Rejects with the reason of the signal if that aborts before the response headers are ready. */
export type FetchHandler = (request: Request) => Promise<Response>;

/** Listener without a port, for frameworks and runtimes that supply a `Request`. */
export interface FetchListener extends Listener {
  readonly fetch: FetchHandler;
}

export function createFetchListener(options: HttpOptions, logger: Logger, authenticator: Authenticator): FetchListener {
  return new WebListener(options, logger, authenticator);
}

class WebListener extends PortlessListener<FetchAnswerWire> implements FetchListener {
  readonly fetch: FetchHandler = (request) => this.#serve(request);

  protected override stop(wire: FetchAnswerWire): void {
    wire.stop(new Error("The hub is closing."));
  }

  #serve(request: Request): Promise<Response> {
    if (requestKind(request) !== "a standard Request")
      return Promise.reject(wrongRequest("`fetch` of hub.serveFetch()", "a standard Request", request));
    const { signal } = request;
    if (signal.aborted) return Promise.reject(reasonOf(signal));
    return new Promise((resolve, reject) => {
      const onAbort = (): void => wire.stop(reasonOf(signal));
      const over = (): void => {
        signal.removeEventListener("abort", onAbort);
        this.over(wire);
      };
      const wire = new FetchAnswerWire(request.method, { resolve, reject, over });
      signal.addEventListener("abort", onAbort, { once: true });
      const arrived = new FetchRequest(request, this.limits.requestTimeoutMs);
      this.take(arrived, wire, headBytes(arrived) > this.limits.maxHeaderBytes ? LARGE_HEAD : undefined);
    });
  }
}

const LARGE_HEAD = new Refusal(431, "Request Header Fields Too Large");

function headBytes({ target, headers }: HttpRequest): number {
  return Object.entries(headers).reduce(
    (sum, [name, value]) => sum + name.length + String(value).length + 4,
    target.length,
  );
}

function reasonOf({ reason }: AbortSignal): Error {
  return reason instanceof Error ? reason : new Error("The request was cancelled.", { cause: reason });
}
