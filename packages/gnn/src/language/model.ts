import type { Span } from "./source.ts";

/** A parsed text. */
export interface GnnFile {
  readonly form: "markdown" | "csv";
  readonly frontMatter?: FrontMatter;
  readonly models: readonly Model[];
  /** True if the models are in code fences of a document. The rest of the document is not part of the file. */
  readonly isFenced?: boolean;
}

/** YAML block at the beginning of the text. */
export interface FrontMatter {
  /** The lines as written, without the delimiters. */
  readonly lines: readonly string[];
  /** Scalars and lists. Nested values are only in `lines`. */
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
  /** Text of the lines without trailing spaces, and without empty lines at the beginning and the end. */
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
  /** Text after the `#`. */
  readonly comment?: string;
}

export interface Blank extends SyntaxNode {
  readonly kind: "blank";
}

export interface Comment extends SyntaxNode {
  readonly kind: "comment";
  readonly text: string;
}

/** A line that could not be parsed. It is kept and printed unchanged. */
export interface Raw extends SyntaxNode {
  readonly kind: "raw";
  readonly text: string;
}

/** Declaration of a variable: `A[2,3,type=float,default=uniform] # comment`. */
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
    /** Reference to a ModelParameter, or to a variable whose length is meant. */
    | { readonly kind: "reference"; readonly name: string }
    /** Length of a variable: `len(π)`. */
    | { readonly kind: "length"; readonly name: string }
    | { readonly kind: "unknown"; readonly text: string }
  );

/** Connection: `a>b`, `(a,b)-(c,d):label=constraint`. */
export interface Connection extends CommentedNode {
  readonly kind: "connection";
  readonly sources: readonly Name[];
  readonly targets: readonly Name[];
  readonly directed: boolean;
  readonly label?: string;
  readonly constraint?: string;
}

/** Assignment of a value: `A={…}`. */
export interface Assignment extends CommentedNode {
  readonly kind: "assignment";
  readonly name: Name;
  readonly value: Value;
}

export type Value = ValueGroup | ValueNumber | ValueWord | ValueString | ValueEntry;

/** Content of a pair of brackets. */
export interface ValueGroup {
  readonly kind: "group";
  readonly items: readonly Value[];
  readonly at: number;
  /** Comments in the group, each with the index of the item that follows. */
  readonly comments?: readonly ValueComment[];
}

export interface ValueComment {
  readonly before: number;
  readonly text: string;
  /** True if only spaces precede the comment on its line. */
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

/** Entry of the Time section: `Dynamic`, or `ModelTimeHorizon=20`. */
export interface TimeEntry extends CommentedNode {
  readonly kind: "time";
  readonly key: string;
  readonly value?: Word;
}

/** Ontology annotation: `s=HiddenState`. */
export interface Mapping extends CommentedNode {
  readonly kind: "mapping";
  readonly name: Name;
  readonly term: Word;
}

/** Parameter of the model: `num_actions: 3`. */
export interface Parameter extends CommentedNode {
  readonly kind: "parameter";
  readonly key: Name;
  readonly value: Value;
}
