import { carelessPattern, patternForms } from "../uris/uri-readings.ts";

/** One pattern of rights, compiled for names and for URIs. */
export interface Pattern {
  readonly text: string;
  /** Text before its first wildcard. */
  readonly head: string;
  readonly uri: UriPattern;
  /** The pattern as one over a URI's path and one over its query. Absent: it has no query. */
  readonly split: { readonly uri: UriPattern; readonly query: string } | undefined;
  /** The pattern as `source::rest`. Absent: it names no source. */
  readonly qualified: { readonly source: string; readonly rest: Pattern } | undefined;
}

export interface UriPattern {
  /** It names a user before the host. */
  readonly hasUser: boolean;
  /** Spellings that mean the same. */
  readonly forms: readonly string[];
  readonly careless: readonly string[];
}

/** Separates the id of a source from a pattern. No scheme of a URI contains it before its authority. */
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

/** Returns true if it matches URIs: names have no colon. */
export function isForUris({ text, qualified }: Pattern): boolean {
  return qualified ? isForUris(qualified.rest) : text.includes(":");
}

function uriPattern(text: string): UriPattern {
  const forms = patternForms(text);
  return { hasUser: /^[^/]*\/\/[^/]*@/.test(text), forms, careless: forms.map(carelessPattern) };
}
