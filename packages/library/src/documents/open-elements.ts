/** Receives each open and close tag once. */
export interface MarkupSink {
  open(name: string, attributes: Readonly<Record<string, string>>): void;
  close(name: string): void;
  text(text: string): void;
}

/** Elements that a tag closes implicitly, up to an enclosing element that it cannot close. */
interface Ends {
  readonly ends: ReadonlySet<string>;
  readonly within: ReadonlySet<string>;
}

interface OpenElement {
  readonly name: string;
  /**
   * True if a later tag closed the element implicitly. Its own end tag, or that of an enclosing element, still follows.
   */
  isClosed: boolean;
}

/** Elements of the head. Any other element starts the body. */
const OF_HEAD = setOf("base basefont bgsound head html link meta noframes noscript script style template title");
const TABLE_PARTS = "caption colgroup tbody tfoot thead tr td th";
const TABLE = setOf("table template html");
const CLOSED_OFF = "applet button caption html marquee object table td template th";
/** Block elements that limit the search for an open list item. */
const BLOCKS =
  "article aside blockquote body center details dialog dir dl fieldset figure footer form header main menu nav ol " +
  "section summary ul";
const ENDS_PARAGRAPH = (
  "address article aside blockquote center dd details dialog dir div dl dt fieldset figcaption figure footer form " +
  "h1 h2 h3 h4 h5 h6 header hgroup hr li listing main menu nav ol p plaintext pre section summary table ul xmp"
).split(" ");

/** Rules by opening tag: the implicit end tags of the HTML standard ("tree construction") that change the text. */
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
 * Tracks the open elements of a page. HTML allows tags to be omitted; this class applies the rules for omitted tags,
 * because the parser applies only those for neighbouring tags.
 */
export class OpenElements implements MarkupSink {
  readonly #sink: MarkupSink;
  readonly #stack: OpenElement[] = [];
  /** Number of open elements of each name. If it is 0, a rule need not search the stack. */
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

  /** Closes the innermost open element. */
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
