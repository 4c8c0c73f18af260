import { carelessPattern, patternForms } from "../uris/uri-readings.ts";

/** Compiled pattern of rights, for names and for URIs. */
export interface Pattern {
  readonly text: string;
  /** Text before the first wildcard. */
  readonly head: string;
  readonly uri: UriPattern;
  /**
   * Parts of a pattern with a query: a pattern for the URI's path and one for its query. Absent if the pattern has no
   * query.
   */
  readonly split: { readonly uri: UriPattern; readonly query: string } | undefined;
  /** Parts of a pattern `source::rest`. Absent if the pattern names no source. */
  readonly qualified: { readonly source: string; readonly rest: Pattern } | undefined;
}

export interface UriPattern {
  /** True if the pattern names a user before the host. */
  readonly hasUser: boolean;
  /** Equivalent spellings of the pattern. */
  readonly forms: readonly string[];
  readonly careless: readonly string[];
}

/**
 * Matches a pattern that begins with the id of a source. Does not match URIs, because `::` does not occur between
 * scheme and authority.
 */
const QUALIFIED = /^([\w.*?-]+)::(.*)$/s;

export function compilePattern(text: string): Pattern {
  const mark = text.indexOf("?");
  const [, source, rest] = QUALIFIED.exec(text) ?? [];
  return {
    text,
    head: /^[^*?]*/.exec(text)![0],
    uri: uriPattern(text),
    split:
      mark > 0 && text.includes(":")
        ? { uri: uriPattern(text.slice(0, mark)), query: text.slice(mark + 1) }
        : undefined,
    qualified: source === undefined || rest === undefined ? undefined : { source, rest: compilePattern(rest) },
  };
}

/** Returns true if the pattern matches URIs. Names contain no colon. */
export function isForUris({ text, qualified }: Pattern): boolean {
  return qualified ? isForUris(qualified.rest) : text.includes(":");
}

function uriPattern(text: string): UriPattern {
  const forms = patternForms(text);
  return { hasUser: /^[^/]*\/\/[^/]*@/.test(text), forms, careless: forms.map(carelessPattern) };
}
