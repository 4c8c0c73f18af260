import type { SourcePart } from "./source-part.ts";

/**
 * Returns the prefix that distinguishes the URIs of each source: its namespace (or id) and `+`, so that the result is a
 * URI. All prefixes are distinct, even if case is ignored.
 */
export function uriPrefixes(parts: readonly SourcePart[]): ReadonlyMap<SourcePart, string> {
  const taken = new Set<string>();
  const prefixes = new Map<SourcePart, string>();
  for (const part of parts) {
    const { namespace, id } = part.source;
    const wanted = [namespace, id].filter((name) => name !== "").map((name) => `${toScheme(name)}+`);
    const prefix = wanted.find((one) => !taken.has(one.toLowerCase())) ?? numbered(wanted[0]!, taken);
    taken.add(prefix.toLowerCase());
    prefixes.set(part, prefix);
  }
  return prefixes;
}

/**
 * Returns the scheme of a URI or template in lower case. Returns `undefined` if the text does not start with a complete
 * scheme.
 */
export function schemeOf(text: string): string | undefined {
  return /^[a-z][a-z0-9+.-]*(?=:)/i.exec(text.slice(0, MAX_SCHEME_LENGTH + 1))?.[0].toLowerCase();
}

const MAX_SCHEME_LENGTH = 128;

/** Converts a name to a scheme, which starts with a letter, followed by letters, digits, `.` and `-`. */
function toScheme(name: string): string {
  const plain = name.replaceAll(/[^A-Za-z0-9.-]/g, "-");
  return /^[A-Za-z]/.test(plain) ? plain : `x${plain}`;
}

function numbered(prefix: string, taken: ReadonlySet<string>): string {
  let number = 2;
  while (taken.has(`${prefix.slice(0, -1)}-${number}+`.toLowerCase())) number += 1;
  return `${prefix.slice(0, -1)}-${number}+`;
}
