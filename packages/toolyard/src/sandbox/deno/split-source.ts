import type { SourceText } from "../javascript/source-error.ts";

/** Code, and the positions where its last statement may begin. */
export interface SplitSource extends SourceText {
  /** Positions in `code`, ascending. */
  readonly starts: readonly number[];
  /** End of the last statement, without its semicolon. */
  readonly end: number;
}

/** Result of parsing: the split code, or the problem and its line. */
export type SplitResult = SplitSource | { readonly problem: string; readonly line: number };

/**
 * Maximum number of positions that are tried. If the last statement needs more positions, its value is not returned.
 */
const MAX_STARTS = 200;
const NO_EXPRESSION: ReadonlySet<string> = new Set([
  "{",
  "function",
  "class",
  "let",
  "const",
  "var",
  "if",
  "for",
  "while",
  "do",
  "try",
  "switch",
  "return",
  "throw",
  "import",
  "export",
]);
const OPENING: ReadonlySet<string> = new Set(["{", "${", "(", "["]);
const CLOSING: ReadonlySet<string> = new Set(["}", ")", "]"]);

export interface Token {
  readonly label: string;
  readonly start: number;
  readonly end: number;
}

/** Returns the possible starts of the last statement, by its tokens; only a parser can decide among them. */
export function splitLast(code: string, tokens: readonly Token[]): Pick<SplitSource, "starts" | "end"> {
  const words = tokens.filter(({ label }) => label !== "eof");
  while (words.at(-1)?.label === ";") words.pop();
  let starts: number[] = [];
  let depth = 0;
  for (const [at, token] of words.entries()) {
    if (CLOSING.has(token.label)) depth -= 1;
    if (depth === 0) starts = startsAfter(starts, code, [words[at - 1], token]);
    if (OPENING.has(token.label)) depth += 1;
  }
  return { starts: starts.slice(-MAX_STARTS), end: words.at(-1)?.end ?? 0 };
}

function startsAfter(starts: number[], code: string, [before, token]: readonly [Token | undefined, Token]): number[] {
  const kept = before?.label === ";" ? [] : starts;
  return mayBegin(code, token, before) ? [...kept, token.start] : kept;
}

function mayBegin(code: string, token: Token, before: Token | undefined): boolean {
  const text = code.slice(token.start, token.end);
  if (NO_EXPRESSION.has(text) || (text === "async" && /^async\s+function\b/u.test(code.slice(token.start))))
    return false;
  return (
    before === undefined ||
    before.label === ";" ||
    before.label === "}" ||
    /[\n\r\u2028\u2029]/u.test(code.slice(before.end, token.start))
  );
}
