import { afterEach, beforeEach, expect, test } from "vitest";
import { SERVICES, startService, type RunningService } from "../../../packages/toolyard/servers/services.ts";
import { SILENT_LOGGER } from "../../../packages/toolyard/src/core/ports/ports.ts";
import { createHub, type LibraryHub } from "../../../packages/toolyard/src/index.ts";
import { startProviders, type Providers } from "../../fixtures/services/providers.ts";
import { ToolFolder } from "../../support/tool-folder.ts";

let home: ToolFolder;
let providers: Providers;
let service: RunningService;
let hub: LibraryHub;
let url: string;

beforeEach(async () => {
  home = new ToolFolder();
  providers = await startProviders();
  const geocoding = SERVICES.find(({ name }) => name === "geocoding")!;
  const environment = { ...providers.environment, TOOLYARD_HOME: home.path, TOOLYARD_LOGGING_LEVEL: "error" };
  service = await startService(geocoding, { environment, port: 0 });
  hub = await createHub({
    settings: {
      server: { port: 0 },
      rest: { routes: { "POST /geocoding/get": "geocode", "GET /geocoding/get": "geocode" } },
      mcp: { remote_servers: [{ alias: "geocoding", url: service.served.endpoint }] },
    },
    variables: { TOOLYARD_HOME: home.path },
    logger: SILENT_LOGGER,
  });
  url = (await hub.serve()).address.url;
});
afterEach(async () => {
  await hub.close();
  await service.close();
  await providers.close();
  home[Symbol.dispose]();
});

const post = async (
  body: object,
): Promise<{ status: number; body: { error: { message: string; value?: unknown } } }> => {
  const headers = { "content-type": "application/json" };
  const response = await fetch(`${url}/geocoding/get`, { method: "POST", headers, body: JSON.stringify(body) });
  return { status: response.status, body: (await response.json()) as never };
};

test("M11: arguments that the service refuses are a 400 with its message", async () => {
  for (const address of [" ", "   "]) {
    const { status, body } = await post({ address });
    expect([status, body.error.message]).toEqual([400, "Give `address`: a place or address, such as Tokyo."]);
    expect(body.error).not.toHaveProperty("value");
  }
  const response = await fetch(`${url}/geocoding/get?address=%20`);
  expect([response.status, await response.text()]).toEqual([400, expect.not.stringContaining("{\\")]);
});

test("M11: arguments of another type and missing ones are a 400 too", async () => {
  for (const body of [{ address: 7 }, {}, { address: ["Oslo"] }]) expect((await post(body)).status).toBe(400);
});

test("M11: a failure of the tool is a 500 with its message", async () => {
  const { status, body } = await post({ address: "Nowhere-at-all" });
  expect(status).toBe(500);
  expect(body.error.message).toMatch(/^No place found for "Nowhere-at-all"\./);
});
