import { permissionOf } from "../../core/ports/rights.ts";
import type { Mountable } from "../../http/listening/listener.ts";
import { Refusal } from "../../http/answer/refusal.ts";
import { JSON_CONTENT } from "../../http/answer/send.ts";
import type { Endpoint } from "../endpoint.ts";
import { STATUS_PATH } from "../paths.ts";
import { statusJson, type StatusParts } from "./status-body.ts";

/**
 * `GET /status`: the status of a running hub as JSON. The checks of the listener apply. A caller with narrowed rights
 * is refused, because errors may name things that this caller must not know.
 */
export class StatusEndpoint implements Endpoint {
  readonly #parts: StatusParts;

  constructor(parts: StatusParts) {
    this.#parts = parts;
  }

  mount(listener: Mountable): void {
    listener.route({ methods: ["GET"], path: STATUS_PATH }, async ({ answer, principal }) => {
      if (permissionOf(principal.rights).isNarrowed)
        throw new Refusal(403, "The status of this hub is shown to callers without narrowed rights only.");
      answer.send(200, ["cache-control", "no-store", ...JSON_CONTENT], await statusJson(this.#parts));
    });
  }

  giveUp(): void {}

  close(): void {}
}
