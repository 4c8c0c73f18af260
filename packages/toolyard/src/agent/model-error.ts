import { messageOf } from "../core/errors.ts";
import { isJsonObject } from "../core/json/json.ts";
import { firstChars } from "../core/text/truncate.ts";

const MAX_MESSAGE_CHARS = 500;

export interface ModelError {
  /** Error message in one line. */
  readonly message: string;
  /** HTTP status of the provider. */
  readonly status?: number;
  /** True if a later retry may succeed. */
  readonly retryable: boolean;
}

/** Describes an error of a provider's client in one line. After several attempts the last error is described. */
export function describeModelError(thrown: unknown): ModelError {
  const error = isErrorLike(thrown) && isErrorLike(thrown["lastError"]) ? thrown["lastError"] : thrown;
  const status = isErrorLike(error) && typeof error["statusCode"] === "number" ? error["statusCode"] : undefined;
  const retryable = isErrorLike(error) && error["isRetryable"] === true;
  const [line = ""] = messageOf(error).trim().split("\n", 1);
  const message = line.length > MAX_MESSAGE_CHARS ? `${firstChars(line, MAX_MESSAGE_CHARS)}…` : line;
  return {
    message: message === "" ? "the provider gave no reason" : message,
    ...(status === undefined ? {} : { status }),
    retryable,
  };
}

// Errors of clients have members that no type declares.
function isErrorLike(value: unknown): value is Record<string, unknown> {
  return isJsonObject(value);
}
