import { safeToShow } from "../core/text/hidden-text.ts";

/** HTML text. Values of any other type are escaped when they are inserted into HTML. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type HtmlPiece = Html | string | number | undefined | readonly HtmlPiece[];

/**
 * Template tag for HTML. Inserted values are escaped and isolated from the surrounding text direction, unless they are
 * `Html`.
 */
export function html(texts: TemplateStringsArray, ...pieces: readonly HtmlPiece[]): Html {
  return new Html(texts.reduce((whole, text, at) => whole + textOf(pieces[at - 1]) + text));
}

function textOf(piece: HtmlPiece): string {
  if (piece instanceof Html) return piece.text;
  if (Array.isArray(piece)) return (piece as readonly HtmlPiece[]).map(textOf).join("");
  return safeToShow(String(piece ?? "")).replaceAll(/[&<>"']/g, (sign) => ESCAPES[sign]!);
}

const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};
