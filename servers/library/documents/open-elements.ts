/** Where the tags of a page go, each closed once. */
export interface MarkupSink {
  open(name: string, attributes: Readonly<Record<string, string>>): void;
  close(name: string): void;
  text(text: string): void;
}

/** What a tag ends where its own end was left out, up to an element that nothing gets out of. */
interface Ends {
  readonly ends: ReadonlySet<string>;
  readonly within: ReadonlySet<string>;
}

interface OpenElement {
  readonly name: string;
  /** By a tag that ends it; its own end, or that of what is around it, comes yet. */
  isClosed: boolean;
}

/** What may stand in a head; anything else is in the body already. */
const OF_HEAD = setOf("base basefont bgsound head html link meta noframes noscript script style template title");
const TABLE_PARTS = "caption colgroup tbody tfoot thead tr td th";
const TABLE = setOf("table template html");
const CLOSED_OFF = "applet button caption html marquee object table td template th";
/** Blocks out of which an entry of a list does not reach. */
const BLOCKS =
  "article aside blockquote body center details dialog dir dl fieldset figure footer form header main menu nav ol " +
  "section summary ul";
const ENDS_PARAGRAPH = (
  "address article aside blockquote center dd details dialog dir div dl dt fieldset figcaption figure footer form " +
  "h1 h2 h3 h4 h5 h6 header hgroup hr li listing main menu nav ol p plaintext pre section summary table ul xmp"
).split(" ");

/** By the tag that opens. Those of the standard ("tree construction"), where they change what is read. */
const RULES: ReadonlyMap<string, readonly Ends[]> = rulesOf([
  [ENDS_PARAGRAPH, { ends: setOf("p"), within: setOf(CLOSED_OFF) }],
  [["li"], { ends: setOf("li"), within: setOf(`${CLOSED_OFF} ${BLOCKS}`) }],
  [["dd", "dt"], { ends: setOf("dd dt"), within: setOf(`${CLOSED_OFF} ${BLOCKS}`) }],
  [["td", "th"], { ends: setOf("caption colgroup td th"), within: TABLE }],
  [["tr"], { ends: setOf("caption colgroup td th tr"), within: TABLE }],
  [["tbody", "tfoot", "thead"], { ends: setOf(TABLE_PARTS), within: TABLE }],
]);
const ENDS_HEAD: Ends = { ends: setOf("head"), within: setOf("template") };

/**
 * The elements of a page that are open. Tags may be left out in HTML, and what follows from that is said here: the
 * parser, which has no such rules but for what is next to one another, is told nothing of it.
 */
export class OpenElements implements MarkupSink {
  readonly #sink: MarkupSink;
  readonly #stack: OpenElement[] = [];
  /** How many of each name are not closed: most rules have nothing to look for. */
  readonly #open = new Map<string, number>();

  constructor(sink: MarkupSink) {
    this.#sink = sink;
  }

  open(name: string, attributes: Readonly<Record<string, string>>): void {
    for (const rule of RULES.get(name) ?? []) this.#endBy(rule);
    if (!OF_HEAD.has(name)) this.#endBy(ENDS_HEAD);
    this.#stack.push({ name, isClosed: false });
    this.#count(name, 1);
    this.#sink.open(name, attributes);
  }

  /** Of the element that was opened last and is not taken off yet. */
  close(): void {
    const element = this.#stack.pop();
    if (element) this.#close(element);
  }

  text(text: string): void {
    const last = this.#stack.at(-1);
    if (last?.name === "head" && !last.isClosed && text.trim() !== "") this.#close(last);
    this.#sink.text(text);
  }

  #endBy({ ends, within }: Ends): void {
    if (!Array.from(ends).some((name) => this.#open.get(name))) return;
    let first: number | undefined;
    for (let at = this.#stack.length - 1; at >= 0; at -= 1) {
      const { name, isClosed } = this.#stack[at]!;
      if (isClosed) continue;
      if (ends.has(name)) first = at;
      else if (within.has(name)) break;
    }
    if (first === undefined) return;
    for (let at = this.#stack.length - 1; at >= first; at -= 1) this.#close(this.#stack[at]!);
  }

  #close(element: OpenElement): void {
    if (element.isClosed) return;
    element.isClosed = true;
    this.#count(element.name, -1);
    this.#sink.close(element.name);
  }

  #count(name: string, by: 1 | -1): void {
    this.#open.set(name, (this.#open.get(name) ?? 0) + by);
  }
}

function setOf(names: string): ReadonlySet<string> {
  return new Set(names.split(" "));
}

function rulesOf(rows: readonly (readonly [names: readonly string[], ends: Ends])[]) {
  const rules = new Map<string, Ends[]>();
  for (const [names, ends] of rows) for (const name of names) rules.set(name, [...(rules.get(name) ?? []), ends]);
  return rules;
}
