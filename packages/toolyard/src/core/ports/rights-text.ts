import type { NarrowRights, Subject } from "./permission.ts";
import { EVERYTHING, permissionOf, type Rights } from "./rights.ts";

/** Rule that decides whether rights permit a subject. */
export interface RightsDecision {
  readonly permitted: boolean;
  /** Description of the rule in one clause, such as ``role reader: `deny` matches by `github__*` ``. */
  readonly rule: string;
}

const NO_LIMIT = "nothing limits these rights";

/**
 * Returns the rule that decides whether rights permit a subject. The decision itself comes from `permissionOf`, so the
 * two never differ.
 */
export function explainRights(rights: Rights, subject: Subject): RightsDecision {
  const permitted = permissionOf(rights).permits(subject);
  if (rights === EVERYTHING) return { permitted, rule: NO_LIMIT };
  if ("every" in rights) return explainEvery(rights.every, subject);
  if (!("some" in rights)) return { permitted, rule: withOrigin(rights, ruleOf(rights, subject)) };
  const decisions = rights.some.map((part) => explainRights(part, subject));
  const rules = decisions.filter((one) => one.permitted === permitted).map(({ rule }) => rule);
  return { permitted, rule: permitted ? rules[0]! : [...new Set(rules)].join("; ") };
}

function explainEvery(parts: readonly Rights[], subject: Subject): RightsDecision {
  const decisions = parts.map((part) => explainRights(part, subject));
  const refusal = decisions.find(({ permitted }) => !permitted);
  if (refusal) return refusal;
  const rules = decisions.map(({ rule }) => rule).filter((rule) => rule !== NO_LIMIT && !rule.endsWith(NOT_DENIED));
  return { permitted: true, rule: rules.length > 0 ? [...new Set(rules)].join("; ") : NO_LIMIT };
}

function withOrigin({ origin }: NarrowRights, rule: string): string {
  return origin === undefined ? rule : `${origin}: ${rule}`;
}

const NOT_DENIED = "nothing in `deny` matches";

function ruleOf(rights: NarrowRights, subject: Subject): string {
  const refuses = (part: NarrowRights): boolean => !permissionOf(part).permits(subject);
  const denied = rights.deny?.find((pattern) => refuses({ deny: [pattern] }));
  if (denied !== undefined) return `\`deny\` matches by \`${denied}\``;
  if (subject.type === "name" && subject.isDiscovery) return "the search tools are permitted";
  if (rights.readOnly && refuses({ readOnly: true })) return "`read_only` permits only tools with `readOnlyHint`";
  const { sources } = rights;
  if (sources && refuses({ sources })) return `\`sources\` does not name the source \`${subject.source ?? "unknown"}\``;
  return listRule(rights, subject);
}

function listRule(rights: NarrowRights, subject: Subject): string {
  const lists = [["allow", rights.allow] as const, kindList(rights, subject)];
  const given = lists.flatMap(([name, list]) => (list ? [{ name, list }] : []));
  const refusing = given.find(({ list }) => !permissionOf({ allow: list }).permits(subject));
  if (refusing) return `nothing in \`${refusing.name}\` matches`;
  const matches = given.map(({ name, list }) => {
    const pattern = list.find((one) => permissionOf({ allow: [one] }).permits(subject));
    return pattern === undefined ? `\`${name}\` matches` : `\`${name}\` matches by \`${pattern}\``;
  });
  if (matches.length > 0) return matches.join(", ");
  if (rights.sources) return `\`sources\` names the source \`${subject.source ?? "unknown"}\``;
  return rights.readOnly ? "`read_only` permits it: it has `readOnlyHint`" : NOT_DENIED;
}

function kindList(rights: NarrowRights, subject: Subject): readonly [string, readonly string[] | undefined] {
  if (subject.type === "uri") return ["resources", rights.resources];
  return subject.isPrompt === true ? ["prompts", rights.prompts] : ["tools", rights.tools];
}

/**
 * Describes rights in lines of text for the caller that has them. Patterns of `deny` are only counted, since they name
 * things that the caller must not know.
 */
export function describeRights(rights: Rights): readonly string[] {
  if (rights === EVERYTHING) return ["everything"];
  if ("every" in rights) return rights.every.flatMap(describeRights);
  if ("some" in rights) return [`one of: ${rights.some.flatMap(describeRights).join(" | ")}`];
  const { origin: _origin, ...limits } = rights;
  const parts = Object.entries(limits).map(([name, value]) => {
    if (name === "readOnly") return `read_only = ${String(value)}`;
    if (name === "deny") return denyText(value as readonly string[]);
    return `${name} = ${JSON.stringify(value)}`;
  });
  return [withOrigin(rights, parts.length > 0 ? parts.join(", ") : "everything")];
}

function denyText({ length }: readonly string[]): string {
  return length === 1 ? "deny has 1 pattern" : `deny has ${length} patterns`;
}
