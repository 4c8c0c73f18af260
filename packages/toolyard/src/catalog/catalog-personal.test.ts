// Tests of personal sources: each principal has a separate list and does not see the lists of others.
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { MemoryProvider } from "../../../../test/fixtures/memory-provider.ts";
import { LOCAL_PRINCIPAL, type Principal } from "../core/calls/call.ts";
import { EVERYBODY, linkKeyText, type LinkKey } from "../core/calls/link-key.ts";
import type { ListingRequest } from "../core/sources/provider.ts";
import { EMPTY_LISTING, type Listing } from "../core/sources/records.ts";
import { EVERYTHING } from "../core/ports/rights.ts";
import { Catalog } from "./catalog.ts";
import { resolveCatalog } from "./options.ts";

/** Offers each principal the list that was set for it, and all others one tool that explains how to get a list. */
class PersonalProvider extends MemoryProvider {
  readonly #lists = new Map<string, Listing>();

  constructor(id: string) {
    super({ id });
    this.#lists.set(linkKeyText(EVERYBODY), this.#listOf("sign_in"));
  }

  offerTo({ id }: Principal, ...names: readonly string[]): void {
    this.#lists.set(linkKeyText({ for: "principal", principal: id }), this.#listOf(...names));
    this.events.changed.emit();
  }

  linkFor({ id }: Principal): LinkKey {
    return { for: "principal", principal: id };
  }

  override listing({ link = EVERYBODY }: ListingRequest = {}): Listing {
    return this.#lists.get(linkKeyText(link)) ?? this.#lists.get(linkKeyText(EVERYBODY))!;
  }

  #listOf(...names: readonly string[]): Listing {
    return { ...EMPTY_LISTING, tools: names.map((name) => this.tool({ name })) };
  }
}

const ANN: Principal = { id: "ann", rights: EVERYTHING };
const BEN: Principal = { id: "ben", rights: EVERYTHING };
let personal: PersonalProvider;
let catalog: Catalog;

beforeEach(() => {
  personal = new PersonalProvider("mail");
  catalog = new Catalog(resolveCatalog({ change_delay_ms: 1 }), [
    personal,
    new MemoryProvider({ id: "clock" }).offerTools("now"),
  ]);
});
afterEach(() => catalog.close());

async function namesFor(principal: Principal): Promise<unknown[]> {
  const { entries } = (await catalog.for(principal).snapshot()).list("tools", { mode: "all", principal });
  return entries.map(({ name }) => name);
}

async function finds(principal: Principal, text: string): Promise<boolean> {
  const view = { mode: "all", principal } as const;
  const lookup = await catalog
    .for(principal)
    .lookUp({ text, isUri: false, view }, (snapshot) => snapshot.resolveTool(text, view));
  return lookup.found;
}

describe("with a personal source", () => {
  test("each principal lists its own tools and the shared ones", async () => {
    personal.offerTo(ANN, "anns");
    personal.offerTo(BEN, "bens", "both");
    expect(await namesFor(ANN)).toEqual(["clock__now", "mail__anns"]);
    expect(await namesFor(BEN)).toEqual(["clock__now", "mail__bens", "mail__both"]);
    expect(await namesFor(LOCAL_PRINCIPAL)).toEqual(["clock__now", "mail__sign_in"]);
  });

  test("calls and searches find the principal's own tools, and not those of others", async () => {
    personal.offerTo(ANN, "anns");
    personal.offerTo(BEN, "bens");
    expect([await finds(ANN, "mail__anns"), await finds(BEN, "mail__anns")]).toEqual([true, false]);
    const search = async (principal: Principal): Promise<unknown[]> => {
      const { hits } = await catalog.for(principal).search("anns", { mode: "all", principal }, { limit: 5 });
      return hits.map(({ name }) => name);
    };
    expect([await search(ANN), await search(BEN)]).toEqual([["mail__anns"], []]);
  });

  test("reports a change of one principal's list and leaves the others unchanged", async () => {
    await Promise.all([namesFor(ANN), namesFor(BEN)]);
    const before = (await catalog.for(BEN).snapshot()).list("tools", { mode: "all", principal: BEN }).version;
    const changed = new Promise((resolve) => void catalog.changed.on(resolve));
    personal.offerTo(ANN, "anns");
    expect(await changed).toEqual({ lists: ["tools"] });
    expect(await namesFor(ANN)).toContain("mail__anns");
    expect((await catalog.for(BEN).snapshot()).list("tools", { mode: "all", principal: BEN }).version).toBe(before);
  });

  test("adds and removes sources for every principal", async () => {
    await namesFor(ANN);
    catalog.add(new MemoryProvider({ id: "late" }).offerTools("in"));
    expect(await namesFor(ANN)).toContain("late__in");
    catalog.remove("late");
    expect(await namesFor(ANN)).not.toContain("late__in");
  });

  test("limits the number of personal catalogs, and recreates them on demand", async () => {
    personal.offerTo(ANN, "anns");
    const first = catalog.for(ANN);
    expect(catalog.for(ANN)).toBe(first);
    for (let at = 0; at < 400; at += 1) catalog.for({ id: `p${at}`, rights: EVERYTHING });
    expect(catalog.for(ANN)).not.toBe(first);
    expect(await namesFor(ANN)).toContain("mail__anns");
  });
});

test("shares one catalog among all principals if no source is personal", () => {
  catalog.remove("mail");
  expect(catalog.for(ANN)).toBe(catalog);
  expect(catalog.for(BEN)).toBe(catalog);
});
