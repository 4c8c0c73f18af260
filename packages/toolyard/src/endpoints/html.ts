import { safeToShow } from "../core/text/hidden-text.ts";

/** Text that is already HTML; all other values are escaped when they are inserted into a piece. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type HtmlPiece = Html | string | number | undefined | readonly HtmlPiece[];

/**
 * A piece of HTML. Inserted values are escaped and isolated from the text direction around them, unless they are pieces
 * themselves.
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
