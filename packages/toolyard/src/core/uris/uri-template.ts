/** Maximum length of a URI and of a template, in characters. A match then costs at most some million steps. */
const MAX_URI_LENGTH = 8192;
const MAX_TEMPLATE_LENGTH = 2048;

export type UriVariables = Readonly<Record<string, string>>;

/** Part of a template: literal text, or an expression. */
type TemplatePiece = { readonly literal: string } | Expression;

interface Expression {
  readonly names: readonly string[];
  /**
   * First character of the expansion (`?`, `&`, `#`, `/`, `.`, `;`), or empty. If it is not empty, the whole expression
   * may be missing in a URI.
   */
  readonly lead: string;
  /** True if values keep characters that have a meaning in URIs. */
  readonly isReserved: boolean;
  /** Returns true if the value may contain the character. */
  readonly holds: (code: number) => boolean;
}

/**
 * RFC 6570 URI template for matching: decides whether a URI can be an expansion, and returns the values. `{x}` matches
 * at least one character and stops at `/`, `?` and `#`; `{+x}` matches any text. The forms `{?x}`, `{&x}`, `{/x}`,
 * `{.x}`, `{;x}` and `{#x}` of the later levels are matched leniently: each may be missing, and names may be in any
 * order. If a URI can be split in several ways, earlier expressions match as much as possible. The time is linear in
 * the URI's length.
 */
export class UriTemplate {
  readonly text: string;
  /**
   * Number of literal characters. Of two matching templates, the one with more literal characters is more specific.
   */
  readonly literalLength: number;
  readonly names: readonly string[];
  /** Literal text at the start of every URI of this template. */
  readonly head: string;
  readonly #pieces: readonly TemplatePiece[];
  /** The pieces with encoded literals. Present if a literal has an encoded form. */
  readonly #encoded: readonly TemplatePiece[] | undefined;

  constructor(text: string) {
    this.text = text;
    this.#pieces = text.length > MAX_TEMPLATE_LENGTH ? [{ literal: text }] : readPieces(text);
    this.literalLength = this.#pieces.reduce((sum, piece) => sum + ("literal" in piece ? piece.literal.length : 0), 0);
    const [first] = this.#pieces;
    this.head = first && "literal" in first ? first.literal : "";
    this.#encoded = hasTwoSpellings(this.#pieces) ? this.#pieces.map(withEncodedLiteral) : undefined;
    this.names = this.#pieces.flatMap((piece) => ("literal" in piece ? [] : piece.names));
  }

  /** Returns the URI for these values, encoded as the expressions require. Missing values are omitted. */
  expand(values: UriVariables): string {
    return this.#pieces.map((piece) => ("literal" in piece ? piece.literal : expandExpression(piece, values))).join("");
  }

  /**
   * Returns the percent-decoded values of the variables, or `undefined` if the URI is not an expansion of this
   * template. Missing values are omitted. Literals match with and without encoding: RFC 6570, 3.1 encodes them in an
   * expansion, and some clients, such as the Python SDK, encode every URI, while servers do not encode literals.
   */
  match(uri: string): UriVariables | undefined {
    if (uri.length > MAX_URI_LENGTH) return undefined;
    return this.#encoded ? matchPieces(this.#encoded, encodeLiteral(uri)) : matchPieces(this.#pieces, uri);
  }
}

function matchPieces(pieces: readonly TemplatePiece[], uri: string): UriVariables | undefined {
  const first = pieces[0];
  if (first === undefined) return uri === "" ? {} : undefined;
  if ("literal" in first && !uri.startsWith(first.literal)) return undefined;
  const table = fillTable(pieces, uri);
  return table[0]![0] === 1 ? readValues(pieces, table, uri) : undefined;
}

function hasTwoSpellings(pieces: readonly TemplatePiece[]): boolean {
  return pieces.some((piece) => "literal" in piece && (piece.literal.includes("%") || ENCODED.test(piece.literal)));
}

function withEncodedLiteral(piece: TemplatePiece): TemplatePiece {
  return "literal" in piece ? { literal: encodeLiteral(piece.literal) } : piece;
}

