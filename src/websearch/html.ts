/** A piece of an HTML page, as far as reading a list of results needs it. */
export type HtmlPiece =
  | { readonly type: "text"; readonly text: string }
  | {
      readonly type: "open";
      readonly name: string;
      attribute(name: string): string | undefined;
      hasClass(name: string): boolean;
    }
  | { readonly type: "close"; readonly name: string };

/** Elements whose content is no markup. */
const RAW: ReadonlySet<string> = new Set(["script", "style", "textarea", "title"]);

/**
 * Cuts a page into tags and texts, in one pass over it; comments and scripts are left out. Never throws, whatever the
 * page is.
 */
export function* htmlPieces(html: string): Generator<HtmlPiece> {
  let at = 0;
  while (at < html.length) {
    const start = html.indexOf("<", at);
    if (start !== at) yield { type: "text", text: decodeEntities(html.slice(at, start === -1 ? html.length : start)) };
    if (start === -1) return;
    if (html.startsWith("<!--", start)) {
      at = endOf(html, "-->", start + 4);
      continue;
    }
    const end = tagEnd(html, start);
    const tag = toTag(html.slice(start + 1, end - 1));
    if (tag) yield tag;
    else if (!/^<[!?/]/.test(html.slice(start, start + 2)))
      yield { type: "text", text: decodeEntities(html.slice(start, end)) };
    at = tag?.type === "open" && RAW.has(tag.name) ? rawEnd(html, tag.name, end) : end;
  }
}

function endOf(html: string, mark: string, from: number): number {
  const end = html.indexOf(mark, from);
  return end === -1 ? html.length : end + mark.length;
}

// Up to the next closing tag of the same name in any case; a page without one ends here.
function rawEnd(html: string, name: string, from: number): number {
  for (let at = html.indexOf("</", from); at !== -1; at = html.indexOf("</", at + 2)) {
    if (html.slice(at + 2, at + 2 + name.length).toLowerCase() === name) return at;
  }
  return html.length;
}

/** One past the `>` that ends a tag; a `>` in a quoted value does not. */
function tagEnd(html: string, start: number): number {
  let quote = "";
  for (let at = start + 1; at < html.length; at += 1) {
    const char = html[at]!;
    if (quote !== "") {
      if (char === quote) quote = "";
    } else if ((char === '"' || char === "'") && html[at - 1] === "=") quote = char;
    else if (char === ">") return at + 1;
  }
  return html.length;
}

function toTag(inside: string): HtmlPiece | undefined {
  const [, slash, name] = /^(\/?)([a-zA-Z][a-zA-Z0-9-]*)/.exec(inside) ?? [];
  if (name === undefined) return undefined;
  if (slash === "/") return { type: "close", name: name.toLowerCase() };
  const rest = inside.slice(name.length);
  const attribute = (wanted: string): string | undefined => readAttribute(rest, wanted);
  return {
    type: "open",
    name: name.toLowerCase(),
    attribute,
    hasClass: (one) => (attribute("class") ?? "").split(/\s+/).includes(one),
  };
}

const ATTRIBUTE = /([^\s"'=<>/]+)(?:=(?:"([^"]*)"|'([^']*)'|([^\s"'>]+)))?/g;

function readAttribute(text: string, wanted: string): string | undefined {
  for (const [, name, double, single, bare] of text.matchAll(ATTRIBUTE)) {
    if (name!.toLowerCase() === wanted) return decodeEntities(double ?? single ?? bare ?? "");
  }
  return undefined;
}

const NAMED: ReadonlyMap<string, string> = new Map(
  Object.entries({
    amp: "&",
    lt: "<",
    gt: ">",
    quot: '"',
    apos: "'",
    nbsp: " ",
    hellip: "…",
    mdash: "—",
    ndash: "–",
    lsquo: "‘",
    rsquo: "’",
    ldquo: "“",
    rdquo: "”",
    laquo: "«",
    raquo: "»",
    middot: "·",
    bull: "•",
    copy: "©",
    reg: "®",
    trade: "™",
    deg: "°",
    euro: "€",
    times: "×",
  }),
);

/** Text with its character references replaced; what is none stays as it is. */
export function decodeEntities(text: string): string {
  return text.replaceAll(
    /&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|([a-zA-Z]{2,8}));/g,
    (whole, ...[decimal, hex, name]: (string | undefined)[]) => {
      if (name !== undefined) return NAMED.get(name) ?? whole;
      const code = decimal === undefined ? Number.parseInt(hex!, 16) : Number(decimal);
      return code > 0 && code <= 0x10_ff_ff && !(code >= 0xd8_00 && code <= 0xdf_ff)
        ? String.fromCodePoint(code)
        : whole;
    },
  );
}

/** The text of a fragment, without its tags. */
export function plainText(html: string): string {
  let text = "";
  for (const piece of htmlPieces(html)) if (piece.type === "text") text += piece.text;
  return text;
}
