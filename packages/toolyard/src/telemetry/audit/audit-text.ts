import { stringifyExact } from "../../core/json/exact-json.ts";
import type { JsonObject } from "../../core/json/json.ts";
import { tokensOfBytes } from "../../core/text/token-estimate.ts";
import type { AuditLine, HubEvent } from "../../core/ports/audit.ts";

/** Members of a line, in their order. Objects of callers may have further members. */
const MEMBERS: readonly (keyof AuditLine)[] = [
  "time",
  "call",
  "parent",
  "endpoint",
  "profile",
  "principal",
  "client",
  "issuer",
  "method",
  "target",
  "source",
  "decision",
  "rule",
  "credentials",
  "kind",
  "durationMs",
  "argumentBytes",
  "resultBytes",
  "attempts",
];

/** Returns the line of a call as JSON text. `args`: arguments of the call, if they must be written. */
export function callText(line: AuditLine, args: JsonObject | undefined): string {
  const picked: JsonObject = { event: "call" };
  for (const member of MEMBERS) if (line[member] !== undefined) picked[member] = line[member];
  if (line.resultBytes > 0) picked["resultTokens"] = tokensOfBytes(line.resultBytes);
  if (args) picked["arguments"] = args;
  return stringifyExact(picked);
}

/** Returns the line of an event other than a call, as JSON text. */
export function eventText(
  time: string,
  { event, details, ...facts }: HubEvent,
  clean: (facts: JsonObject) => JsonObject,
): string {
  return stringifyExact({ event, time, ...clean({ ...facts, ...(details && { details }) }) });
}
