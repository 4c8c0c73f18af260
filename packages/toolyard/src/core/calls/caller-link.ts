import type { Call } from "./call.ts";
import type { Cancellation } from "./cancellation.ts";

/** The link to the caller of one request. Members as in `Call`. */
export interface CallerLink extends Pick<
  Call,
  "endpoint" | "client" | "signal" | "deadline" | "wants" | "relaysInput" | "notify" | "ask"
> {
  readonly cancellation: Cancellation;
}
