// Random roles, tokens and profiles, and what they permit by the documentation: a second, simple implementation of the
// rules, to compare with the hub's.
import type { Random } from "../support/random.ts";

export const SOURCES = ["a", "b", "c"] as const;
export type SourceId = (typeof SOURCES)[number];

export interface Item {
  readonly kind: "tool" | "prompt" | "resource" | "template";
  readonly source: SourceId;
  /** Name at its source. */
  readonly own: string;
  /** Name that callers use. */
  readonly shown: string;
  readonly isReadOnly: boolean;
}

export interface RandomLimits {
  readonly allow?: string[];
  readonly deny?: string[];
  readonly read_only?: boolean;
  readonly sources?: string[];
}

export interface RandomRole extends RandomLimits {
  readonly members: { readonly tokens: string[] };
}

export interface RandomProfile extends Omit<RandomLimits, "allow"> {
  readonly tools?: string[];
  readonly prompts?: string[];
  readonly resources?: string[];
  readonly roles?: string[];
}

export interface RandomAccess {
  readonly tokens: Record<string, Omit<RandomLimits, "sources"> & { readonly token: string }>;
  readonly roles: Record<string, RandomRole>;
  readonly profiles: Record<string, RandomProfile>;
}

/** The source `c` has no namespace. */
export const ITEMS: readonly Item[] = SOURCES.flatMap((source) => {
  const shown = (own: string) => (source === "c" ? own : `${source}__${own}`);
  const start = source === "c" ? "c" : "";
  const named = (kind: "tool" | "prompt", own: string, isReadOnly: boolean): Item => ({
    kind,
    source,
    own: `${start}${own}`,
    shown: shown(`${start}${own}`),
    isReadOnly,
  });
  const uri = `r${source}://one`;
  const template = `r${source}://t/{x}`;
  return [
    named("tool", "read", true),
    named("tool", "write", false),
    named("tool", "drop", false),
    named("prompt", "ask", true),
    { kind: "resource", source, own: uri, shown: uri, isReadOnly: true },
    { kind: "template", source, own: template, shown: template, isReadOnly: true },
  ];
});

const NAME_PATTERNS = ["*", "a__*", "b__*", "a::*", "b::*", "c::*", "*::*read", "a__write", "b::write", "*write", "c*"];
const URI_PATTERNS = ["ra://*", "b::rb://*", "rc://one", "c::*"];
const PATTERNS = [...NAME_PATTERNS, ...URI_PATTERNS, "nothing"];

function some(random: Random, list: readonly string[], most: number): string[] {
  return Array.from({ length: random.below(most + 1) }, () => random.pick(list));
}

function maybe<T>(random: Random, make: () => T): T | undefined {
  return random.below(2) === 0 ? undefined : make();
}

function present<T extends object>(members: T): T {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as T;
}

function randomLimits(random: Random): RandomLimits {
  return present({
    allow: maybe(random, () => some(random, PATTERNS, 4)),
    deny: maybe(random, () => some(random, PATTERNS.slice(1), 2)),
    read_only: random.below(4) === 0 ? true : undefined,
    sources: random.below(3) === 0 ? some(random, [...SOURCES, "?"], 2) : undefined,
  }) as RandomLimits;
}

export function randomAccess(random: Random): RandomAccess {
  const tokens = Object.fromEntries(
    ["t0", "t1", "t2"].map((name) => {
      const { sources: _sources, ...limits } = random.below(2) === 0 ? {} : (randomLimits(random) as RandomLimits);
      return [name, { token: `secret-of-${name}`, ...limits }];
    }),
  );
  const roles = Object.fromEntries(
    ["r0", "r1", "r2"].map((name) => [
      name,
      { ...randomLimits(random), members: { tokens: [...new Set(some(random, ["t0", "t1"], 2))] } },
    ]),
  );
  const profiles = Object.fromEntries(
    ["p0", "p1"].map((name) => {
      const { allow: _allow, ...limits } = randomLimits(random);
      const lists = {
        tools: maybe(random, () => some(random, NAME_PATTERNS, 3)),
        prompts: maybe(random, () => some(random, NAME_PATTERNS, 2)),
        resources: maybe(random, () => some(random, ["*", ...URI_PATTERNS], 3)),
        roles: random.below(4) === 0 ? [random.pick(["r0", "r1"])] : undefined,
      };
      return [name, present({ ...limits, ...lists }) as RandomProfile];
    }),
  );
  return { tokens, roles, profiles };
}

function glob(pattern: string, text: string): boolean {
  const source = pattern
    .replaceAll(/[.+^${}()|[\]\\]/g, "\\$&")
    .replaceAll("*", ".*")
    .replaceAll("?", ".");
  return new RegExp(`^${source}$`, "s").test(text);
}

/** Without an id, a pattern also matches a URI with the prefix of its source. */
function matches(pattern: string, { kind, source, own, shown }: Item): boolean {
  const [id, rest] = pattern.split("::");
  if (rest !== undefined) return glob(id!, source) && glob(rest, own);
  const isUri = kind === "resource" || kind === "template";
  return glob(pattern, shown) || (isUri && glob(pattern, `${source}+${own}`));
}

const matchesAny = (patterns: readonly string[], item: Item) => patterns.some((pattern) => matches(pattern, item));

function within({ allow, read_only: readOnly, sources }: RandomLimits, item: Item): boolean {
  if (allow && !matchesAny(allow, item)) return false;
  if (sources && !sources.some((source) => glob(source, item.source))) return false;
  return readOnly !== true || item.isReadOnly;
}

function isInProfile(profile: RandomProfile, item: Item): boolean {
  const { tools, prompts, resources, sources, deny = [], read_only: readOnly } = profile;
  if (matchesAny(deny, item) || !within({ ...(readOnly && { read_only: true }), ...(sources && { sources }) }, item))
    return false;
  const list = { tool: tools, prompt: prompts, resource: resources, template: resources }[item.kind];
  if (list) return matchesAny(list, item);
  return sources !== undefined || (!tools && !prompts && !resources);
}

/** Returns true if a token may use a profile at all. */
export function mayReach({ roles, profiles }: RandomAccess, token: string, profile: string | undefined): boolean {
  const bound = profile === undefined ? undefined : profiles[profile]!.roles;
  return bound === undefined || bound.some((role) => roles[role]!.members.tokens.includes(token));
}

/** Returns true if a token may use an item in a profile, or in the whole hub. */
export function isPermitted(access: RandomAccess, token: string, profile: string | undefined, item: Item): boolean {
  const entry = access.tokens[token]!;
  const held = Object.values(access.roles).filter(({ members }) => members.tokens.includes(token));
  if (matchesAny(entry.deny ?? [], item) || !within(entry, item)) return false;
  if (held.some(({ deny = [] }) => matchesAny(deny, item))) return false;
  if (held.length > 0 && !held.some((role) => within(role, item))) return false;
  return profile === undefined || isInProfile(access.profiles[profile]!, item);
}
