import type { Principal } from "../../core/calls/call.ts";
import { KINDS } from "../../core/calls/kinds.ts";
import { FailError } from "../../core/errors.ts";
import { stringifyExact } from "../../core/json/exact-json.ts";
import type { JsonObject } from "../../core/json/json.ts";
import { permissionOf } from "../../core/ports/rights.ts";
import type { Schedules, ScheduleState } from "../../core/ports/schedules.ts";
import { safeJson } from "../../core/text/hidden-text.ts";
import { Refusal } from "../../http/answer/refusal.ts";
import { JSON_CONTENT } from "../../http/answer/send.ts";
import type { HttpExchange } from "../../http/exchange.ts";
import type { Mountable } from "../../http/listening/listener.ts";
import type { Endpoint } from "../endpoint.ts";
import { SCHEDULES_PATH } from "../paths.ts";

export interface SchedulesParts {
  readonly schedules: Schedules;
  readonly redactFacts: (facts: JsonObject) => JsonObject;
}

/**
 * `GET /status/schedules` lists the schedules, `GET /status/schedules/<name>` returns one with the results of its runs,
 * `POST /status/schedules/<name>` starts a run, and `DELETE` cancels the unfinished runs. Callers with narrowed rights
 * are refused, because runs have the rights of the hub's owner.
 */
export class SchedulesEndpoint implements Endpoint {
  readonly #parts: SchedulesParts;

  constructor(parts: SchedulesParts) {
    this.#parts = parts;
  }

  mount(listener: Mountable): void {
    const { schedules } = this.#parts;
    listener.route({ methods: ["GET"], path: SCHEDULES_PATH }, async (exchange) => {
      assertOwner(exchange.principal);
      const all = await schedules.list();
      this.#send(exchange, { schedules: all.map(withoutResults) });
    });
    listener.route({ methods: ["GET", "POST", "DELETE"], path: `${SCHEDULES_PATH}/*` }, async (exchange) => {
      assertOwner(exchange.principal);
      const name = nameOf(exchange.path);
      const body = await this.#answer(exchange.method, name);
      if (!body)
        throw new Refusal(404, `There is no schedule ${JSON.stringify(name)}. GET ${SCHEDULES_PATH} lists all.`);
      this.#send(exchange, body);
    });
  }

  giveUp(): void {}

  close(): void {}

  async #answer(method: string, name: string): Promise<JsonObject | undefined> {
    if (method === "POST") return await this.#run(name);
    if (method !== "DELETE") return await this.#find(name);
    const cancelled = await this.#parts.schedules.cancel(name);
    return cancelled === undefined ? undefined : { cancelled };
  }

  async #find(name: string): Promise<JsonObject | undefined> {
    const found = (await this.#parts.schedules.list()).find((one) => one.name === name);
    return found && { ...found };
  }

  async #run(name: string): Promise<JsonObject | undefined> {
    try {
      const task = await this.#parts.schedules.run(name);
      return task && { ...task };
    } catch (error) {
      if (!(error instanceof FailError)) throw error;
      throw new Refusal(KINDS[error.failure.kind].http, error.failure.message);
    }
  }

  #send({ answer }: HttpExchange, body: JsonObject): void {
    const text = safeJson(stringifyExact(this.#parts.redactFacts(body)));
    answer.send(200, ["cache-control", "no-store", ...JSON_CONTENT], text);
  }
}

function assertOwner({ rights }: Principal): void {
  if (permissionOf(rights).isNarrowed)
    throw new Refusal(403, "Schedules are open to callers without narrowed rights only.");
}

function nameOf(path: string): string {
  try {
    return decodeURIComponent(path.slice(SCHEDULES_PATH.length + 1));
  } catch {
    throw new Refusal(400, "The name of the schedule in the path is not valid percent-encoding.");
  }
}

function withoutResults({ runs, ...state }: ScheduleState): JsonObject {
  return { ...state, runs: runs.map(({ result: _result, ...run }) => run) };
}
