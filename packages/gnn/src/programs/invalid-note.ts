import type { Diagnostic } from "../language/diagnostics.ts";
import type { NamedProgram } from "./read-programs.ts";

/** Returns a note if the file is invalid, with its first error and the number of errors. */
export function invalidNote(diagnostics: readonly Diagnostic[]): string | undefined {
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  const [first] = errors;
  if (!first) return undefined;
  const count = errors.length === 1 ? "1 error" : `${errors.length} errors`;
  return `Warning: the file is invalid (${count}). Line ${first.start.line}: ${first.message}`;
}

/** Returns the programs with an additional note before the others. */
export function withNote(programs: readonly NamedProgram[], note: string | undefined): readonly NamedProgram[] {
  if (note === undefined) return programs;
  return programs.map((one) => ({ ...one, program: { ...one.program, notes: [note, ...one.program.notes] } }));
}
