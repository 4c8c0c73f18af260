import { checkGnn, type CheckedFile } from "./checks/check.ts";
import { seedEraEstimates, type ResourceEstimates } from "./estimates/seed-era.ts";
import { formatDiagnostic, type Diagnostic, type Severity } from "./language/diagnostics.ts";
import type { ParseOptions } from "./language/parse.ts";
import { viewOf } from "./language/view.ts";

/** Result of a type check. Estimates of several models are summed. */
export interface TypeCheckResult {
  readonly file_path: string;
  readonly is_valid: boolean;
  /** Messages of one line each: position, code, sentence. */
  readonly errors: readonly string[];
  readonly warnings: readonly string[];
  readonly resource_estimates: ResourceEstimates;
}

/** Checks the text of a file. Never throws. */
export function typeCheck(filePath: string, text: string, options: ParseOptions = {}): TypeCheckResult {
  return toTypeCheck(filePath, checkGnn(text, options));
}

export function toTypeCheck(filePath: string, { file, diagnostics, isValid }: CheckedFile): TypeCheckResult {
  return {
    file_path: filePath,
    is_valid: isValid,
    errors: linesOf(diagnostics, "error"),
    warnings: linesOf(diagnostics, "warning"),
    resource_estimates: file.models
      .map((model) => seedEraEstimates(viewOf(model)))
      .reduce(
        (total, one) => ({
          memory_estimate_kb: total.memory_estimate_kb + one.memory_estimate_kb,
          inference_estimate_units: total.inference_estimate_units + one.inference_estimate_units,
        }),
        { memory_estimate_kb: 0, inference_estimate_units: 0 },
      ),
  };
}

function linesOf(diagnostics: readonly Diagnostic[], severity: Severity): readonly string[] {
  return diagnostics.filter((diagnostic) => diagnostic.severity === severity).map(formatDiagnostic);
}
