import type { OutageReport, Source } from "../../core/sources/records.ts";

/** Name and port of a server for users and models, such as `Weather MCP` on port 50053. */
export interface ServiceName {
  readonly name: string;
  readonly port: number;
}

/** Creates the outage report `{error: "Weather MCP unavailable on port 50053"}` from `display_name` (M4, C36). */
export function serviceOutage({ name, port }: ServiceName): OutageReport {
  const message = `${name} unavailable on port ${port}`;
  return {
    message,
    text: JSON.stringify({ error: message }),
    fit: (toolName, source) => fit(toolName, source, name),
  };
}

/**
 * Counts the words that the tool name shares with the server's names: `get_weather` shares one with `Weather MCP`, and
 * `geocode` shares a similar word with `Geocoding MCP`.
 */
function fit(toolName: string, { id, namespace, shape }: Source, serviceName: string): number {
  const configured = [...(shape?.include ?? []), ...Object.entries(shape?.rename ?? {}).flat()];
  if (configured.includes(toolName)) return Infinity;
  const own = wordsOf(`${id} ${namespace} ${serviceName}`);
  return wordsOf(toolName).filter((word) => own.some((other) => isSimilar(word, other))).length;
}

/** Words that do not describe the subject of a tool or service. */
const FILLERS: ReadonlySet<string> = new Set(["mcp", "get", "tool", "server", "service"]);

function wordsOf(text: string): readonly string[] {
  return (text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).filter((word) => !FILLERS.has(word));
}

const MIN_STEM = 4;

/**
 * Returns whether two words have a common start of at least `MIN_STEM` letters that is at most one letter shorter than
 * the shorter word.
 */
function isSimilar(one: string, other: string): boolean {
  if (one === other) return true;
  const shorter = Math.min(one.length, other.length);
  let shared = 0;
  while (shared < shorter && one[shared] === other[shared]) shared += 1;
  return shared >= MIN_STEM && shared >= shorter - 1;
}
