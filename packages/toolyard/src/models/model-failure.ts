import { cancelledFailure } from "../core/calls/deadline.ts";
import { FailError, OptionError } from "../core/errors.ts";
import { isJsonObject, objectMember, stringMember } from "../core/json/json.ts";
import { isOfNetwork } from "../outbound/client/cause.ts";
import { outboundFailure, statusFailure, toOutboundFailure } from "../outbound/failures.ts";
import { firstChars } from "../core/text/truncate.ts";

/** Converts the error of a request to a model provider to a failure. */
export function toModelFailure(error: unknown, service: string, signal: AbortSignal): FailError {
  const known = failureIn(error);
  if (known) return known;
  if (signal.aborted) return cancelledFailure(signal.reason);
  if (error instanceof OptionError)
    return outboundFailure(
      "unavailable",
      { service, what: `cannot be reached. ${error.message}` },
      {
        retryable: false,
        cause: error,
      },
    );
  const last = lastOf(error);
  const { statusCode, responseBody } = callFacts(last);
  if (statusCode === undefined && isOfNetwork(last)) return toOutboundFailure(last, service);
  if (statusCode === undefined || statusCode < 400)
    return outboundFailure(
      "malformed",
      { service, what: "returned a response of another API. Check the model's name and `base_url`." },
      { cause: error },
    );
  const words = wordsOf(responseBody);
  if (statusCode === 400 || statusCode === 404 || statusCode === 422) {
    return outboundFailure(
      "invalid_params",
      {
        service,
        what:
          "does not accept the request (HTTP " +
          `${statusCode})${words === "" ? ". Check the model's name and the parameters." : `: ${words}`}`,
      },
      { cause: error },
    );
  }
  return statusFailure(service, statusCode, retryAfterMs(last));
}

/** Returns the last error of repeated attempts. */
function lastOf(error: unknown): unknown {
  return error instanceof Error && "lastError" in error ? error.lastError : error;
}

const MAX_CAUSES = 5;

function failureIn(error: unknown): FailError | undefined {
  let at = error;
  for (let depth = 0; depth < MAX_CAUSES && at instanceof Error; depth += 1) {
    if (at instanceof FailError) return at;
    at = at.cause;
  }
  return undefined;
}

// Recognises errors of the SDK by their members, so that its classes need not be loaded.
function callFacts(error: unknown): { readonly statusCode?: number; readonly responseBody?: string } {
  if (!(error instanceof Error)) return {};
  const { statusCode, responseBody } = error as { statusCode?: unknown; responseBody?: unknown };
  return {
    ...(typeof statusCode === "number" ? { statusCode } : {}),
    ...(typeof responseBody === "string" ? { responseBody } : {}),
  };
}

function retryAfterMs(error: unknown): number | undefined {
  const headers =
    error instanceof Error && "responseHeaders" in error && isJsonObject(error.responseHeaders)
      ? error.responseHeaders
      : {};
  const seconds = Number(headers["retry-after"] ?? Number.NaN);
  return Number.isFinite(seconds) && seconds >= 0 ? seconds * 1000 : undefined;
}

const MAX_WORDS = 300;

/** Returns the error message in a vendor's response: `{error: {message}}`, `{error: "…"}` or `{message}`. */
function wordsOf(body = ""): string {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    return "";
  }
  if (!isJsonObject(value)) return "";
  const words =
    stringMember(objectMember(value, "error") ?? {}, "message") ??
    stringMember(value, "error") ??
    stringMember(value, "message") ??
    "";
  return firstChars(words, MAX_WORDS).replaceAll(/\s+/g, " ").trim();
}
