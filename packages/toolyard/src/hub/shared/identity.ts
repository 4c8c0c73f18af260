import { contentDigest } from "../../core/json/digest.ts";
import { isJsonObject } from "../../core/json/json.ts";
import type { LoadedHubConfig } from "../schema.ts";

type Variables = Readonly<Record<string, string | undefined>>;

/**
 * Tells two configurations apart as they come out: what the files say, with the values of the variables and secret
 * files that they name, and of the variables that pass on to servers. `config` is loaded without a command's flags.
 */
export function configIdentity(
  { tree, unusable }: Pick<LoadedHubConfig, "tree" | "unusable">,
  variables: Variables,
): string {
  const passed = [...namesPassedOn(tree)].toSorted().map((name) => [name, variables[name] ?? null]);
  return contentDigest(JSON.stringify([tree, unusable, passed]));
}

/** Every name in an `inherit_env`, wherever it stands. */
function namesPassedOn(value: unknown, names = new Set<string>()): ReadonlySet<string> {
  if (Array.isArray(value)) for (const item of value) namesPassedOn(item, names);
  if (!isJsonObject(value)) return names;
  for (const [key, member] of Object.entries(value)) {
    if (key === "inherit_env" && Array.isArray(member)) for (const name of member) names.add(String(name));
    else namesPassedOn(member, names);
  }
  return names;
}
