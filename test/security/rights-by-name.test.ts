// Rights are patterns over names, and a name has many spellings. With every request and spelling a caller reaches only
// permitted entries and learns nothing about others.
import { expect, test } from "vitest";
import { Catalog } from "../../packages/toolyard/src/catalog/catalog.ts";
import { resolveCatalog } from "../../packages/toolyard/src/catalog/options.ts";
import type { Snapshot } from "../../packages/toolyard/src/catalog/snapshot.ts";
import { LOCAL_PRINCIPAL, type Principal } from "../../packages/toolyard/src/core/calls/call.ts";
import { matchesGlob } from "../../packages/toolyard/src/core/text/glob.ts";
import { MemoryProvider } from "../fixtures/memory-provider.ts";
import type { ToolRecord } from "../../packages/toolyard/src/core/sources/records.ts";
import { createRandom, type Random } from "../support/random.ts";

const CASES = 40;
const SEED = 551_203;
const SEPARATORS = ["__", "__", "--", "_", "."];
const NAMES = ["pay", "read", "pub|pay", "a|b|pay", "Pay", "pay_all", "b|read", "x.pay"];

interface Hub {
  readonly snapshot: Snapshot;
  readonly separator: string;
  readonly sources: readonly { readonly id: string; readonly namespace: string }[];
}

async function openHub(random: Random): Promise<Hub> {
  const separator = random.pick(SEPARATORS);
  const written = (name: string): string => name.replaceAll("|", separator);
  const sources = ["pub", "a", "evil", written("a|b")].map((id) => ({
    id,
    namespace: random.below(4) === 0 ? "" : id,
  }));
  const providers = sources.map((source, order) => {
    const provider = new MemoryProvider({ ...source, order });
    const names = new Set(Array.from({ length: 1 + random.below(4) }, () => written(random.pick(NAMES))));
    const tools = Array.from(names, (name) =>
      provider.tool({ name, ...(random.below(5) === 0 && { alias: `new_${name}` }) }),
    );
    provider.offer({ tools, prompts: Array.from(names, (name) => provider.prompt(name)) });
    return provider;
  });
  return { snapshot: await new Catalog(resolveCatalog({ separator }), providers).snapshot(), separator, sources };
}

function patternFrom(random: Random, { separator, sources }: Hub, names: readonly string[]): string {
  const { id } = random.pick(sources);
  const name = random.pick(names);
  return random.pick([
    name,
    `${id}${separator}*`,
    `${name.slice(0, 1 + random.below(name.length))}*`,
    `*${name.slice(random.below(name.length))}`,
    `${name.slice(0, -1)}?`,
    "*",
  ]);
}

/** Returns the name unchanged, as each source would list it, and as a user may write it. */
function spellingsOf(name: string, { separator, sources }: Hub): string[] {
  const bare = name.slice(name.lastIndexOf(separator) + separator.length);
  const parts = [name, bare, name.replaceAll(separator, "."), name.replaceAll(separator, "::"), name.toUpperCase()];
  const prefixed = sources.flatMap(({ id }) => [separator, "::", "/", "."].map((between) => `${id}${between}${bare}`));
  return [...parts, ...prefixed, ` ${name}`, `${name} `, `${name}\u200B`];
}

/**
 * Returns true if a pattern may match a tool. A pattern that begins with a namespace matches no other source. A
 * separator of one character does not identify a namespace.
 */
function isMeant({ source }: ToolRecord, allow: readonly string[], { separator, sources }: Hub): boolean {
  if (allow.length === 0 || separator.length === 1) return true;
  return allow.some((pattern) => {
    const claims = sources.filter(
      ({ namespace }) => namespace !== "" && pattern.startsWith(`${namespace}${separator}`),
    );
    const [owner] = claims.toSorted((one, other) => other.namespace.length - one.namespace.length);
    return owner === undefined || owner.id === source.id;
  });
}

function visible(snapshot: Snapshot, principal: Principal): Map<ToolRecord, string> {
  return new Map(snapshot.tools({ mode: "all", principal }).map(({ name, record }) => [record, name]));
}

test(`in ${CASES} hubs from seed ${SEED}, each spelling of a name leads to a permitted entry or none`, async () => {
  for (let at = 0; at < CASES; at += 1) await attackHub(SEED + at);
}, 120_000);

async function attackHub(seed: number): Promise<void> {
  const random = createRandom(seed);
  const hub = await openHub(random);
  const all = visible(hub.snapshot, LOCAL_PRINCIPAL);
  const names = Array.from(all.values());
  const patterns = (): string[] => Array.from({ length: random.below(3) }, () => patternFrom(random, hub, names));
  const [allow, deny] = [patterns(), patterns()];
  const principal = { id: "guest", rights: { ...(allow.length > 0 && { allow }), deny } };
  const own = visible(hub.snapshot, principal);
  const said = `seed ${seed}: ${JSON.stringify({ allow, deny, names })}`;
  for (const [record, name] of own) {
    expect(all.get(record), said).toBe(name);
    const isDenied = deny.some((pattern) => matchesGlob(pattern, name));
    expect([isDenied, isMeant(record, allow, hub)], `${said} ${name} of ${record.source.id}`).toEqual([false, true]);
  }
  for (const spelling of new Set(names.flatMap((name) => spellingsOf(name, hub)))) {
    const lookup = hub.snapshot.resolveTool(spelling, { mode: "all", principal });
    if (lookup.found) expect(own.get(lookup.target.tool), `${said} ${spelling}`).toBe(lookup.name);
    else expectSilence(JSON.stringify(lookup.failure), { spelling, all, own, said });
  }
}

interface SpellingAnswers {
  readonly spelling: string;
  readonly all: ReadonlyMap<object, string>;
  readonly own: ReadonlyMap<object, string>;
  readonly said: string;
}

/** Asserts that a refusal names only the requested spelling and tools that the caller may use. */
function expectSilence(told: string, { spelling, all, own, said }: SpellingAnswers): void {
  const may = new Set(own.values());
  const words = new Set(told.replace(JSON.stringify(spelling).slice(1, -1), "").match(/[\w.-]+/g));
  for (const name of all.values())
    if (!may.has(name) && name !== spelling) expect(words.has(name), `${said} ${spelling}: ${told}`).toBe(false);
}

test("denies each spelling of a denied name, and serves other tools", async () => {
  const good = new MemoryProvider({ id: "pub", order: 0 }).offerTools("pay", "read");
  const snapshot = await new Catalog(resolveCatalog(), [good]).snapshot();
  const principal = { id: "guest", rights: { deny: ["pub__pay"] } };
  const hub = { snapshot, separator: "__", sources: [{ id: "pub", namespace: "pub" }] };
  for (const spelling of spellingsOf("pub__pay", hub))
    expect(snapshot.resolveTool(spelling, { mode: "all", principal }).found, spelling).toBe(false);
  expect(snapshot.resolveTool("read", { mode: "all", principal }).found).toBe(true);
});
