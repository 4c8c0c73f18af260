import { expect, test } from "vitest";
import { collectionsOf, createPostgresStore, openPostgresStore } from "../../src/store/postgres/postgres.ts";
import { storeContract, type OpenStore } from "./contract.ts";
import { openPglite } from "./pglite-driver.ts";

// `npm run stores` configures a real server; otherwise the same SQL runs in this process.
const server = process.env["STORES_POSTGRES"];

if (server === undefined)
  storeContract("PostgreSQL in this process", async (): Promise<OpenStore> => {
    const database = await openPglite();
    const open = () => createPostgresStore(database.connect(), "tests", "memory");
    return { store: await open(), again: open, close: () => database.close() };
  });
else
  storeContract("PostgreSQL", async (): Promise<OpenStore> => {
    const collection = `tests_${process.pid}`;
    const open = () => openPostgresStore(new URL(server), collection);
    const store = await open();
    return { store, again: open, close: async () => store[Symbol.asyncDispose]() };
  });

test.runIf(server === undefined)("collectionsOf names the schemas of libraries and no other schema", async () => {
  const database = await openPglite();
  const driver = database.connect();
  await driver.script("create schema library_foreign; create schema other; create table other.meta(key text)");
  const stores = [];
  for (const collection of ["main", "a_1"])
    stores.push(await createPostgresStore(database.connect(), collection, "memory"));
  expect((await collectionsOf(driver)).toSorted()).toEqual(["a_1", "main"]);
  for (const store of stores) await store[Symbol.asyncDispose]();
  await database.close();
});
