import type { Parser } from "htmlparser2";

/** Receives the parts of an HTML page in document order, with character references decoded. */
export interface HtmlSink {
  /** Called for an opening tag. `attributes` has no prototype members that a page could use. */
  open(name: string, attributes: ReadonlyMap<string, string>): void;
  text(text: string): void;
  close(name: string): void;
}

/** Maximum nesting depth of elements, at which reading stops. The parser's time grows with the square of the depth. */
const MAX_DEPTH = 1000;
/** Elements with text that a browser does not display in the page. */
const HIDDEN: ReadonlySet<string> = new Set(["script", "style", "template", "textarea", "title"]);
/** Elements that start a new line, so that words before and after them are separate. */
const BREAKS: ReadonlySet<string> = new Set(
  (
    "address article aside blockquote br dd div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 " +
    "header hr li main nav ol p pre section table tbody td tfoot th thead tr ul"
  ).split(" "),
);

/**
 * Parses a page. Omits comments and the content of scripts and similar elements. Resolves for every input. A page with
 * elements nested too deeply is read up to that point.
 */
export async function parseHtml(html: string, sink: HtmlSink): Promise<void> {
  // The parser is loaded for the first response with markup, because a hub that never searches the web does not need
  // it.
  const { Parser } = await import("htmlparser2");
  let depth = 0;
  let hidden = 0;
  const parser: Parser = new Parser({
    onopentag(name, attributes) {
      depth += 1;
      if (depth > MAX_DEPTH) return parser.pause();
      if (HIDDEN.has(name)) hidden += 1;
      if (hidden === 0) sink.open(name, new Map(Object.entries(attributes)));
    },
    ontext(text) {
      if (hidden === 0 && depth <= MAX_DEPTH) sink.text(text);
    },
    onclosetag(name) {
      depth -= 1;
      if (hidden === 0) sink.close(name);
      else if (HIDDEN.has(name)) hidden -= 1;
    },
  });
  parser.end(html);
}

/** Returns the text of a fragment without tags. A space separates the texts of neighbouring blocks. */
export async function plainText(html: string): Promise<string> {
  if (!/[<&]/.test(html)) return html;
  let text = "";
  const separate = (name: string): void => {
    if (BREAKS.has(name)) text += " ";
  };
  await parseHtml(html, { open: separate, text: (piece) => void (text += piece), close: separate });
  return text;
}
