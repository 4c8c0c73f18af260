import { expect, test } from "vitest";
import type { HttpExchange } from "../http/exchange.ts";
import type { Handler } from "../http/router.ts";
import type { Endpoint } from "./endpoint.ts";
import { LateEndpoint } from "./late-endpoint.ts";

const PLACE = { path: "/late", methods: ["GET"] } as const;

/** Mounts a late endpoint, and returns its handler and the steps of the endpoint that it loads. */
function mounted(load: (endpoint: Endpoint) => Promise<Endpoint>) {
  const steps: string[] = [];
  const endpoint: Endpoint = {
    mount: (listener) => listener.route(PLACE, () => void steps.push("served")),
    giveUp: () => void steps.push("giveUp"),
    close: () => void steps.push("close"),
  };
  const late = new LateEndpoint({ places: [PLACE], load: () => load(endpoint) });
  let handler: Handler | undefined;
  late.mount({ route: (_place, given) => void (handler = given) });
  return { late, steps, serve: async () => handler!({} as HttpExchange) };
}

test("loads the endpoint once for requests that arrive together", async () => {
  let loads = 0;
  const { steps, serve } = mounted(async (endpoint) => {
    loads += 1;
    return endpoint;
  });
  await Promise.all([serve(), serve()]);
  await serve();
  expect({ loads, steps }).toEqual({ loads: 1, steps: ["served", "served", "served"] });
});

test("loads the endpoint again after a load failed", async () => {
  let loads = 0;
  const { steps, serve } = mounted(async (endpoint) => {
    loads += 1;
    if (loads === 1) throw new Error("too many open files");
    return endpoint;
  });
  await expect(serve()).rejects.toThrow("too many open files");
  await serve();
  expect(steps).toEqual(["served"]);
});

test("gives up and closes an endpoint that was loading when the hub ended", async () => {
  const { late, steps, serve } = mounted(async (endpoint) => endpoint);
  const served = serve();
  late.giveUp();
  late.close();
  await served;
  expect(steps).toEqual(["giveUp", "close", "served"]);
});
