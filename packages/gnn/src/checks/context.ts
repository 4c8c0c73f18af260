import type { Reporter } from "../language/diagnostics.ts";
import type { Variable } from "../language/model.ts";
import type { NameTable } from "../language/names.ts";
import type { Profile } from "../language/profiles.ts";
import { timeOf, type ModelView, type TimeView } from "../language/view.ts";
import { Dimensions } from "./dimensions.ts";
import { familiesOf, type FamilyName } from "./families.ts";
import { StatedOrders } from "../settings/orders.ts";
import { statedParameters } from "../settings/parameters.ts";
import type { Suggestions } from "./suggestions.ts";

/** Data that the checks of one model share. */
export interface CheckContext {
  readonly view: ModelView;
  readonly variables: NameTable<Variable>;
  /** True if the model has a StateSpaceBlock. If it has none, only that is reported, not each missing name. */
  readonly declares: boolean;
  readonly time: TimeView;
  readonly dimensions: Dimensions;
  /** Families of matrices, derived from their names. */
  readonly families: ReadonlyMap<string, FamilyName>;
  /** Index orders of tensors, as ModelParameters states them. */
  readonly orders: StatedOrders;
  readonly suggestions: Suggestions;
  readonly profile: Profile;
  readonly reporter: Reporter;
}

export function createContext(view: ModelView, profile: Profile, reporter: Reporter): CheckContext {
  const dimensions = new Dimensions(view);
  const { variables, suggestions } = dimensions;
  return {
    view,
    variables,
    declares: view.model.sections.some(({ name }) => name === "StateSpaceBlock"),
    time: timeOf(view),
    dimensions,
    families: familiesOf(namesOf(view)),
    orders: new StatedOrders(statedParameters(view)),
    suggestions,
    profile,
    reporter,
  };
}

/** Returns all names that are declared or have a value. */
function namesOf({ variables, values }: ModelView): readonly string[] {
  const names: string[] = [];
  for (const { name } of variables) names.push(name.text);
  for (const { name } of values) names.push(name.text);
  return names;
}
