import type { Position, Source, Span } from "./source.ts";

/** `error`: tools cannot use the model as written. `warning`: probably a mistake. `note`: worth knowing. */
export type Severity = "error" | "warning" | "note";

/**
 * Diagnostic codes with their default severity and subject. E001 to E005, W002 and W003 have the same meaning as in
 * GNN's own tools.
 */
export const DIAGNOSTICS = {
  E001: { severity: "error", title: "a required section is missing" },
  E002: { severity: "error", title: "a value does not have the declared dimensions" },
  E004: { severity: "error", title: "a variable is declared twice" },
  E005: { severity: "error", title: "a connection cannot be read" },
  E006: { severity: "error", title: "a declaration cannot be read" },
  E007: { severity: "error", title: "a value cannot be read" },
  E008: { severity: "error", title: "a limit is exceeded" },
  E009: { severity: "error", title: "the version cannot be read" },
  E010: { severity: "error", title: "a type is unknown" },
  E011: { severity: "error", title: "probabilities do not sum to 1" },
  E012: { severity: "error", title: "a dimension cannot be used" },
  E013: { severity: "error", title: "the text is not GNN" },
  E014: { severity: "error", title: "a time specification cannot be used" },
  E015: { severity: "error", title: "a name cannot be used" },
  W001: { severity: "warning", title: "a variable is not used" },
  W002: { severity: "warning", title: "a connection names a variable that is not declared" },
  W003: { severity: "warning", title: "a value belongs to no declared variable" },
  W004: { severity: "warning", title: "a section occurs twice" },
  W005: { severity: "warning", title: "a heading is not the name of a section" },
  W006: { severity: "warning", title: "a line cannot be read" },
  W007: { severity: "warning", title: "a statement is repeated" },
  W008: { severity: "warning", title: "an ontology term is unknown" },
  W009: { severity: "warning", title: "a version is unknown" },
  W010: { severity: "warning", title: "an annotation belongs to no declared variable" },
  W011: { severity: "warning", title: "the time variable is not declared" },
  W012: { severity: "warning", title: "a matrix is transposed" },
  W013: { severity: "warning", title: "a setting of a run has a value that cannot be used" },
  N001: { severity: "note", title: "a matrix has no value" },
  N002: { severity: "note", title: "a tensor can be read in more than one order" },
  N003: { severity: "note", title: "a parameter has no declaration" },
  N004: { severity: "note", title: "the graph is not connected" },
  N005: { severity: "note", title: "a section is not one of GNN's own" },
  N006: { severity: "note", title: "a tensor is written in another order than declared" },
  N007: { severity: "note", title: "a parameter is not used by programs" },
} as const satisfies Readonly<Record<string, { readonly severity: Severity; readonly title: string }>>;

export type DiagnosticCode = keyof typeof DIAGNOSTICS;

/** Codes of diagnostics for unread text. This text is missing in all results made from the file. */
export const UNREAD_CODES: ReadonlySet<DiagnosticCode> = new Set(["E005", "E006", "E007", "E008", "E013", "W006"]);

/** A diagnostic with its position in the text. */
export interface Diagnostic {
  readonly code: DiagnosticCode;
  readonly severity: Severity;
  /** Message that describes the finding. */
  readonly message: string;
  /** Message with the correction. */
  readonly mend?: string;
  readonly start: Position;
  readonly end: Position;
}

export interface Remark {
  readonly code: DiagnosticCode;
  readonly span: Span;
  readonly message: string;
  readonly mend?: string | undefined;
  /** Severity, if it differs from the code's default. */
  readonly severity?: Severity;
}

/** Maximum number of diagnostics that are kept per file. Further diagnostics are only counted. */
export const MAX_DIAGNOSTICS = 1000;

/** Collects diagnostics of one text. */
export class Reporter {
  readonly #source: Source;
  readonly #kept: { readonly diagnostic: Diagnostic; readonly at: number }[] = [];
  #left = 0;
  #leftErrors = 0;

  constructor(source: Source) {
    this.#source = source;
  }

  get source(): Source {
    return this.#source;
  }

  /** True if further diagnostics are only counted, so callers need not build their messages. */
  get isFull(): boolean {
    return this.#kept.length >= MAX_DIAGNOSTICS;
  }

  /** Counts a diagnostic and returns true if it will not be reported, so that callers need not build its message. */
  leavesOut(code: DiagnosticCode, severity: Severity = DIAGNOSTICS[code].severity): boolean {
    if (!this.isFull) return false;
    this.#left += 1;
    if (severity === "error") this.#leftErrors += 1;
    return true;
  }

  report(remark: Remark): void {
    const { code, span, message, mend, severity = DIAGNOSTICS[code].severity } = remark;
    if (this.leavesOut(code, severity)) return;
    const diagnostic = {
      code,
      severity,
      message,
      ...(mend === undefined ? {} : { mend }),
      start: this.#source.position(span.from),
      end: this.#source.position(Math.max(span.from, span.to)),
    };
    this.#kept.push({ diagnostic, at: span.from });
  }

  /** Returns whether a diagnostic with this code exists at the offset. */
  hasAt(code: DiagnosticCode, offset: number): boolean {
    return this.#kept.some(({ diagnostic, at }) => at === offset && diagnostic.code === code);
  }

  /** Returns the diagnostics in text order. */
  diagnostics(): readonly Diagnostic[] {
    const sorted = this.#kept.toSorted((one, other) => one.at - other.at).map(({ diagnostic }) => diagnostic);
    if (this.#left === 0) return sorted;
    const end = this.#source.position(this.#source.text.length);
    const severity = this.#leftErrors > 0 ? "error" : "warning";
    const message = `${this.#left} further diagnostics are omitted; at most ${MAX_DIAGNOSTICS} are reported per file.`;
    return [...sorted, { code: "E008", severity, message, start: end, end }];
  }
}

/** Returns the diagnostic as one line of text: `12:3 error E005: … Write …`. */
export function formatDiagnostic({ code, severity, message, mend, start }: Diagnostic): string {
  return `${start.line}:${start.column} ${severity} ${code}: ${message}${mend === undefined ? "" : ` ${mend}`}`;
}
