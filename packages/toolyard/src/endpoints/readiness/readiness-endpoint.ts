import type { Mountable } from "../../http/listening/listener.ts";
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
    listener.route({ methods: ["GET", "HEAD"], path: READY_PATH }, ({ answer }) => {
      const status = this.#readiness.state();
      const store = this.#readiness.isStoreLost ? { store: "unreachable" } : {};
      const headers = ["cache-control", "no-store", ...JSON_CONTENT];
      answer.send(status === "ready" ? 200 : 503, headers, JSON.stringify({ status, ...store }));
    });
  }

  giveUp(): void {}

  close(): void {}
}
