import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { MAX_CLIENTS } from "../../state/ports/auth-state.ts";
import { ClientRegistry } from "./client-registry.ts";
import { ClientFiles } from "./disk/client-files.ts";

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "toolyard-clients-"));
});

afterEach(() => rm(folder, { recursive: true, force: true }));

test("at the limit, refuses to register a new client, but still updates and removes registered clients", async () => {
  const registry = new ClientRegistry(new ClientFiles(folder, MAX_CLIENTS));
  await registry.write("first", { client_id: "first" });
  for (let count = 1; count < MAX_CLIENTS; count += 1) await writeFile(join(folder, `${count}.json`), "{}");
  await expect(registry.write("new", { client_id: "new" })).rejects.toThrow("toolyard client remove");
  expect(await registry.find("new")).toBeUndefined();
  await registry.write("first", { client_id: "first", client_name: "First" });
  expect(await registry.find("first")).toMatchObject({ client_name: "First" });
  expect(await registry.remove("first")).toBe(true);
  await registry.write("new", { client_id: "new" });
});

test("ignores a truncated client file", async () => {
  const registry = new ClientRegistry(new ClientFiles(folder, MAX_CLIENTS));
  await registry.write("one", { client_id: "one" });
  await writeFile(join(folder, "torn.json"), '{"client_id":"to');
  expect(await registry.list()).toEqual([{ client_id: "one" }]);
});
