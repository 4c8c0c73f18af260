import { pathToFileURL } from "node:url";
import { VERSION } from "toolyard";
import { DIAGNOSTICS, type Diagnostic, type DiagnosticCode } from "../language/diagnostics.ts";

export interface CheckedText {
  readonly name: string;
  readonly path?: string;
  readonly isValid: boolean;
  readonly diagnostics: readonly Diagnostic[];
}

/** Returns the results as SARIF 2.1.0, which editors and code hosts read. */
export function toSarif(results: readonly CheckedText[]): object {
  const codes = Object.keys(DIAGNOSTICS) as DiagnosticCode[];
  return {
    $schema: "https://json.schemastore.org/sarif-2.1.0.json",
    version: "2.1.0",
    runs: [
      {
        columnKind: "utf16CodeUnits",
        tool: {
          driver: {
            name: "toolyard gnn",
            version: VERSION,
            rules: codes.map((id) => ({
              id,
              shortDescription: { text: DIAGNOSTICS[id].title },
              defaultConfiguration: { level: DIAGNOSTICS[id].severity },
            })),
          },
        },
        results: results.flatMap((result) =>
          result.diagnostics.map((diagnostic) => toResult(result, diagnostic, codes)),
        ),
      },
    ],
  };
}

function toResult({ name, path }: CheckedText, diagnostic: Diagnostic, codes: readonly DiagnosticCode[]): object {
  const { code, severity, message, mend, start, end } = diagnostic;
  return {
    ruleId: code,
    ruleIndex: codes.indexOf(code),
    level: severity,
    message: { text: mend === undefined ? message : `${message} ${mend}` },
    locations: [
      {
        physicalLocation: {
          artifactLocation: { uri: path === undefined ? encodeURI(name) : pathToFileURL(path).href },
          region: {
            startLine: start.line,
            startColumn: start.column,
            endLine: end.line,
            endColumn: end.column,
          },
        },
      },
    ],
  };
}
