import { LOCAL_PRINCIPAL } from "../core/calls/call.ts";
import { offerCounts } from "../core/ports/profile-counts.ts";
import type { Rights } from "../core/ports/rights.ts";
import { matchesGlob } from "../core/text/glob.ts";
import { nearest } from "../core/text/suggest.ts";
import type { Hub } from "./hub.ts";

type Places = Pick<Hub, "config" | "port" | "sources" | "tools">;

/** List of patterns in the configuration. */
interface PatternList {
  /** Name of the option, such as `profiles.docs.tools`. */
  readonly option: string;
  readonly patterns: readonly string[];
}

/** Returns a sentence for each pattern of profiles and roles that currently matches nothing. */
export async function accessFindings(hub: Places): Promise<readonly string[]> {
  const { profiles = {}, roles = {}, scopes = {} } = hub.config.tree;
  const sections = Object.entries({ profiles, roles, scopes });
  const tables = sections.flatMap(([section, entries]) =>
    Object.entries(entries).map(([name, table]) => ({ option: `${section}.${name}`, table })),
  );
  const ids = hub.sources.providers.map(({ source }) => source.id);
  const unknownSources = tables
    .flatMap((one) => listsOf(one, ["sources"]))
    .flatMap((list) => sourceFindings(list, ids));
  const lists = tables.flatMap((one) =>
    listsOf(one, ["allow", "deny", "tools", "prompts", "resources", "required_by"]),
  );
  const unmatched = await Promise.all(lists.map((list) => patternFindings(list, hub)));
  return [...unknownSources, ...unmatched.flat()];
}

function listsOf(
  { option, table }: { readonly option: string; readonly table: object },
  keys: readonly string[],
): readonly PatternList[] {
  return keys.flatMap((key) => {
    const patterns = (table as Readonly<Record<string, unknown>>)[key];
    return Array.isArray(patterns) ? [{ option: `${option}.${key}`, patterns: patterns as readonly string[] }] : [];
  });
}

function sourceFindings({ option, patterns }: PatternList, ids: readonly string[]): readonly string[] {
  const unknown = patterns.filter((pattern) => !ids.some((id) => matchesGlob(pattern, id)));
  return unknown.map((pattern) => {
    const near = nearest(pattern, ids);
    const hint = near.length > 0 ? ` Did you mean ${near.join(" or ")}?` : "";
    return `\`${option}\` names the source \`${pattern}\`, and there is none.${hint}`;
  });
}

async function patternFindings({ option, patterns }: PatternList, hub: Places): Promise<readonly string[]> {
  const found = await Promise.all(
    patterns.map(async (pattern) => ({ pattern, count: await matchCount(pattern, hub) })),
  );
  return found
    .filter(({ count }) => count === 0)
    .map(({ pattern }) => `\`${option}\`: the pattern \`${pattern}\` matches no tool, prompt or resource.`);
}

/**
 * Returns the number of matches of one pattern. Counts what a caller with only this pattern may use, so that patterns
 * have the same meaning as in rights.
 */
async function matchCount(pattern: string, hub: Places): Promise<number> {
  const rights: Rights = { allow: [pattern] };
  const { tools, prompts, resources } = await offerCounts({ ...LOCAL_PRINCIPAL, rights }, hub);
  return tools + prompts + resources;
}
