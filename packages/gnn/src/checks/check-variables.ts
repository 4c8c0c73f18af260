import { nearest } from "../language/nearest.ts";
import type { Variable } from "../language/model.ts";
import { isPlainName } from "../language/names.ts";
import type { CheckContext } from "./context.ts";

const DEFAULTS = new Set(["uniform", "zeros", "ones", "eye", "random"]);

/** Checks declarations: names, types, defaults, dimensions, repetitions. */
export function checkVariables(context: CheckContext): void {
  const { view, variables, reporter } = context;
  for (const variable of view.variables) {
    const { text, span } = variable.name;
    const earlier = variables.find(text)!;
    if (earlier !== variable) {
      const { line } = reporter.source.position(earlier.name.span.from);
      const message = `${text} is already declared in line ${line}; that declaration applies.`;
      reporter.report({ code: "E004", span, message, mend: "Remove one of the two." });
    }
    checkName(context, variable);
    checkType(context, variable);
    checkDefault(context, variable);
    for (const { dimension, severity, message, mend } of context.dimensions.of(variable).problems)
      reporter.report({ code: "E012", span: dimension.span, severity, message, mend });
  }
}

function checkName({ profile, reporter }: CheckContext, { name }: Variable): void {
  if (!profile.plainGrammar || isPlainName(name.text)) return;
  const message = `${name.text} is not a name in the grammar of GNN 1.1.`;
  reporter.report({ code: "E015", span: name.span, message, mend: "Use letters, digits, _, π and '." });
}

function checkType({ profile, reporter }: CheckContext, { name, type }: Variable): void {
  if (!type) {
    if (profile.typeRequired)
      reporter.report({ code: "E010", span: name.span, message: `${name.text} has no type.`, mend: "Add type=float." });
    return;
  }
  if (profile.types.includes(type.text)) return;
  const near = nearest(type.text, profile.types);
  reporter.report({
    code: "E010",
    span: type.span,
    message: `${type.text} is not a type; types are ${profile.types.join(", ")}.`,
    mend: `Write type=${near ?? "float"}.`,
  });
}

function checkDefault({ reporter }: CheckContext, { name, default: start }: Variable): void {
  if (!start || DEFAULTS.has(start.text) || (start.text !== "" && Number.isFinite(Number(start.text)))) return;
  const near = nearest(start.text, DEFAULTS);
  reporter.report({
    code: "E006",
    severity: "warning",
    span: start.span,
    message: `${start.text} is not a default for ${name.text}; defaults are a number, ${[...DEFAULTS].join(", ")}.`,
    ...(near === undefined ? {} : { mend: `Write default=${near}.` }),
  });
}
