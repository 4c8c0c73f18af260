import { createRequire } from "node:module";
import type * as sucraseModule from "sucrase";
import { findUnsupported } from "../../runtimes/typescript/unsupported.ts";
import type { SandboxJob } from "../engine.ts";
import { SourceError, type SourceText } from "./source-error.ts";
import { tokensOf, type SourceToken } from "./tokens.ts";

type SourceTransformer = Pick<typeof sucraseModule, "transform" | "getFormattedTokens">;

/**
 * Converts the code of a job to source text for the interpreter; line numbers do not change. Throws a `SourceError`.
 */
export function prepareSource({ language, code, session }: SandboxJob, sucrasePath: string): SourceText {
  const name = language === "typescript" ? "code.ts" : "code.js";
  const script = language === "typescript" ? stripTypes(code, sucrasePath) : code;
  const { text, names } = session === undefined ? { text: script, names: [] } : keepVariables(script, sucrasePath);
  // In a session, the function copies the names that it declares to the global object, even if it throws.
  const keep = names.map((each) => `globalThis.${each}=${each};`).join("");
  const prefix = names.length === 0 ? "(async()=>{" : `(()=>{let $keep$;const $run$=(async()=>{$keep$=()=>{${keep}};`;
  const suffix = names.length === 0 ? "})()" : "})();return $run$.finally(()=>$keep$())})()";
  return { name, code: text, wrapped: `${prefix}${text}\n${suffix}`, wrapperChars: prefix.length };
}

// The module is loaded for the first code that needs it, because loading takes 80 ms in a new thread.
let loaded: SourceTransformer | undefined;

function sucrase(path: string): SourceTransformer {
  loaded ??= createRequire(import.meta.url)(path) as SourceTransformer;
  return loaded;
}

function stripTypes(code: string, path: string): string {
  const { transform, getFormattedTokens } = sucrase(path);
  try {
    const unsupported = findUnsupported(code, (text) => getFormattedTokens(text, { transforms: ["typescript"] }));
    if (unsupported) throw new SourceError(unsupported.message, unsupported.line);
    return transform(code, {
      transforms: ["typescript"],
      disableESTransforms: true,
      preserveDynamicImport: true,
      keepUnusedImports: true,
    }).code;
  } catch (error) {
    throw error instanceof SourceError ? error : syntaxError(error);
  }
}

function syntaxError(error: unknown): SourceError {
  const words = error instanceof Error ? error.message : String(error);
  const match = /^(?:Error transforming [^:]*: )?(.*?) \((\d+):(\d+)\)$/su.exec(words);
  return new SourceError(match?.[1] ?? "This is not valid TypeScript.", Number(match?.[2] ?? 1));
}

/**
 * Converts top-level declarations to `var`, so that the next run of the session sees them and may declare them again,
 * as in a console. Declarations inside blocks, brackets and functions are unchanged. Invalid code is unchanged: the
 * interpreter reports the error.
 */
function keepVariables(code: string, path: string): { readonly text: string; readonly names: readonly string[] } {
  let tokens: readonly SourceToken[];
  try {
    tokens = tokensOf(code, path);
  } catch {
    return { text: code, names: [] };
  }
  const names = new Set(tokens.filter(isTopName).map(({ start, end }) => code.slice(start, end)));
  let text = code;
  for (const { at, remove, insert } of editsOf(code, tokens).toReversed())
    text = text.slice(0, at) + insert + text.slice(at + remove);
  return { text, names: Array.from(names) };
}

interface Edit {
  readonly at: number;
  readonly remove: number;
  readonly insert: string;
}

const OPENING: ReadonlySet<string> = new Set(["{", "${", "(", "["]);
const CLOSING: ReadonlySet<string> = new Set(["}", ")", "]"]);
/** Values of sucrase's `IdentifierRole` for names that are declared at the top level. */
const TOP_LEVEL_ROLES: ReadonlySet<number> = new Set([2, 5]);

function isTopName({ identifierRole }: SourceToken): boolean {
  return identifierRole !== null && TOP_LEVEL_ROLES.has(identifierRole);
}

/** Returns the edits in source order. */
function editsOf(code: string, tokens: readonly SourceToken[]): Edit[] {
  const edits: Edit[] = [];
  let openClass = false;
  for (const { token, next } of outermost(tokens)) {
    const { label, start, end } = token;
    if (openClass && label === "}") {
      edits.push({ at: end, remove: 0, insert: ";" });
      openClass = false;
    }
    // The replacement has the same length as the replaced word, so that columns stay correct.
    if (label === "const" || label === "let")
      edits.push({ at: start, remove: end - start, insert: "var".padEnd(end - start) });
    if (label === "class" && next && isTopName(next)) {
      edits.push({ at: start, remove: 0, insert: `var ${code.slice(next.start, next.end)}=` });
      openClass = true;
    }
  }
  return edits;
}

/** Yields the tokens outside of all brackets and the brackets at that level, each with the token after it. */
function* outermost(
  tokens: readonly SourceToken[],
): Generator<{ readonly token: SourceToken; readonly next: SourceToken | undefined }> {
  let depth = 0;
  for (const [at, token] of tokens.entries()) {
    if (OPENING.has(token.label)) depth += 1;
    if (CLOSING.has(token.label)) depth -= 1;
    if (depth <= 0) yield { token, next: tokens[at + 1] };
  }
}
