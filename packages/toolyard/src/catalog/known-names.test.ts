// Tests of repeated look-ups of a name: a cached result must not be used after the sources, their lists or the rights
// have changed.
import { afterEach, expect, test } from "vitest";
import { MemoryProvider } from "../../../../test/fixtures/memory-provider.ts";
import { LOCAL_PRINCIPAL, type Principal, type ToolMode } from "../core/calls/call.ts";
import { Catalog } from "./catalog.ts";
import type { Lookup } from "./lookup.ts";
import { resolveCatalog } from "./options.ts";

let catalog: Catalog;

afterEach(() => catalog.close());

function open(...providers: readonly MemoryProvider[]): void {
  catalog = new Catalog(resolveCatalog({ change_delay_ms: 1 }), providers);
}

async function find(text: string, principal: Principal = LOCAL_PRINCIPAL, mode: ToolMode = "all"): Promise<Lookup> {
  const view = { mode, principal };
  const asked = { text, isUri: false, isTool: true, view };
  return await catalog.lookUp(asked, (snapshot) => snapshot.resolveTool(text, view));
}

async function sourceOf(text: string, principal?: Principal): Promise<string | undefined> {
  const found = await find(text, principal);
  return found.found ? found.source.id : undefined;
}

test("a repeated lookup of a name returns the same object, and still requests the list of its source", async () => {
  const clock = new MemoryProvider({ id: "clock" }).offerTools("now");
  open(clock);
  // The first look-up reads the list.
  await find("clock__now");
  const first = await find("clock__now");
  const { asked } = clock;
  expect(await find("clock__now")).toBe(first);
  expect(clock.asked).toBeGreaterThan(asked);
});

test("a removed tool is not found any more, and an added one is found", async () => {
  const clock = new MemoryProvider({ id: "clock" }).offerTools("now", "today");
  open(clock);
  expect([await sourceOf("clock__now"), await sourceOf("clock__later")]).toEqual(["clock", undefined]);
  clock.offerTools("later");
  expect([await sourceOf("clock__now"), await sourceOf("clock__later")]).toEqual([undefined, "clock"]);
});

test("a lookup after a change returns the changed definition", async () => {
  const clock = new MemoryProvider({ id: "clock" }).offerTools({ name: "now", description: "old" });
  open(clock);
  await find("clock__now");
  clock.offerTools({ name: "now", description: "new" });
  expect(await find("clock__now")).toMatchObject({ found: true, target: { tool: { description: "new" } } });
});

test("a lookup by a caller with other rights does not return the result of the first caller", async () => {
  open(new MemoryProvider({ id: "clock" }).offerTools("now"));
  const narrow: Principal = { id: "guest", rights: { deny: ["clock__*"] } };
  expect(await sourceOf("clock__now")).toBe("clock");
  expect(await sourceOf("clock__now", narrow)).toBeUndefined();
  expect(await sourceOf("clock__now")).toBe("clock");
  // Principals are compared as objects: the same caller with fewer rights is another object.
  expect(await sourceOf("clock__now", { ...LOCAL_PRINCIPAL, rights: { allow: ["other__*"] } })).toBeUndefined();
});

test("a lookup returns a source of higher precedence that has added the name, not the earlier result", async () => {
  const module = new MemoryProvider({ id: "own", kind: "modules", namespace: "", order: 0 });
  const other = new MemoryProvider({ id: "other", kind: "modules", namespace: "", order: 1 }).offerTools("now");
  open(module, other);
  expect([await sourceOf("now"), await sourceOf("now")]).toEqual(["other", "other"]);
  module.offerTools("now");
  const found = await find("now");
  // Now both sources have the name. It is ambiguous or belongs to the source of higher precedence, so the cached result
  // is wrong.
  expect(found.found ? found.source.id : found.failure.kind).not.toBe("other");
});

test("a lookup finds no tool of a removed source, even if a source with the same id was added again", async () => {
  const clock = new MemoryProvider({ id: "clock" }).offerTools("now");
  open(clock, new MemoryProvider({ id: "mail" }).offerTools("send"));
  expect(await sourceOf("clock__now")).toBe("clock");
  catalog.remove("clock");
  expect(await sourceOf("clock__now")).toBeUndefined();
  catalog.add(new MemoryProvider({ id: "clock" }).offerTools("later"));
  expect([await sourceOf("clock__now"), await sourceOf("clock__later")]).toEqual([undefined, "clock"]);
});

test("a lookup of a prompt does not return the cached tool with the same name", async () => {
  const clock = new MemoryProvider({ id: "clock" }).offerTools("now");
  open(clock);
  await find("clock__now");
  const view = { mode: "all", principal: LOCAL_PRINCIPAL } as const;
  const asked = { text: "clock__now", isUri: false, isTool: false, view };
  expect(await catalog.lookUp(asked, (snapshot) => snapshot.resolvePrompt("clock__now", view))).toMatchObject({
    found: false,
  });
});

test("a lookup of a known name waits for a list that its source is just reading", async () => {
  const clock = new MemoryProvider({ id: "clock" }).offerTools("now");
  open(clock);
  await find("clock__now");
  const { answer } = clock;
  clock.answer = async () => ({ ...(answer as object), tools: [] }) as never;
  expect(await sourceOf("clock__now")).toBeUndefined();
});

test("lookups of more names than the cache holds return the right source", async () => {
  const names = Array.from({ length: 600 }, (_, at) => `t${at}`);
  open(new MemoryProvider({ id: "many" }).offerTools(...names));
  for (const name of [...names, ...names.slice(0, 50)]) expect(await sourceOf(`many__${name}`)).toBe("many");
});
