import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openSqliteStore } from "../../src/store/sqlite/sqlite.ts";
import { storeContract, type OpenStore } from "./contract.ts";

for (const engine of [undefined, "libsql"] as const) {
  // Without `node:sqlite`, both engines are libsql.
  if (engine === undefined && !process.getBuiltinModule("node:module").isBuiltin("node:sqlite")) continue;
  storeContract(`SQLite by ${engine ?? "node:sqlite"}`, async (): Promise<OpenStore> => {
    const folder = mkdtempSync(join(tmpdir(), "toolyard-stores-"));
    const file = join(folder, "library.db");
    const store = await openSqliteStore(file, engine);
    return {
      store,
      again: () => openSqliteStore(file, engine),
      close: async () => {
        await store[Symbol.asyncDispose]();
        rmSync(folder, { recursive: true, force: true });
      },
    };
  });
}
