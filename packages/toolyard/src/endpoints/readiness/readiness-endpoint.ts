import type { Mountable } from "../../http/listening/listener.ts";
import type { Refusal } from "../../http/answer/refusal.ts";
import { JSON_CONTENT } from "../../http/answer/send.ts";
import type { Endpoint } from "../endpoint.ts";
import { READY_PATH } from "../paths.ts";
import { Readiness, type ReadinessParts } from "./readiness.ts";

/** `GET /readyz`: reports if the hub should receive requests. It is open to every client, so it names no source. */
export class ReadinessEndpoint implements Endpoint {
  readonly #readiness: Readiness;

  constructor(parts: ReadinessParts) {
    this.#readiness = new Readiness(parts);
  }

  mount(listener: Mountable): void {
    const place = { methods: ["GET", "HEAD"], path: READY_PATH, isOpen: true, isAtRoot: true };
    listener.route(
      place,
      ({ answer }) => {
        const status = this.#readiness.state();
        const headers = ["cache-control", "no-store", ...JSON_CONTENT];
        answer.send(status === "ready" ? 200 : 503, headers, JSON.stringify({ status }));
      },
      refusalText,
    );
  }

  giveUp(): void {}

  close(): void {}
}

/** Formats a refusal. The listener answers 503 while it closes. */
function refusalText({ status, message }: Refusal): string {
  return JSON.stringify(status === 503 ? { status: "stopping" } : { error: message });
}
