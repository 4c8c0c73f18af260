import { DEFAULT_SEPARATOR } from "../../../core/names.ts";

const IDENTIFIER = /^[A-Za-z_$][\w$]*$/;

/**
 * How a tool is written in code: `tools.weather.forecast` for `weather__forecast`, `tools["my tool"]` for what is no
 * identifier.
 */
export function toolPath(name: string): string {
  const at = name.indexOf(DEFAULT_SEPARATOR, 1);
  const steps =
    at > 0 && at + DEFAULT_SEPARATOR.length < name.length
      ? [name.slice(0, at), name.slice(at + DEFAULT_SEPARATOR.length)]
      : [name];
  const isPlain = (step: string): boolean => step.split(".").every((part) => IDENTIFIER.test(part));
  return `tools${steps.map((step) => (isPlain(step) ? `.${step}` : `[${JSON.stringify(step)}]`)).join("")}`;
}