/** Characters that a URI must encode (RFC 3986, 2). A lone surrogate has no encoding. */
const ENCODED = /[ "<>\\^`|\u{80}-\u{d7ff}\u{e000}-\u{10ffff}]/u;
const ALL_ENCODED = new RegExp(`${ENCODED.source}+`, "gu");

function encodeLiteral(text: string): string {
  return text
    .replaceAll(ALL_ENCODED, encodeURIComponent)
    .replaceAll(/%[0-9a-f]{2}/gi, (escape) => escape.toUpperCase());
}

function expandExpression({ names, lead, isReserved }: Expression, values: UriVariables): string {
  const given = names.filter((name) => values[name] !== undefined);
  if (given.length === 0) return "";
  const encode = isReserved ? encodeURI : encodeURIComponent;
  const isNamed = lead === "?" || lead === "&" || lead === ";";
  const texts = given.map((name) => (isNamed ? `${name}=${encode(values[name]!)}` : encode(values[name]!)));
  const separator = lead === "" || lead === "#" ? "," : lead === "?" ? "&" : lead;
  return `${lead}${texts.join(separator)}`;
}

function readPieces(text: string): TemplatePiece[] {
  const pieces: TemplatePiece[] = [];
  let at = 0;
  while (at < text.length) {
    const open = text.indexOf("{", at);
    const close = open === -1 ? -1 : text.indexOf("}", open);
    // A brace without its partner counts as literal text.
    const literalEnd = close === -1 ? text.length : open;
    if (literalEnd > at) pieces.push({ literal: text.slice(at, literalEnd) });
    if (close === -1) break;
    pieces.push(readExpression(text.slice(open + 1, close)));
    at = close + 1;
  }
  return pieces;
}

function readExpression(body: string): Expression {
  const operator = /^[+#./;?&]/.test(body) ? body[0]! : "";
  const specs = body.slice(operator.length).split(",");
  const names = specs.map((spec) => spec.replace(/(\*|:\d+)$/, "")).filter((name) => name !== "");
  const isList = specs.length > 1 || specs.some((spec) => spec.endsWith("*"));
  const lead = operator === "+" ? "" : operator;
  return { names, lead, isReserved: operator === "+" || operator === "#", holds: characterRule(operator, isList) };
}

function characterRule(operator: string, isList: boolean): (code: number) => boolean {
  switch (operator) {
    case "+":
    case "#":
      return () => true;
    case "?":
    case "&":
      return (code) => code !== HASH;
    case "/":
      return isList ? (code) => code !== QUESTION && code !== HASH : isSegment;
    case ".":
      return isList ? isSegment : (code) => isSegment(code) && code !== DOT;
    default:
      return isSegment;
  }
}

const HASH = 35;
const DOT = 46;
const SLASH = 47;
const QUESTION = 63;

function isSegment(code: number): boolean {
  return code !== SLASH && code !== QUESTION && code !== HASH;
}

/** `table[piece][at]` is 1 if the pieces from `piece` on can produce the URI from `at` to its end. */
function fillTable(pieces: readonly TemplatePiece[], uri: string): Uint8Array[] {
  const table = Array.from({ length: pieces.length + 1 }, () => new Uint8Array(uri.length + 2));
  table[pieces.length]![uri.length] = 1;
  for (let index = pieces.length - 1; index >= 0; index -= 1) {
    const piece = pieces[index]!;
    const rows: PieceRows = { row: table[index]!, next: table[index + 1]! };
    if ("literal" in piece) fillLiteral(piece.literal, uri, rows);
    else fillExpression(piece, uri, rows);
  }
  return table;
}

/** Row of a piece that is being filled, and the filled row of the next piece. */
interface PieceRows {
  readonly row: Uint8Array;
  readonly next: Uint8Array;
}

function fillLiteral(literal: string, uri: string, { row, next }: PieceRows): void {
  for (let at = 0; at + literal.length <= uri.length; at += 1) {
    if (next[at + literal.length] === 1 && uri.startsWith(literal, at)) row[at] = 1;
  }
}

function fillExpression(piece: Expression, uri: string, { row, next }: PieceRows): void {
  const lead = piece.lead === "" ? -1 : piece.lead.charCodeAt(0);
  // True if the remaining pieces can follow a possibly empty value that starts here.
  let run = next[uri.length]!;
  row[uri.length] = lead === -1 ? 0 : next[uri.length]!;
  for (let at = uri.length - 1; at >= 0; at -= 1) {
    const code = uri.charCodeAt(at);
    const longer = piece.holds(code) ? run : 0;
    row[at] = lead === -1 ? longer : next[at]! | (code === lead ? run : 0);
    run = next[at]! | longer;
  }
}

function readValues(pieces: readonly TemplatePiece[], table: readonly Uint8Array[], uri: string): UriVariables {
  const values: [string, string][] = [];
  let at = 0;
  for (const [index, piece] of pieces.entries()) {
    if ("literal" in piece) {
      at += piece.literal.length;
      continue;
    }
    const isThere = piece.lead === "" || uri[at] === piece.lead;
    if (!isThere) continue;
    const from = at + piece.lead.length;
    const length = valueLength(piece, uri.slice(from), table[index + 1]!.subarray(from));
    if (length === -1) continue;
    at = from + length;
    values.push(...splitValue(piece, uri.slice(from, at)));
  }
  return Object.fromEntries(values);
}

/**
 * Returns the maximum length of a value at the start of `text` after which the remaining pieces still match, or -1.
 */
function valueLength(piece: Expression, text: string, next: Uint8Array): number {
  let length = piece.lead !== "" && next[0] === 1 ? 0 : -1;
  for (let at = 0; at < text.length && piece.holds(text.charCodeAt(at)); at += 1) {
    if (next[at + 1] === 1) length = at + 1;
  }
  return length;
}

function splitValue({ names, lead }: Expression, value: string): [string, string][] {
  if (lead === "?" || lead === "&" || lead === ";") return splitPairs(names, value, lead === ";" ? ";" : "&");
  const [first] = names;
  if (first === undefined) return [];
  if (names.length === 1) return [[first, decode(value)]];
  const parts = value.split(lead === "/" || lead === "." ? lead : ",");
  return names.flatMap((name, index) =>
    parts[index] === undefined ? [] : [[name, decode(parts[index])] satisfies [string, string]],
  );
}

function splitPairs(names: readonly string[], value: string, separator: string): [string, string][] {
  return value.split(separator).flatMap((pair) => {
    const equals = pair.indexOf("=");
    const name = equals === -1 ? pair : pair.slice(0, equals);
    return names.includes(name)
      ? [[name, equals === -1 ? "" : decode(pair.slice(equals + 1))] satisfies [string, string]]
      : [];
  });
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // If the percent-encoding is invalid, the value is the text itself.
    return text;
  }
}
