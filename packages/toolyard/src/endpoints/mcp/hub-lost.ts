import type { RpcErrorObject } from "../../core/calls/outcome.ts";

/**
 * Error of a request whose hub stopped before it answered. The tool may have run, so the hub does not repeat the call
 * unless the tool is idempotent.
 */
export const HUB_LOST: RpcErrorObject = Object.freeze({
  code: -32_000,
  message:
    "The hub that ran this request stopped before it answered, so the result is unknown. Send the request again if " +
    "it may run twice.",
  data: Object.freeze({ reason: "hub_lost", retryable: true }),
});

/** Error of a request that cannot be assigned to a hub now. It was not executed. */
export const STORE_LOST: RpcErrorObject = Object.freeze({
  code: -32_000,
  message:
    "The shared store cannot be reached, so the hub that holds this session or call cannot be found. The request was " +
    "not executed. Try again in a moment.",
  data: Object.freeze({ reason: "store_lost", retryable: true }),
});
