import { describe, test } from "vitest";
import { openWeaviateStore } from "../../src/store/weaviate/weaviate.ts";
import { storeContract, type OpenStore } from "./contract.ts";

// `npm run stores` starts a server and sets this variable.
const server = process.env["STORES_WEAVIATE"];

if (server === undefined)
  describe("Weaviate", () => {
    test("Weaviate fulfils the contract of stores", ({ skip }) => skip("STORES_WEAVIATE names no server"));
  });
else
  storeContract("Weaviate", async (): Promise<OpenStore> => {
    const open = () => openWeaviateStore(new URL(server), `tests${process.pid}`);
    return { store: await open(), again: open, close: async () => {} };
  });
