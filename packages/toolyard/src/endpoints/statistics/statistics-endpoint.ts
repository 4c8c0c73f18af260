import { permissionOf } from "../../core/ports/rights.ts";
import type { Mountable } from "../../http/listening/listener.ts";
import { Refusal } from "../../http/answer/refusal.ts";
import { JSON_CONTENT } from "../../http/answer/send.ts";
import type { Endpoint } from "../endpoint.ts";
import { CALLS_PATH } from "../paths.ts";
import { statisticsJson, type StatisticsParts } from "./statistics-body.ts";

/**
 * `GET /status/calls`: the counts of all calls. Callers with narrowed rights are refused, because the counts name all
 * tools.
 */
export class StatisticsEndpoint implements Endpoint {
  readonly #parts: StatisticsParts;

  constructor(parts: StatisticsParts) {
    this.#parts = parts;
  }

  mount(listener: Mountable): void {
    listener.route({ methods: ["GET"], path: CALLS_PATH }, ({ answer, principal }) => {
      if (permissionOf(principal.rights).isNarrowed)
        throw new Refusal(403, "The counts of all calls are shown to callers without narrowed rights only.");
      answer.send(200, ["cache-control", "no-store", ...JSON_CONTENT], statisticsJson(this.#parts));
    });
  }

  giveUp(): void {}

  close(): void {}
}
