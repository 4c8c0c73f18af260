import type { Reporter } from "../language/diagnostics.ts";
import type { Variable } from "../language/model.ts";
import { NameTable } from "../language/names.ts";
import type { Profile } from "../language/profiles.ts";
import { edgesOf, timeOf, type Edge, type ModelView, type TimeView } from "../language/view.ts";
import { Dimensions } from "./dimensions.ts";

/** What the checks of one model share. */
export interface CheckContext {
  readonly view: ModelView;
  readonly variables: NameTable<Variable>;
  readonly edges: readonly Edge[];
  readonly time: TimeView;
  readonly dimensions: Dimensions;
  readonly profile: Profile;
  readonly reporter: Reporter;
}

export function createContext(view: ModelView, profile: Profile, reporter: Reporter): CheckContext {
  const variables = new NameTable<Variable>();
  for (const variable of view.variables) variables.add(variable.name.text, variable);
  const { edges } = edgesOf(view);
  return { view, variables, edges, time: timeOf(view), dimensions: new Dimensions(view), profile, reporter };
}
