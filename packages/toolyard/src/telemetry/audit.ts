import type { JsonObject } from "../core/json/json.ts";
import type { Audit, AuditLine } from "../core/ports/audit.ts";
import { isoNow } from "../core/text/iso-now.ts";
import { callText, eventText } from "./audit/audit-text.ts";
import { boundedFacts } from "./bounded-facts.ts";
import type { LateLine, LineSink } from "./line-sink.ts";
import type { Redactor } from "./redactor.ts";

/** Approximate length of a line without its target and arguments. */
const OTHER_CHARS = 400;
/** Maximum number of client names with a cached redacted form; callers choose the names. */
const MAX_CLIENTS = 1000;

export const NO_AUDIT: Audit = Object.freeze({ isSilent: true, write: () => {}, record: () => {} });

export interface AuditSettings {
  readonly redactor: Redactor;
  /** True to write the arguments of calls, redacted and truncated. @default false */
  readonly hasArguments?: boolean;
}

/**
 * Creates the audit, which writes one JSON line for each call and event to every sink. Names from callers may contain
 * secrets, so they are redacted. The caller opens and closes the sinks.
 */
export function createAudit(sinks: readonly LineSink[], { redactor, hasArguments = false }: AuditSettings): Audit {
  const redact = (text: string): string => redactor.text(text);
  const clean = (facts: JsonObject): JsonObject => redactor.facts(boundedFacts(facts, redact));
  const clientName = keptTexts(redact);
  const send = (line: LateLine): void => {
    for (const sink of sinks) sink.write(line);
  };
  return {
    write: (line, args) => {
      // The line is redacted now, because it is built later and the secrets may have changed by then.
      const facts = withRedactedNames(line, redact, clientName);
      const values = hasArguments && args ? clean(args) : undefined;
      send(lateLine(facts.target.length + OTHER_CHARS, () => callText(facts, values)));
    },
    record: (event) => {
      const text = eventText(isoNow(), event, clean);
      send(lateLine(text.length, () => text));
    },
  };
}

function withRedactedNames(
  line: AuditLine,
  redact: (text: string) => string,
  clientName: (text: string) => string,
): AuditLine {
  const target = redact(line.target);
  const client = line.client === undefined ? undefined : clientName(line.client);
  return target === line.target && client === line.client ? line : { ...line, target, client };
}

/** Returns a function that caches the redacted form of texts, up to a limit. */
function keptTexts(redact: (text: string) => string): (text: string) => string {
  const kept = new Map<string, string>();
  return (text) => {
    let redacted = kept.get(text);
    if (redacted !== undefined) return redacted;
    redacted = redact(text);
    if (kept.size >= MAX_CLIENTS) kept.clear();
    kept.set(text, redacted);
    return redacted;
  };
}

/** Creates a line. Its text is built once, for the first sink that writes it. */
function lateLine(chars: number, build: () => string): LateLine {
  let text: string | undefined;
  return { chars, text: () => (text ??= build()) };
}
