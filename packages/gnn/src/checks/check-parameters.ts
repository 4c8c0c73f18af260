import { nameList } from "../programs/unused.ts";
import { unknownParameters } from "../settings/known.ts";
import { AXES, orderLine } from "../settings/orders.ts";
import { readSettings } from "../settings/settings.ts";
import type { CheckContext } from "./context.ts";

/** Checks ModelParameters: settings with values that programs cannot use, and parameters that no program uses. */
export function checkParameters(context: CheckContext): void {
  const { view, reporter, orders } = context;
  if (view.parameters.length === 0 && view.values.length === 0) return;
  for (const { span, message } of readSettings(view).problems)
    reporter.report({ code: "W013", span, message, mend: "Correct it, or remove the line." });
  for (const { parameter, letter } of orders.unknown)
    reporter.report({
      code: "W013",
      span: parameter.key.span,
      message: `${parameter.key.text} is not an index order.`,
      mend: `Write, for example, ${orderLine(letter, AXES[letter].join(" × "))}.`,
    });
  const [first, ...others] = unknownParameters(view);
  if (!first) return;
  const names = [first, ...others].map(({ key }) => key.text);
  reporter.report({
    code: "N007",
    span: first.key.span,
    message: `Programs do not use ${names.length === 1 ? "this parameter" : "these parameters"}: ${nameList(names)}.`,
  });
}
