import { CharSet } from "./char-set.ts";
import { PatternError } from "./pattern-error.ts";

/**
 * The program of a pattern: a graph of nodes by index. Nodes with one successor (`char`, `start`, `end`, `word`,
 * `look`) have `next`; a `split` has two.
 */
export type PatternNode =
  | { readonly op: "char"; readonly set: CharSet; next: number }
  | { readonly op: "split"; next: number; other: number }
  | { readonly op: "start"; next: number }
  | { readonly op: "end"; next: number }
  | { readonly op: "word"; readonly negated: boolean; next: number }
  | { readonly op: "look"; readonly negated: boolean; readonly body: number; next: number }
  | { readonly op: "match" };

export interface PatternProgram {
  readonly nodes: readonly PatternNode[];
  readonly start: number;
}

/** Maximum number of nodes of a pattern. Counted repetitions are written out, so this also limits their counts. */
const MAX_NODES = 20_000;
const MAX_NESTING = 100;
const MAX_PATTERN_CHARS = 10_000;

/**
 * Parses a JavaScript regular expression with the rules of JSON Schema: only the flag `u`, unanchored. Throws a
 * `PatternError`.
 */
export function parsePattern(source: string): PatternProgram {
  if (source.length > MAX_PATTERN_CHARS)
    throw new PatternError(`a pattern of more than ${MAX_PATTERN_CHARS} characters`);
  return new PatternParser(source).parse();
}

/**
 * Creates the nodes of a part of the pattern, given the node that follows. Patterns are built from the end to the
 * start.
 */
type PatternPart = (next: number) => number;

class PatternParser {
  readonly #chars: readonly string[];
  readonly #nodes: PatternNode[] = [];
  #at = 0;
  #nesting = 0;
  #copies = 0;

  constructor(source: string) {
    this.#chars = Array.from(source);
  }

