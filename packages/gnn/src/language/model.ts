import type { Span } from "./source.ts";

/** A parsed text. */
export interface GnnFile {
  readonly form: "markdown" | "csv";
  readonly frontMatter?: FrontMatter;
  readonly models: readonly Model[];
  /** The models are in code fences of a document; the rest of the document is not part of the file. */
  readonly isFenced?: boolean;
}

/** The YAML block in front of everything. */
export interface FrontMatter {
  /** The lines as written, without the delimiters. */
  readonly lines: readonly string[];
  /** Scalars and lists; deeper values are in `lines` only. */
  readonly values: Readonly<Record<string, FrontValue>>;
}

export type FrontScalar = string | number | boolean | null;
export type FrontValue = FrontScalar | readonly FrontScalar[];

export interface Model {
  /** Lines above the first section. */
  readonly header: readonly string[];
  readonly sections: readonly Section[];
  readonly span: Span;
}

export type Section = TextSection | StatementSection;

export interface TextSection {
  readonly kind: "text";
  readonly name: string;
  /** Lines without spaces at their ends; no empty ones at the ends of the whole. */
  readonly text: string;
  readonly span: Span;
  readonly heading: Span;
}

export interface StatementSection {
  readonly kind: "statements";
  readonly name: string;
  readonly statements: readonly Statement[];
  readonly span: Span;
  readonly heading: Span;
}

export type Statement =
  | Blank
  | Comment
  | Raw
  | Variable
  | Connection
  | Assignment
  | Equation
  | TimeEntry
  | Mapping
  | Parameter;

interface SyntaxNode {
  readonly span: Span;
}

interface CommentedNode extends SyntaxNode {
  /** The text from the `#` on. */
  readonly comment?: string;
}

export interface Blank extends SyntaxNode {
  readonly kind: "blank";
}

export interface Comment extends SyntaxNode {
  readonly kind: "comment";
  readonly text: string;
}

/** A line that nothing could be made of; it is kept and printed. */
export interface Raw extends SyntaxNode {
  readonly kind: "raw";
  readonly text: string;
}

/** `A[2,3,type=float,default=uniform]  # comment`. */
export interface Variable extends CommentedNode {
  readonly kind: "variable";
  readonly name: Name;
  readonly dimensions: readonly Dimension[];
  readonly type?: Word;
  readonly default?: Word;
  /** Further `key=value` pairs. */
  readonly options: readonly { readonly key: string; readonly value: string }[];
}

/** A name as written, with its span. */
export interface Name {
  readonly text: string;
  readonly span: Span;
}

export type Word = Name;

export type Dimension = SyntaxNode &
  (
    | { readonly kind: "size"; readonly size: number }
    /** The value of a ModelParameter, or the length of a variable. */
    | { readonly kind: "reference"; readonly name: string }
    /** `len(π)`. */
    | { readonly kind: "length"; readonly name: string }
    | { readonly kind: "unknown"; readonly text: string }
  );

/** `a>b`, `(a,b)-(c,d):label=constraint`. */
export interface Connection extends CommentedNode {
  readonly kind: "connection";
  readonly sources: readonly Name[];
  readonly targets: readonly Name[];
  readonly directed: boolean;
  readonly label?: string;
  readonly constraint?: string;
}

/** `A={…}`. */
export interface Assignment extends CommentedNode {
  readonly kind: "assignment";
  readonly name: Name;
  readonly value: Value;
}

export type Value = ValueGroup | ValueNumber | ValueWord | ValueString | ValueEntry;

/** Content of one pair of brackets. */
export interface ValueGroup {
  readonly kind: "group";
  readonly items: readonly Value[];
  readonly at: number;
  /** Comments, each in front of the item with that index. */
  readonly comments?: readonly ValueComment[];
}

export interface ValueComment {
  readonly before: number;
  readonly text: string;
  /** Only spaces precede it on its line. */
  readonly ownLine: boolean;
}

export interface ValueNumber {
  readonly kind: "number";
  readonly value: number;
  /** The number as written, such as `1.0` or `1/3`. */
  readonly text?: string;
  readonly at: number;
}

export interface ValueWord {
  readonly kind: "word";
  readonly text: string;
  readonly at: number;
}

export interface ValueString {
  readonly kind: "string";
  readonly text: string;
  readonly at: number;
}

/** An entry `"key": value` of a description that replaces a value. */
export interface ValueEntry {
  readonly kind: "entry";
  readonly key: string;
  readonly value: Value;
  readonly at: number;
}

export interface Equation extends CommentedNode {
  readonly kind: "equation";
  readonly text: string;
}

/** `Dynamic`, or `ModelTimeHorizon=20`. */
export interface TimeEntry extends CommentedNode {
  readonly kind: "time";
  readonly key: string;
  readonly value?: Word;
}

/** `s=HiddenState`. */
export interface Mapping extends CommentedNode {
  readonly kind: "mapping";
  readonly name: Name;
  readonly term: Word;
}

/** `num_actions: 3`. */
export interface Parameter extends CommentedNode {
  readonly kind: "parameter";
  readonly key: Name;
  readonly value: Value;
}
