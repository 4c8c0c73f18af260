// A caller with narrow rights learns nothing about hidden tools, neither by name nor by changed positions, scores and
// reasons.
import { expect, test } from "vitest";
import { MemoryProvider } from "../fixtures/memory-provider.ts";
import { Catalog } from "../../packages/toolyard/src/catalog/catalog.ts";
import { resolveCatalog } from "../../packages/toolyard/src/catalog/options.ts";
import { TableSearch } from "../../packages/toolyard/src/catalog/search/likeness/table-search.ts";
import { LOCAL_PRINCIPAL } from "../../packages/toolyard/src/core/calls/call.ts";
import type { View } from "../../packages/toolyard/src/core/ports/hub-port.ts";
import { SILENT_LOGGER, type SearchAnswer, type SearchFilter } from "../../packages/toolyard/src/core/ports/ports.ts";
import type { Rights } from "../../packages/toolyard/src/core/ports/rights.ts";
import { loadTokenTable } from "../../packages/toolyard/src/models/table/token-table.ts";

interface Offer {
  readonly name: string;
  readonly description: string;
}

const SHOWN: Readonly<Record<string, readonly Offer[]>> = {
  shop: [
    { name: "list_orders", description: "Lists the orders of a customer." },
    { name: "send_invoice", description: "Sends the invoice of an order by email." },
  ],
  mail: [
    { name: "send_email", description: "Sends an email to somebody." },
    { name: "read_inbox", description: "Reads the newest messages." },
  ],
};
/**
 * Hidden tools: tools that resemble those of other servers, tools with rare words, and tools whose names a typo leads
 * to.
 */
const HIDDEN: Readonly<Record<string, readonly Offer[]>> = {
  shop: [
    { name: "refund_order", description: "Refunds an order, invoice and all, by email." },
    { name: "zebra_orders", description: "Sends orders and invoices of zebras." },
  ],
  mail: [{ name: "wipe_mailbox", description: "Deletes every email message of somebody." }],
  vault: [
    { name: "send_gold", description: "Sends an email with the invoice of the gold." },
    { name: "sendd", description: "Sends." },
  ],
};

const RIGHTS: Rights = { deny: ["*refund*", "*zebra*", "*wipe*", "vault__*"] };
const viewOf = (rights?: Rights): View => ({
  mode: "all",
  principal: rights ? { ...LOCAL_PRINCIPAL, id: "guest", rights } : LOCAL_PRINCIPAL,
});

type Ask = (query: string, filter?: SearchFilter) => Promise<SearchAnswer>;

async function yard(offers: readonly Readonly<Record<string, readonly Offer[]>>[], rights?: Rights): Promise<Ask> {
  const ids = [...new Set(offers.flatMap((offer) => Object.keys(offer)))];
  const catalog = new Catalog(
    resolveCatalog(),
    ids.map((id) => new MemoryProvider({ id }).offerTools(...offers.flatMap((offer) => offer[id] ?? []))),
  );
  const table = new TableSearch({ load: loadTokenTable, waitMs: 60_000, logger: SILENT_LOGGER });
  catalog.searchWith(async () => table);
  const ask: Ask = (query, filter = {}) => catalog.search(query, viewOf(rights), { limit: 20, why: true, ...filter });
  await ask("send");
  await table.settled();
  return ask;
}

test.each([
  "send email",
  "sends the invoice of an order",
  "zebra",
  "zeb",
  "sendd gold",
  "refund",
  "get rid of every message",
  "wipe_mailbox",
  "vault__send_gold",
  "orders",
  "",
])(
  "S15: for %j, a guest gets the results, scores and reasons that it would get without hidden tools",
  async (query) => {
    const guest = await yard([SHOWN, HIDDEN], RIGHTS);
    const alone = await yard([SHOWN]);
    expect(await guest(query)).toEqual(await alone(query));
    expect(await guest(query, { server: "vault" })).toEqual(await alone(query, { server: "vault" }));
  },
);

test("S15: searches of a caller with all rights and of a guest do not affect each other", async () => {
  const catalog = new Catalog(resolveCatalog(), [
    new MemoryProvider({ id: "vault" }).offerTools({ name: "send_gold", description: "Sends gold." }),
    new MemoryProvider({ id: "mail" }).offerTools({ name: "send_email", description: "Sends an email." }),
  ]);
  const names = async (rights?: Rights): Promise<string[]> =>
    (await catalog.search("send", viewOf(rights), { limit: 5 })).hits.map(({ name }) => name);
  expect(await names(RIGHTS)).toEqual(["mail__send_email"]);
  expect((await names()).toSorted()).toEqual(["mail__send_email", "vault__send_gold"]);
  expect(await names(RIGHTS)).toEqual(["mail__send_email"]);
});

test("answers many guests with different rights only with tools that each may use", async () => {
  const tools = Array.from({ length: 12 }, (_, at) => ({ name: `send_${at}`, description: "Sends." }));
  const catalog = new Catalog(resolveCatalog(), [new MemoryProvider({ id: "a" }).offerTools(...tools)]);
  for (let round = 0; round < 2; round += 1)
    for (const { name } of tools) {
      const { hits } = await catalog.search("send", viewOf({ allow: [`a__${name}`] }), { limit: 20 });
      expect(hits.map((hit) => hit.name)).toEqual([`a__${name}`]);
    }
});
