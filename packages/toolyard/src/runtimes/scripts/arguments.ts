import { stringifyExact } from "../../core/json/exact-json.ts";
import { FailError } from "../../core/errors.ts";
import type { JsonObject } from "../../core/json/json.ts";
import { fail } from "../../core/calls/outcome.ts";
import type { ArgumentRule } from "./argument-rule.ts";

/**
 * Maximum size of a value in a variable; larger values are passed on stdin only. The system refuses to start a program
 * with a variable of more than 128 KiB.
 */
const MAX_VARIABLE_BYTES = 32 * 1024;
/** Maximum size of all variables together, including names. Further arguments are passed on stdin only. */
const MAX_VARIABLES_BYTES = 512 * 1024;

const PLACEHOLDER = /\{\{|\}\}|\{([^{}]*)\}/g;

/**
 * Returns `TOOL_ARG_<NAME>` for each argument: strings unchanged, all other values as JSON. Letters become capitals,
 * and other characters except digits become `_`. If two names become equal, the first is used.
 */
export function argumentVariables(args: JsonObject): Record<string, string> {
  const variables: Record<string, string> = {};
  let total = 0;
  for (const [name, value] of Object.entries(args)) {
    const key = `TOOL_ARG_${name.toUpperCase().replaceAll(/[^A-Z0-9]/g, "_")}`;
    const text = textOf(value);
    const bytes = Buffer.byteLength(text);
    if (
      key in variables ||
      bytes > MAX_VARIABLE_BYTES ||
      total + bytes + key.length > MAX_VARIABLES_BYTES ||
      text.includes("\0")
    )
      continue;
    total += bytes + key.length;
    variables[key] = text;
  }
  return variables;
}

/** Returns the parameter names in a template such as `--limit={limit}`. */
export function placeholdersOf(template: string): string[] {
  return Array.from(template.matchAll(PLACEHOLDER)).flatMap(([, name]) => (name === undefined ? [] : [name]));
}

/**
 * Fills argument templates: `{limit}` is replaced with the argument's value (strings unchanged, all other values as
 * JSON), `{{` and `}}` with braces. A template always gives one argument, even if the value contains spaces. A template
 * of an absent argument is omitted. If such a template consists only of the placeholder, the option before it is
 * omitted too, as in `["--limit", "{limit}"]`.
 */
export function expandArguments(templates: readonly string[], args: JsonObject, rule?: ArgumentRule): string[] {
  const expanded: string[] = [];
  for (const [index, template] of templates.entries()) {
    if (placeholdersOf(template).some((name) => !Object.hasOwn(args, name) || args[name] === undefined)) {
      const before = templates[index - 1];
      const isLone = /^\{[^{}]*\}$/.test(template);
      if (isLone && before?.startsWith("-") && !before.includes("{") && expanded.at(-1) === before) expanded.pop();
      continue;
    }
    expanded.push(
      template.replaceAll(PLACEHOLDER, (found, name: string | undefined) =>
        name === undefined ? found[0]! : valueText(name, args[name], rule),
      ),
    );
  }
  return expanded;
}

function valueText(name: string, value: unknown, rule: ArgumentRule | undefined): string {
  const text = textOf(value);
  rule?.assertSafe(name, text);
  if (!text.includes("\0")) return text;
  throw new FailError(
    fail(
      "invalid_params",
      `Argument \`${name}\` holds a NUL character, which no program takes on its command line. Send it without.`,
    ),
  );
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : stringifyExact(value);
}
