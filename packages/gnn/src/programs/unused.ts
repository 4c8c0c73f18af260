import type { ModelView } from "../language/view.ts";
import { isNeutral, referencedNames } from "../settings/known.ts";
import { isOrderParameter } from "../settings/orders.ts";

/** Maximum number of names in one note. */
const MAX_NAMES = 20;

interface UsedNames {
  readonly parameters: ReadonlySet<string>;
  readonly values: ReadonlySet<string>;
}

/** Returns a note with the parameters, and one with the values, that the model states and the program does not use. */
export function unusedNotes(view: ModelView, used: UsedNames): readonly string[] {
  const referenced = referencedNames(view);
  const parameters = view.parameters
    .filter((parameter) => {
      const { text } = parameter.key;
      return !used.parameters.has(text) && !referenced.has(text) && !isOrderParameter(text) && !isNeutral(parameter);
    })
    .map(({ key }) => key.text);
  const values = view.values
    .map(({ name }) => name.text)
    .filter((name) => !used.values.has(name) && !used.parameters.has(name) && !isOrderParameter(name));
  return [...noteOf("parameters", parameters), ...noteOf("values", values)];
}

function noteOf(subject: string, names: readonly string[]): readonly string[] {
  return names.length === 0 ? [] : [`The program does not use these ${subject}: ${nameList(names)}.`];
}

/** Returns the names separated by commas, without duplicates. */
export function nameList(names: readonly string[]): string {
  const unique = [...new Set(names)];
  const more = unique.length > MAX_NAMES ? `, and ${unique.length - MAX_NAMES} more` : "";
  return unique.slice(0, MAX_NAMES).join(", ") + more;
}
