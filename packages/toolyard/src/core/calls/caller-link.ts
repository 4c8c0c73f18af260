import type { Call } from "./call.ts";
import type { Cancellation } from "./cancellation.ts";
import type { Span } from "../ports/tracing.ts";

/** Link to the caller of one request. `Call` documents the members. */
export interface CallerLink extends Pick<
  Call,
  "endpoint" | "client" | "signal" | "deadline" | "wants" | "relaysInput" | "notify" | "ask" | "taskOffer"
> {
  readonly cancellation: Cancellation;
  /** Span of the request. Calls made with the link have its trace context. Absent: the request is not recorded. */
  readonly requestSpan?: Span | undefined;
}
