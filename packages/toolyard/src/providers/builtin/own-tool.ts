import { stringifyExact } from "../../core/json/exact-json.ts";
import type { JsonObject } from "../../core/json/json.ts";
import { ok, type Outcome } from "../../core/calls/outcome.ts";
import type { Source, ToolLimits, ToolRecord } from "../../core/sources/records.ts";
import type { Visibility } from "../../core/sources/listing-shape.ts";

export interface OwnToolFacts {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** Input schema that callers see. */
  readonly inputSchema: JsonObject;
  /** Input schema that is checked, if it accepts more than `inputSchema`. @default inputSchema */
  readonly acceptedSchema?: JsonObject;
  readonly annotations: JsonObject;
  readonly keywords?: readonly string[];
  readonly hiddenNames?: readonly string[];
  /** Visibility of the tool. @default "native" */
  readonly visibility?: Visibility;
  readonly role?: "discovery" | "meta";
  readonly limits?: ToolLimits;
  /**
   * Search words for clients that hide tools behind their own search. A client that reads them loads this tool
   * immediately. Absent: the client treats it like any other tool.
   */
  readonly searchHint?: string;
}

export function ownToolRecord(source: Source, facts: OwnToolFacts): ToolRecord {
  const {
    name,
    title,
    description,
    inputSchema,
    acceptedSchema = inputSchema,
    annotations,
    keywords = [],
    hiddenNames = [],
    visibility = "native",
    role,
    limits,
    searchHint,
  } = facts;
  return Object.freeze({
    source,
    name,
    description,
    inputSchema: acceptedSchema,
    keywords,
    visibility,
    hiddenNames,
    ...(role && { role }),
    qualified: true,
    ...(limits ? { limits } : {}),
    definition: {
      name,
      title,
      description,
      inputSchema,
      annotations,
      ...(searchHint !== undefined && { _meta: alwaysLoaded(searchHint) }),
    },
  });
}

/** Returns `_meta` with the keys that Claude's clients read; other clients ignore them. */
function alwaysLoaded(searchHint: string): JsonObject {
  return { "anthropic/alwaysLoad": true, "anthropic/searchHint": searchHint };
}

export function textResult(...texts: readonly string[]): Outcome {
  return ok({ content: texts.map((text) => ({ type: "text", text })) });
}

export function objectResult(value: JsonObject): Outcome {
  return ok({ content: [{ type: "text", text: stringifyExact(value) }], structuredContent: value });
}
