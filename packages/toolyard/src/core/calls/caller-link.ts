import type { Call } from "./call.ts";
import type { Cancellation } from "./cancellation.ts";

/** Link to the caller of one request. `Call` documents the members. */
export interface CallerLink extends Pick<
  Call,
  "endpoint" | "client" | "signal" | "deadline" | "wants" | "relaysInput" | "notify" | "ask" | "taskOffer"
> {
  readonly cancellation: Cancellation;
}
