import { contentDigest } from "../../core/json/digest.ts";
import { isJsonObject } from "../../core/json/json.ts";
import type { LoadedHubConfig } from "../schema.ts";
import type { EnvironmentVariables } from "../../core/environment-variables.ts";

/**
 * Returns a text that identifies a configuration: the contents of its files, the values of the variables and secret
 * files to which the files refer, and the variables that servers inherit. `config` must be loaded without command-line
 * flags.
 */
export function configIdentity(
  { tree, unusable }: Pick<LoadedHubConfig, "tree" | "unusable">,
  variables: EnvironmentVariables,
): string {
  const passed = [...namesPassedOn(tree)].toSorted().map((name) => [name, variables[name] ?? null]);
  return contentDigest(JSON.stringify([tree, unusable, passed]));
}

/** Returns all names in any `inherit_env`. */
function namesPassedOn(value: unknown, names = new Set<string>()): ReadonlySet<string> {
  if (Array.isArray(value)) for (const item of value) namesPassedOn(item, names);
  if (!isJsonObject(value)) return names;
  for (const [key, member] of Object.entries(value)) {
    if (key === "inherit_env" && Array.isArray(member)) for (const name of member) names.add(String(name));
    else namesPassedOn(member, names);
  }
  return names;
}
