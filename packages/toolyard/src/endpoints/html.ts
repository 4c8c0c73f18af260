import { safeToShow } from "../core/text/hidden-text.ts";

/** Text that is HTML already; everything else is escaped when it is put into a piece. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type HtmlPiece = Html | string | number | undefined | readonly HtmlPiece[];

/** A piece of HTML; what is put in is escaped and turns no writing, unless it is a piece itself. */
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
