import type { RequestId } from "../../../wire/messages.ts";

/**
 * Error response of HTTP. Codes and messages equal those of the reference implementation, since clients check them.
 */
export interface HttpProblem {
  readonly status: number;
  readonly code: number;
  readonly message: string;
  readonly id?: RequestId | null;
}
