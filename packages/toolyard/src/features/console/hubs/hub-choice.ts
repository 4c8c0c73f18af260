import type { RequestRelay } from "../../../endpoints/request-relay.ts";
import { Refusal } from "../../../http/answer/refusal.ts";
import type { HttpExchange } from "../../../http/exchange.ts";
import type { Principal } from "../../../core/calls/call.ts";
import type { StreamPermit } from "../access/admin-caller.ts";
import { StoreLostError } from "../../../state/ports/store.ts";
import { HUB_HEADER } from "../api-types.ts";

/** Interval at which the caller of a stream that is passed on is checked. */
const CHECK_MS = 1000;
/** Number of checks after which the caller is authenticated again. */
const RENEW_CHECKS = 15;

/** Returns the id of the hub that a request is for. Returns `undefined` if it is for the hub that receives it. */
export function chosenHub(exchange: HttpExchange, own: string): string | undefined {
  const chosen = exchange.header(HUB_HEADER);
  return chosen === undefined || chosen === "" || chosen === own || exchange.relayedFrom !== undefined
    ? undefined
    : chosen;
}

/** Hub that answers a request of an authenticated caller. */
export interface ChosenHub {
  readonly hub: string;
  readonly principal: Principal;
  readonly relay: RequestRelay;
}

/** Passes a request to another hub. Throws a `Refusal` if that hub does not answer. */
export async function passOn(exchange: HttpExchange, { hub, principal, relay }: ChosenHub): Promise<void> {
  const body = await exchange.readBody();
  const http = exchange.withPrincipal(principal);
  const result = await relay.forward(hub, { http, body }).catch((error: unknown) => {
    if (!(error instanceof StoreLostError)) throw error;
    throw new Refusal(503, "The shared store of the hubs cannot be reached.", { "retry-after": "2" });
  });
  if (result === "answered" || !exchange.answer.isOpen) return;
  if (result === "lost")
    throw new Refusal(503, `The hub ${hub} stopped answering. It may have executed the request.`, {
      "retry-after": "2",
    });
  // Browsers cache 410 without a limit by default (RFC 9110 section 15.1).
  const headers = { "cache-control": "no-store" };
  throw new Refusal(410, `The hub ${hub} has ended. \`GET /api/admin/hubs\` lists the hubs.`, headers);
}

/** Closes a stream that is passed on when its caller is no longer permitted to follow it. */
export function watchPermit({ answer }: HttpExchange, permit: StreamPermit): void {
  let checks = 0;
  const check = async (): Promise<void> => {
    checks += 1;
    const isEnded = (await permit.isOver()) || (checks % RENEW_CHECKS === 0 && !(await permit.renew()));
    if (isEnded) answer.cut();
  };
  const timer = setInterval(() => void check().catch(() => answer.cut()), CHECK_MS).unref();
  answer.onClosed(() => clearInterval(timer));
}
