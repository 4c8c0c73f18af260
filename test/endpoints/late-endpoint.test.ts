import { expect, test } from "vitest";
import type { Mountable } from "../../packages/toolyard/src/http/listening/listener.ts";
import type { HttpExchange } from "../../packages/toolyard/src/http/exchange.ts";
import type { Handler, RoutePlace } from "../../packages/toolyard/src/http/router.ts";
import {
  JsonRpcHttpEndpoint,
  type JsonRpcHttpParts,
} from "../../packages/toolyard/src/endpoints/jsonrpc/http-endpoint.ts";
import { jsonRpcPlaces } from "../../packages/toolyard/src/endpoints/jsonrpc/places.ts";
import type { Endpoint } from "../../packages/toolyard/src/endpoints/endpoint.ts";
import { LateEndpoint } from "../../packages/toolyard/src/endpoints/late-endpoint.ts";
import { resolveRest } from "../../packages/toolyard/src/endpoints/rest/options.ts";
import { restPlaces } from "../../packages/toolyard/src/endpoints/rest/places.ts";
import type { RestParts } from "../../packages/toolyard/src/endpoints/rest/ports.ts";
import { RestEndpoint } from "../../packages/toolyard/src/endpoints/rest/rest-endpoint.ts";

class RecordingListener implements Mountable {
  readonly places: RoutePlace[] = [];
  readonly #handlers = new Map<string, Handler>();

  route(place: RoutePlace, handler: Handler): void {
    this.places.push(place);
    this.#handlers.set(place.path, handler);
  }

  async ask(path: string): Promise<void> {
    await this.#handlers.get(path)!({} as HttpExchange);
  }
}

function mounted(endpoint: Pick<Endpoint, "mount">): readonly RoutePlace[] {
  const listener = new RecordingListener();
  endpoint.mount(listener);
  return listener.places.toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

const sorted = (places: readonly RoutePlace[]): readonly RoutePlace[] =>
  places.toSorted((a, b) => (a.path < b.path ? -1 : 1));

test.each([
  {},
  { base_path: "/v1", openapi: false },
  { routes: { "GET /weather": "weather", "POST /weather": "weather", "POST /ask": { chat: true } } },
])("announces REST with %j at its mounted paths", (config) => {
  const options = resolveRest(config);
  expect(sorted(restPlaces(options))).toEqual(mounted(new RestEndpoint({} as RestParts, options)));
});

test.each([
  { enabled: true, onMcpPath: false },
  { enabled: true, onMcpPath: true },
  { enabled: false, onMcpPath: true },
])("announces JSON-RPC with %j at its mounted paths", (options) => {
  const parts = { mcp: {}, dialects: [] } as unknown as JsonRpcHttpParts;
  expect(sorted(jsonRpcPlaces(options))).toEqual(mounted(new JsonRpcHttpEndpoint(parts, options)));
});

interface LateRecord {
  readonly events: string[];
  readonly listener: RecordingListener;
  readonly late: LateEndpoint;
}

function lateEndpoint(paths: readonly string[], own: readonly string[] = paths): LateRecord {
  const events: string[] = [];
  const endpoint: Endpoint = {
    mount: (listener) => {
      for (const path of own) listener.route({ path, methods: ["GET"] }, () => void events.push(`asked ${path}`));
    },
    giveUp: () => void events.push("given up"),
    close: () => void events.push("closed"),
  };
  const load = async (): Promise<Endpoint> => {
    events.push("loaded");
    return endpoint;
  };
  const late = new LateEndpoint({ places: paths.map((path) => ({ path, methods: ["GET"] })), load });
  const listener = new RecordingListener();
  late.mount(listener);
  return { events, listener, late };
}

test("loads an endpoint at the first request, and answers the requests of that time in order", async () => {
  const { events, listener } = lateEndpoint(["/a", "/b"]);
  expect(events).toEqual([]);
  await Promise.all([listener.ask("/b"), listener.ask("/a")]);
  await listener.ask("/b");
  expect(events).toEqual(["loaded", "asked /b", "asked /a", "asked /b"]);
});

test("stays unloaded if closed before use, and closes the endpoint if it loads afterwards", async () => {
  const { events, listener, late } = lateEndpoint(["/a"]);
  late.giveUp();
  late.close();
  expect(events).toEqual([]);
  await listener.ask("/a");
  expect(events).toEqual(["loaded", "given up", "closed", "asked /a"]);
});

test("answers a request at a path without a mounted handler as an internal error", async () => {
  const { listener } = lateEndpoint(["/a", "/b"], ["/a"]);
  await expect(listener.ask("/b")).rejects.toThrow("/b");
});
