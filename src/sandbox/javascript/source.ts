import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type * as sucraseModule from "sucrase";
import { findUnsupported } from "../../runtimes/typescript/unsupported.ts";
import type { SandboxJob } from "../engine.ts";
import { SourceError, type Source } from "./source-error.ts";

type Sucrase = Pick<typeof sucraseModule, "transform" | "getFormattedTokens">;

interface Token {
  readonly type: number;
  readonly start: number;
  readonly end: number;
  readonly identifierRole: number | null;
}

interface SucraseParser {
  // oxlint-disable-next-line max-params -- The parser's own signature.
  readonly parse: (
    source: string,
    jsx: boolean,
    typescript: boolean,
    flow: boolean,
  ) => { readonly tokens: readonly Token[] };
  readonly formatTokenType: (type: number) => string;
}

/** Makes code of a job what the interpreter reads; lines stay where they are. Throws a `SourceError`. */
export function prepareSource({ language, code, session }: SandboxJob, sucrasePath: string): Source {
  const name = language === "typescript" ? "code.ts" : "code.js";
  const script = language === "typescript" ? stripTypes(code, sucrasePath) : code;
  const { text, names } = session === undefined ? { text: script, names: [] } : keepVariables(script, sucrasePath);
  // In a session, what the function declares is handed out of it, whichever way it ends.
  const keep = names.map((each) => `globalThis.${each}=${each};`).join("");
  const prefix = names.length === 0 ? "(async()=>{" : `(()=>{let $keep$;const $run$=(async()=>{$keep$=()=>{${keep}};`;
  const suffix = names.length === 0 ? "})()" : "})();return $run$.finally(()=>$keep$())})()";
  return { name, code: text, wrapped: `${prefix}${text}\n${suffix}`, wrapperChars: prefix.length };
}

// Loaded at the first code that needs it: it takes 80 ms in a fresh thread.
let loaded: Sucrase | undefined;

function sucrase(path: string): Sucrase {
  loaded ??= createRequire(import.meta.url)(path) as Sucrase;
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
 * Declarations at the top of the code become `var`, so that the next run of the session sees them and may declare them
 * anew, as in a console. What is inside blocks, brackets and functions stays. Code that cannot be read stays as it is:
 * the interpreter says why.
 */
function keepVariables(code: string, path: string): { readonly text: string; readonly names: readonly string[] } {
  const load = createRequire(import.meta.url);
  const { parse } = load(join(dirname(path), "parser", "index.js")) as SucraseParser;
  const { formatTokenType } = load(join(dirname(path), "parser", "tokenizer", "types.js")) as SucraseParser;
  let tokens: readonly Token[];
  try {
    ({ tokens } = parse(code, false, false, false));
  } catch {
    return { text: code, names: [] };
  }
  return rewrite(code, tokens, formatTokenType);
}

const OPENING: ReadonlySet<string> = new Set(["{", "${", "(", "["]);
const CLOSING: ReadonlySet<string> = new Set(["}", ")", "]"]);
/** `IdentifierRole` of names that are declared at the top, as sucrase numbers them. */
const TOP_LEVEL_ROLES: ReadonlySet<number> = new Set([2, 5]);

// oxlint-disable-next-line complexity -- One pass over the tokens, one line a kind of token.
function rewrite(
  code: string,
  tokens: readonly Token[],
  labelOf: (type: number) => string,
): { readonly text: string; readonly names: readonly string[] } {
  const edits: { readonly at: number; readonly remove: number; readonly insert: string }[] = [];
  const names = new Set<string>();
  let depth = 0;
  let openClass = false;
  for (const [at, token] of tokens.entries()) {
    const label = labelOf(token.type);
    if (token.identifierRole !== null && TOP_LEVEL_ROLES.has(token.identifierRole))
      names.add(code.slice(token.start, token.end));
    if (OPENING.has(label)) depth += 1;
    if (CLOSING.has(label)) depth -= 1;
    if (openClass && depth === 0 && label === "}") {
      edits.push({ at: token.end, remove: 0, insert: ";" });
      openClass = false;
    }
    if (depth > 0) continue;
    // As long as what it replaces, so that columns stay.
    if (label === "const" || label === "let")
      edits.push({ at: token.start, remove: token.end - token.start, insert: "var".padEnd(token.end - token.start) });
    const next = tokens[at + 1];
    if (label === "class" && next && next.identifierRole !== null && TOP_LEVEL_ROLES.has(next.identifierRole)) {
      edits.push({ at: token.start, remove: 0, insert: `var ${code.slice(next.start, next.end)}=` });
      openClass = true;
    }
  }
  let text = code;
  for (const { at, remove, insert } of edits.toReversed()) text = text.slice(0, at) + insert + text.slice(at + remove);
  return { text, names: Array.from(names) };
}
