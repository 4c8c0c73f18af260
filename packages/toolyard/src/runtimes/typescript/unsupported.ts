/** A construct that the transformer cannot convert to JavaScript, with the alternative. */
export interface UnsupportedSyntax {
  readonly line: number;
  readonly message: string;
}

/** One token of a source, in the order of the text. */
interface SyntaxToken {
  readonly line: number;
  readonly label: string;
  readonly raw: string;
}

/**
 * Matches sources whose tokens must be checked. The check is cheap. It may match other sources too, but never misses
 * one.
 */
const SUSPICIOUS =
  /@\s*[\w(]|\b(?:namespace|module|accessor)\s+[\w$#["'.]|\bimport\s+(?:type\s+)?[\w$]+\s*=|\bexport\s*=/u;

/**
 * First words of declarations that produce JavaScript. A namespace without them has only types, so the transformer may
 * remove it completely.
 */
const VALUES = new Set(["const", "let", "var", "function", "class", "enum", "abstract", "async"]);

/**
 * Returns the first construct that the transformer would drop or leave unchanged; undefined if there is none.
 * `tokenise` returns sucrase's table of tokens.
 */
export function findUnsupported(source: string, tokenise: (source: string) => string): UnsupportedSyntax | undefined {
  if (!SUSPICIOUS.test(source)) return undefined;
  const tokens = readTokens(tokenise(source));
  for (let at = 0; at < tokens.length; at += 1) {
    const message = judge(tokens, at);
    if (message !== undefined) return { line: tokens[at]!.line, message };
  }
  return undefined;
}

function judge(tokens: readonly SyntaxToken[], at: number): string | undefined {
  const { label, raw } = tokens[at]!;
  if (label === "@")
    return (
      "Decorators are not supported. Call the function that decorates, or compile the file with tsc and name " +
      "the .js file."
    );
  if (isMember(tokens, at)) return undefined;
  if (raw === "namespace" || raw === "module") return judgeNamespace(tokens, at);
  if (raw === "accessor" && isBeforeName(tokens, at))
    return "`accessor` members are not supported. Write a private field with `get` and `set`.";
  if (label === "export" && tokens[at + 1]?.label === "=")
    return "`export =` is not supported in a module. Write `export default` or name the exports.";
  if (label === "import" && isImportAlias(tokens, at))
    return "`import x = a.b` is not supported. Write `const x = a.b`, and `type X = a.B` for a type.";
  return undefined;
}

/** Returns whether the word is an ordinary name after a dot, as in `x.namespace`. */
function isMember(tokens: readonly SyntaxToken[], at: number): boolean {
  const before = tokens[at - 1]?.label;
  return before === "." || before === "?.";
}

/** Returns whether a name follows in the same line. A word at the end of a line is an ordinary name. */
function isBeforeName(tokens: readonly SyntaxToken[], at: number): boolean {
  const next = tokens[at + 1];
  return next?.line === tokens[at]!.line && (next?.label === "name" || next?.label === "#");
}

function isImportAlias(tokens: readonly SyntaxToken[], at: number): boolean {
  if (tokens[at + 1]?.label !== "name" || tokens[at + 2]?.label !== "=") return false;
  return !(tokens[at + 3]?.raw === "require" && tokens[at + 4]?.label === "(");
}

function judgeNamespace(tokens: readonly SyntaxToken[], at: number): string | undefined {
  if (tokens[at + 1]?.label !== "name" || isDeclared(tokens, at)) return undefined;
  let open = at + 2;
  while (tokens[open]?.label === ".") open += 2;
  if (tokens[open]?.label !== "{" || !holdsValues(tokens, open)) return undefined;
  const name = tokens[at + 1]!.raw;
  return (
    `Namespace \`${name}\` holds values, which is not supported. ` +
    `Export them from a module of their own, or make \`${name}\` an object.`
  );
}

/** Returns whether the namespace is declared: `declare namespace`, or inside a declared block. */
function isDeclared(tokens: readonly SyntaxToken[], at: number): boolean {
  let depth = 0;
  for (let back = at - 1; back >= 0; back -= 1) {
    const { label, raw } = tokens[back]!;
    if (back === at - 1 && raw === "declare") return true;
    if (label === "}") depth += 1;
    else if (label === "{" && depth > 0) depth -= 1;
    else if (label === "{") return headIsDeclared(tokens, back);
  }
  return false;
}

function headIsDeclared(tokens: readonly SyntaxToken[], open: number): boolean {
  for (let back = open - 1; back >= 0 && back > open - 16; back -= 1) {
    const { label, raw } = tokens[back]!;
    if (raw === "declare") return true;
    if (label === ";" || label === "{" || label === "}") return false;
  }
  return false;
}

function holdsValues(tokens: readonly SyntaxToken[], open: number): boolean {
  let depth = 0;
  for (let at = open; at < tokens.length; at += 1) {
    const { label, raw } = tokens[at]!;
    if (label === "{") depth += 1;
    else if (label === "}") depth -= 1;
    else if (depth === 1 && VALUES.has(raw) && tokens[at - 1]?.raw !== "declare") return true;
    if (depth === 0) return false;
  }
  return false;
}

/** Parses sucrase's table of tokens. Rows begin with the position, the label and the text. */
function readTokens(table: string): SyntaxToken[] {
  const tokens: SyntaxToken[] = [];
  for (const row of table.split("\n")) {
    const match = /^(\d+):\d+-\d+:\d+\s+(\S+)(?:\s+(\S+))?/u.exec(row);
    if (match) tokens.push({ line: Number(match[1]), label: match[2]!, raw: match[3] ?? "" });
  }
  return tokens;
}
