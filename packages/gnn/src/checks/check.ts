import type { Diagnostic } from "../language/diagnostics.ts";
import type { GnnFile } from "../language/model.ts";
import { readGnn, type ParseOptions } from "../language/parse.ts";
import { viewOf } from "../language/view.ts";
import { checkConnections } from "./check-connections.ts";
import { checkOntology } from "./check-ontology.ts";
import { checkParameters } from "./check-parameters.ts";
import { checkSections } from "./check-sections.ts";
import { checkTime } from "./check-time.ts";
import { checkValues } from "./check-values.ts";
import { checkVariables } from "./check-variables.ts";
import { createContext } from "./context.ts";

export interface CheckedFile {
  readonly file: GnnFile;
  /** Diagnostics in text order. */
  readonly diagnostics: readonly Diagnostic[];
  /** True if no diagnostic is an error. */
  readonly isValid: boolean;
}

/**
 * Parses a text and returns all diagnostics of its models. Never throws.
 *
 * @example
 * ```ts
 * import { checkGnn } from "@toolyard/gnn";
 *
 * const { isValid, diagnostics } = checkGnn("## Connections\nA>>b\n");
 * console.log(isValid, diagnostics[0]?.message);
 * ```
 */
export function checkGnn(text: string, options: ParseOptions = {}): CheckedFile {
  const { file, profile, reporter } = readGnn(text, options);
  for (const model of file.models) {
    const context = createContext(viewOf(model), profile, reporter);
    checkSections(context);
    checkVariables(context);
    checkConnections(context);
    checkValues(context);
    checkTime(context);
    checkParameters(context);
    checkOntology(context);
  }
  const diagnostics = reporter.diagnostics();
  return { file, diagnostics, isValid: !diagnostics.some(({ severity }) => severity === "error") };
}
