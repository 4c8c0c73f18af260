import { printConnection, printVariable } from "../language/print.ts";
import { printWhole } from "../language/print-values.ts";
import type { GnnFile, Model } from "../language/model.ts";
import { timeOf, viewOf, type ModelView } from "../language/view.ts";

/** Describes a model in plain lines. */
export function toSummary({ models }: GnnFile): string {
  return models.map(summaryOf).join("\n----\n\n");
}

function summaryOf(model: Model): string {
  const view = viewOf(model);
  const blocks = [
    [
      `Model: ${view.name ?? view.identifier ?? "without a name"}`,
      ...(view.version ? [`Version: ${view.version}`] : []),
    ],
    ...(view.annotation === undefined
      ? []
      : [["Annotation:", ...view.annotation.split("\n").map((line) => `  ${line}`)]]),
    list(`Variables (${view.variables.length}):`, variableLines(view)),
    list(`Connections (${view.connections.length}):`, view.connections.map(printConnection)),
    list(
      `Values (${view.values.length}):`,
      view.values.flatMap(({ name, value }) => `${name.text} = ${printWhole(value)}`.split("\n")),
    ),
    list(
      "Equations:",
      view.equations.map(({ text }) => text),
    ),
    list(
      "Time:",
      Object.entries(timeOf(view)).map(([key, value]) => `${key}: ${value}`),
    ),
    list(
      "Parameters:",
      view.parameters.map(({ key, value }) => `${key.text}: ${printWhole(value)}`),
    ),
  ];
  return `${blocks
    .filter((block) => block.length > 0)
    .map((block) => block.join("\n"))
    .join("\n\n")}\n`;
}

function list(title: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : [title, ...lines.map((line) => `  ${line}`)];
}

function variableLines({ variables, mappings }: ModelView): readonly string[] {
  const terms = new Map(mappings.map(({ name, term }) => [name.text, term.text]));
  return variables.map((variable) => {
    const term = terms.get(variable.name.text);
    const comment = variable.comment?.replace(/^#+\s*/, "");
    return [printVariable(variable), term && `= ${term}`, comment && `(${comment})`].filter(Boolean).join(" ");
  });
}
