import { stringifyExact } from "../../core/json/exact-json.ts";
import { FailError } from "../../core/errors.ts";
import type { JsonObject } from "../../core/json/json.ts";
import type { FailKind } from "../../core/calls/kinds.ts";
import { fail, type Fail, ok, type Outcome } from "../../core/calls/outcome.ts";
import type { ResolvedCall } from "../../core/sources/provider.ts";
import type { Source, ToolLimits, ToolRecord } from "../../core/sources/records.ts";
import type { DefaultToolName } from "../../core/names/own-names.ts";

export interface DefaultToolFacts {
  readonly name: DefaultToolName;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
  readonly outputSchema: JsonObject;
  readonly annotations: JsonObject;
  readonly keywords: readonly string[];
  readonly limits?: ToolLimits;
}

export function defaultToolRecord(source: Source, { keywords, limits, ...definition }: DefaultToolFacts): ToolRecord {
  const { name, description, inputSchema, outputSchema } = definition;
  return Object.freeze({
    source,
    name,
    description,
    inputSchema,
    outputSchema,
    keywords,
    visibility: "native",
    ...(limits ? { limits } : {}),
    definition,
  });
}

export function valueResult(value: JsonObject): Outcome {
  return ok({ content: [{ type: "text", text: stringifyExact(value) }], structuredContent: value });
}

/**
 * Returns an error result that contains the tool's usual members and the error message. `cause`: the outcome code, if
 * known.
 */
export function failedResult(message: string, value: JsonObject, cause: FailKind = "tool_error"): Fail {
  return fail("tool_error", message, {
    ...(cause === "tool_error" ? {} : { details: { upstreamKind: cause } }),
    result: { content: [{ type: "text", text: stringifyExact(value) }], structuredContent: value, isError: true },
  });
}

/**
 * Returns the failure if the call itself has ended, because the caller disconnected or its time has expired. Returns
 * undefined for all other failures, which the tool reports itself.
 */
export function endOfCall(failure: { readonly kind: string }, { signal }: ResolvedCall): Outcome | undefined {
  if (!signal.aborted) return undefined;
  const { reason } = signal;
  return reason instanceof FailError
    ? reason.failure
    : fail(failure.kind === "timeout" ? "timeout" : "cancelled", "The caller cancelled the call or disconnected.");
}
