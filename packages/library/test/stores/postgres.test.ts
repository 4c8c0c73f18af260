import { createPostgresStore, openPostgresStore } from "../../src/store/postgres/postgres.ts";
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
