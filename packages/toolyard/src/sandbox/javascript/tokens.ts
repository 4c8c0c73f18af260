import { createRequire } from "node:module";
import { dirname, join } from "node:path";

/** A token of code, as sucrase's parser has it. */
export interface SourceToken {
  readonly label: string;
  readonly start: number;
  readonly end: number;
  /** What a name is there for, as sucrase numbers it; null for what is no name. */
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
}

interface Types {
  readonly formatTokenType: (type: number) => string;
}

/** The tokens of code in JavaScript. Throws where the parser gives up. */
export function tokensOf(code: string, sucrasePath: string): SourceToken[] {
  const load = createRequire(import.meta.url);
  const folder = join(dirname(sucrasePath), "parser");
  const { parse } = load(join(folder, "index.js")) as Parser;
  const { formatTokenType } = load(join(folder, "tokenizer", "types.js")) as Types;
  return parse(code, false, false, false).tokens.map(({ type, start, end, identifierRole }) => ({
    label: formatTokenType(type),
    start,
    end,
    identifierRole,
  }));
}
