import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { SILENT_LOGGER } from "../../core/ports/ports.ts";
import { loadHubConfig, openHub, type Hub } from "../open-hub.ts";
import { reopen } from "./reopen.ts";
import { serveHttp, type ServedHttp } from "./serve.ts";

let home: string;
let hub: Hub;
let served: ServedHttp;
let other: Server;

beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), "toolyard-reopen-"));
  const variables = { TOOLYARD_HOME: home };
  hub = await openHub({
    config: await loadHubConfig({ files: [], variables: {}, flags: {} }),
    variables,
    logger: SILENT_LOGGER,
  });
  served = await serveHttp(hub, { port: 0 });
  other = createServer();
});
afterEach(async () => {
  other.close();
  await served.close();
  await hub.close();
  rmSync(home, { recursive: true });
});

async function statusOf({ address }: ServedHttp): Promise<number> {
  return (await fetch(`${address.url}/status`, { headers: { connection: "close" } })).status;
}

test.each([
  ["the same address", { port: 0 }],
  ["another address", { port: 0, host: "localhost" }],
])("serves the changed section at %s", async (_what, place) => {
  const before = served;
  served = await reopen(hub, served, { server: { ...place, token: "secret-token" }, before: { port: 0 } });
  expect(await statusOf(served)).toBe(401);
  expect(served.address.port === before.address.port).toBe(!("host" in place));
});

test("keeps the endpoint if the changed section cannot be served", async () => {
  expect(await reopen(hub, served, { server: { port: 0, base_path: "no slash" }, before: { port: 0 } })).toBe(served);
  expect(await statusOf(served)).toBe(200);
});

test("rejects if another program took the port, because nothing is served any more", async () => {
  const { port } = served.address;
  const lost: ServedHttp = {
    ...served,
    close: async () => {
      await served.close();
      other.listen(port, "127.0.0.1");
      await once(other, "listening");
    },
  };
  await expect(reopen(hub, lost, { server: { port: 0, token: "secret-token" }, before: { port: 0 } })).rejects.toThrow(
    `The endpoint could not be opened again: `,
  );
});
