import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { HubControl } from "../../../core/ports/hub-control.ts";
import type { AdminRequest } from "./route.ts";
import { StoredCallRoutes } from "./stored-calls.ts";

function requestOf(seesAll: boolean): AdminRequest {
  const caller = { seesAll, principal: { id: "ann" } };
  const request = { query: new URLSearchParams(), caller, exchange: { signal: new AbortController().signal } };
  return request as unknown as AdminRequest;
}

test("refuses a third concurrent search of callers with narrowed rights, but not with full rights", async () => {
  const folder = await mkdtemp(join(tmpdir(), "toolyard-stored-"));
  try {
    const file = join(folder, "audit.jsonl");
    await writeFile(file, `${JSON.stringify({ event: "call", principal: "ann", target: "echo" })}\n`);
    const hubControl = () => ({ tree: { audit: { file } } }) as unknown as HubControl;
    const [{ handle }] = new StoredCallRoutes({ hubControl, redactFacts: (facts) => facts }).routes as [
      StoredCallRoutes["routes"][number],
    ];
    const search = async (seesAll: boolean): Promise<unknown> => handle(requestOf(seesAll));
    const found = { hasAudit: true, entries: [{ event: "call", principal: "ann", target: "echo" }], isPart: false };
    const running = [search(false), search(false), search(true), search(true)];
    await expect(search(false)).rejects.toMatchObject({ status: 503 });
    await expect(search(true)).rejects.toMatchObject({ status: 503 });
    expect(await Promise.all(running)).toEqual([found, found, found, found]);
    expect(await search(false)).toEqual(found);
  } finally {
    await rm(folder, { recursive: true });
  }
});
