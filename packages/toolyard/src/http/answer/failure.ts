import { randomBytes } from "node:crypto";
import { messageOf } from "../../core/errors.ts";
import type { Logger } from "../../core/ports/ports.ts";
import type { HttpAnswer } from "./answer.ts";
import { Refusal, refusalBody as mcpBody, sendRefusal } from "./refusal.ts";
import type { RefusalBody } from "../router.ts";

export interface FailedRequest {
  readonly answer: HttpAnswer;
  readonly method: string;
  readonly logger: Logger;
  /** Format of refusals on this path. Absent: JSON-RPC errors. */
  readonly refusalBody: RefusalBody | undefined;
}

/**
 * Answers an error of a handler: a `Refusal` as it specifies, any other error with 500 and an error id, under which the
 * details are logged.
 */
export function answerFailure(
  error: unknown,
  { answer, method, logger, refusalBody = ({ message }) => mcpBody(message) }: FailedRequest,
): void {
  if (error instanceof Refusal) return sendRefusal(answer, error, refusalBody(error));
  const errorId = randomBytes(6).toString("hex");
  const stack = error instanceof Error ? error.stack : undefined;
  logger.error("A request failed because of an internal error.", {
    errorId,
    method,
    error: messageOf(error),
    ...(stack !== undefined && { stack }),
  });
  const refusal = new Refusal(500, `Internal error. The log has the details under error id ${errorId}.`);
  sendRefusal(answer, refusal, refusalBody(refusal));
}
