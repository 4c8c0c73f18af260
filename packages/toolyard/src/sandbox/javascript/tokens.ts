import { createRequire } from "node:module";

/** A token of code, as sucrase's parser returns it. */
export interface SourceToken {
  readonly label: string;
  readonly start: number;
  readonly end: number;
  /** Role of an identifier, numbered as in sucrase; null for other tokens. */
  readonly identifierRole: number | null;
}

interface Parser {
  // oxlint-disable-next-line max-params -- The parser's own signature.
  readonly parse: (
    source: string,
    jsx: boolean,
    typescript: boolean,
    flow: boolean,
  ) => { readonly tokens: readonly (Omit<SourceToken, "label"> & { readonly type: number })[] };
  readonly formatTokenType: (type: number) => string;
}

/** Returns the tokens of JavaScript code. Throws if the parser fails. */
export function tokensOf(code: string, sucrasePath: string): SourceToken[] {
  const { parse, formatTokenType } = createRequire(import.meta.url)(sucrasePath) as Parser;
  return parse(code, false, false, false).tokens.map(({ type, start, end, identifierRole }) => ({
    label: formatTokenType(type),
    start,
    end,
    identifierRole,
  }));
}