  parse(): PatternProgram {
    const whole = this.#alternatives();
    if (this.#at < this.#chars.length) throw new PatternError("an unmatched `)`");
    const start = whole(this.#add({ op: "match" }));
    return { nodes: this.#nodes, start };
  }

  #add(node: PatternNode): number {
    if (this.#nodes.length >= MAX_NODES) throw new PatternError("repetition counts that multiply to too much");
    return this.#nodes.push(node) - 1;
  }

  // Copies of an empty piece are counted too, because they add no node that the limit would count.
  #countCopy(): void {
    this.#copies += 1;
    if (this.#copies > MAX_NODES) throw new PatternError("repetition counts that multiply to too much");
  }

  #alternatives(): PatternPart {
    const branches = [this.#sequence()];
    while (this.#eat("|")) branches.push(this.#sequence());
    if (branches.length === 1) return branches[0]!;
    return (next) =>
      branches
        .map((branch) => branch(next))
        .reduceRight((other, first) => this.#add({ op: "split", next: first, other }));
  }

  #sequence(): PatternPart {
    const parts: PatternPart[] = [];
    while (this.#at < this.#chars.length && this.#peek() !== "|" && this.#peek() !== ")") parts.push(this.#repeated());
    return (next) => parts.reduceRight((after, part) => part(after), next);
  }

  #repeated(): PatternPart {
    const part = this.#atom();
    const count = this.#quantifier();
    if (!count) return part;
    const { min, max } = count;
    return (next) => {
      let after = max === Infinity ? this.#loop(part, next) : this.#optional(part, max - min, next);
      for (let times = 0; times < min; times += 1) {
        this.#countCopy();
        after = part(after);
      }
      return after;
    };
  }

  #loop(part: PatternPart, next: number): number {
    const split = { op: "split" as const, next: -1, other: next };
    const at = this.#add(split);
    split.next = part(at);
    return at;
  }

  #optional(part: PatternPart, times: number, next: number): number {
    let after = next;
    for (let left = times; left > 0; left -= 1) after = this.#add({ op: "split", next: part(after), other: next });
    return after;
  }

  #quantifier(): { min: number; max: number } | undefined {
    const count = this.#count();
    // The mark of a lazy repetition is skipped, because lazy and greedy repetitions match the same texts.
    if (count) this.#eat("?");
    if (count && count.min > count.max) throw new PatternError("a repetition with its limits in the wrong order");
    return count;
  }

  #count(): { min: number; max: number } | undefined {
    if (this.#eat("*")) return { min: 0, max: Infinity };
    if (this.#eat("+")) return { min: 1, max: Infinity };
    if (this.#eat("?")) return { min: 0, max: 1 };
    if (this.#peek() !== "{") return undefined;
    const text = this.#chars.slice(this.#at, this.#at + 24).join("");
    const match = /^\{(\d{1,9})(,(\d{0,9}))?\}/.exec(text);
    if (!match) return undefined;
    this.#at += match[0].length;
    const min = Number(match[1]);
    if (match[2] === undefined) return { min, max: min };
    return { min, max: match[3] === "" ? Infinity : Number(match[3]) };
  }

  #atom(): PatternPart {
    const char = this.#take();
    switch (char) {
      case "^":
        return (next) => this.#add({ op: "start", next });
      case "$":
        return (next) => this.#add({ op: "end", next });
      case "(":
        return this.#group();
      case ".":
        return this.#set(CharSet.ofClass("."));
      case "[":
        return this.#set(CharSet.ofClass(this.#classSource()));
      case "\\":
        return this.#escape();
      case "*":
      case "+":
      case "?":
        throw new PatternError(`nothing to repeat before \`${char}\``);
      default:
        return this.#set(CharSet.ofChar(char));
    }
  }

  #set(set: CharSet): PatternPart {
    return (next) => this.#add({ op: "char", set, next });
  }

  #group(): PatternPart {
    this.#nesting += 1;
    if (this.#nesting > MAX_NESTING) throw new PatternError(`groups nested more than ${MAX_NESTING} deep`);
    const look = this.#eat("?") ? this.#groupKind() : undefined;
    const body = this.#alternatives();
    if (!this.#eat(")")) throw new PatternError("a group without its `)`");
    this.#nesting -= 1;
    if (look === undefined) return body;
    return (next) => this.#add({ op: "look", negated: look === "!", body: body(this.#add({ op: "match" })), next });
  }

  #groupKind(): "=" | "!" | undefined {
    if (this.#eat(":")) return undefined;
    if (this.#eat("=")) return "=";
    if (this.#eat("!")) return "!";
    if (this.#eat("<") && this.#peek() !== "=" && this.#peek() !== "!") {
      while (this.#take() !== ">");
      return undefined;
    }
    throw new PatternError("a look behind or a group modifier");
  }

  #classSource(): string {
    const from = this.#at - 1;
    // A `]` directly after `[` closes the class: `[]` matches nothing, as in JavaScript.
    for (let char = this.#take(); char !== "]"; char = this.#take()) if (char === "\\") this.#take();
    return this.#chars.slice(from, this.#at).join("");
  }

  #escape(): PatternPart {
    const char = this.#take();
    if (char === "b" || char === "B") return (next) => this.#add({ op: "word", negated: char === "B", next });
    if (/[1-9k]/.test(char)) throw new PatternError("a back reference");
    const rest = this.#chars.slice(this.#at, this.#at + 40).join("");
    const tail = ESCAPE_TAILS[char]?.exec(rest)?.[0] ?? "";
    this.#at += Array.from(tail).length;
    return this.#set(CharSet.ofClass(`\\${char}${tail}`));
  }

  #peek(): string | undefined {
    return this.#chars[this.#at];
  }

  #take(): string {
    const char = this.#chars[this.#at];
    if (char === undefined) throw new PatternError("an end in the middle of a class, an escape or a group");
    this.#at += 1;
    return char;
  }

  #eat(char: string): boolean {
    if (this.#chars[this.#at] !== char) return false;
    this.#at += 1;
    return true;
  }
}

// Patterns for the characters that follow the letter of an escape, by the letter.
const ESCAPE_TAILS: Readonly<Record<string, RegExp>> = {
  u: /^(?:\{[0-9a-fA-F]{1,6}\}|[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|[0-9a-fA-F]{4})/,
  x: /^[0-9a-fA-F]{2}/,
  c: /^[a-zA-Z]/,
  p: /^\{[A-Za-z0-9_=]{1,36}\}/,
  P: /^\{[A-Za-z0-9_=]{1,36}\}/,
};
