import type { JsonObject } from "../../../core/json/json.ts";
import { KINDS, type FailKind, type KindRow } from "../../../core/calls/kinds.ts";

/**
 * Failures that callers of a tool may get, with the statuses of the outcome codes. Cancelled calls have no response.
 */
const SENT_KINDS = Object.entries<KindRow>(KINDS).filter(([kind]) => kind !== "cancelled");
const STATUSES: readonly number[] = [...new Set([...SENT_KINDS.map(([, row]) => row.http), 401])].toSorted();

export const ERROR_SCHEMA: JsonObject = {
  type: "object",
  required: ["error"],
  properties: {
    error: {
      type: "object",
      required: ["kind", "message", "retryable"],
      properties: {
        kind: { type: "string", enum: Object.keys(KINDS), description: "Outcome code, for programs." },
        message: { type: "string", description: "Problem, received value and what to do." },
        retryable: { type: "boolean", description: "True if the same request may succeed later." },
        retryAfterMs: { type: "number", description: "Milliseconds after which the request may be repeated." },
        errors: { type: "array", description: "Differences between the arguments and the tool's schema." },
        near: { type: "array", items: { type: "string" }, description: "Similar names." },
        candidates: { type: "array", items: { type: "string" }, description: "Names that match this one." },
        value: { description: "Result that the tool returned with its failure." },
      },
    },
  },
};

const ERROR_REF = "#/components/schemas/Error";

/** Returns `components.responses`, with one entry per status. */
export function errorResponses(): JsonObject {
  return Object.fromEntries(STATUSES.map((status) => [String(status), errorResponse(status)]));
}

function errorResponse(status: number): JsonObject {
  const kinds = SENT_KINDS.filter(([, row]) => row.http === status).map(([kind, { when }]) => `\`${kind}\`: ${when}`);
  const headers =
    status === KINDS.limited.http
      ? {
          headers: {
            "Retry-After": {
              description: "Seconds after which the request may be repeated.",
              schema: { type: "integer" },
            },
          },
        }
      : {};
  const description = kinds.length > 0 ? `${kinds.join("; ")}.` : "The token is missing or wrong.";
  return { description, ...headers, content: { "application/json": { schema: { $ref: ERROR_REF } } } };
}

/** Returns the error responses of one operation. */
export function failuresOf(isGuarded: boolean, statuses = STATUSES): JsonObject {
  return Object.fromEntries(
    statuses
      .filter((status) => isGuarded || status !== 401)
      .map((status) => [String(status), { $ref: `#/components/responses/${status}` }]),
  );
}

/** Returns the statuses of the given outcome codes, and 401. */
export function statusesOf(...kinds: readonly FailKind[]): readonly number[] {
  return [...new Set([...kinds.map((kind) => KINDS[kind].http), 401])].toSorted();
}
