import { expect, test } from "vitest";
import type { JsonObject } from "../../core/json/json.ts";
import { ok, type Outcome } from "../../core/calls/outcome.ts";
import type { HubAccess } from "./hub-access.ts";
import { HubRequests, MAX_REQUESTS } from "./hub-requests.ts";

interface Waiting {
  readonly signal: AbortSignal;
  readonly finish: (outcome: Outcome) => void;
}

function stand(): { readonly access: HubAccess; readonly waiting: Waiting[]; readonly lines: JsonObject[] } {
  const waiting: Waiting[] = [];
  return {
    waiting,
    lines: [],
    access: {
      models: {},
      call: (_tool, _args, signal) => new Promise((finish) => waiting.push({ signal, finish })),
      read: (_uri, signal) => new Promise((finish) => waiting.push({ signal, finish })),
      search: () => Promise.resolve({ hits: [], total: 0 }),
      list: () => Promise.resolve([]),
    },
  };
}

const call = (id: number): JsonObject => ({ id, method: "tools/call", params: { name: "t" } });

test("handles 16 requests concurrently, and admits the next one whenever one ends", async () => {
  const { access, waiting, lines } = stand();
  const requests = new HubRequests(access, (line) => Promise.resolve(void lines.push(JSON.parse(line) as JsonObject)));
  for (let id = 0; id < 20; id += 1) expect(requests.take(call(id))).toBe(true);
  expect(waiting).toHaveLength(16);
  waiting[0]!.finish(ok({ content: [] }));
  await expect.poll(() => waiting.length).toBe(17);
  expect(lines).toEqual([{ jsonrpc: "2.0", id: 0, result: { content: [] } }]);
});

test("admits no further request while the script does not read its answers", async () => {
  const { access, waiting } = stand();
  const requests = new HubRequests(access, () => new Promise(() => {}));
  for (let id = 0; id < 40; id += 1) requests.take(call(id));
  for (const one of waiting) one.finish(ok({ content: [] }));
  await new Promise((done) => setImmediate(done));
  expect(waiting).toHaveLength(16);
});

test("aborts open requests on close, and sends no more answers", async () => {
  const { access, waiting, lines } = stand();
  const requests = new HubRequests(access, (line) => Promise.resolve(void lines.push(JSON.parse(line) as JsonObject)));
  for (let id = 0; id < 20; id += 1) requests.take(call(id));
  requests.close();
  for (const { signal, finish } of waiting) {
    expect(signal.aborted).toBe(true);
    finish(ok({}));
  }
  await new Promise((done) => setImmediate(done));
  expect(waiting).toHaveLength(16);
  expect(lines).toEqual([]);
});

test("rejects requests over the limit of a run, and names the limit", () => {
  const { access, lines } = stand();
  const requests = new HubRequests(access, (line) => Promise.resolve(void lines.push(JSON.parse(line) as JsonObject)));
  for (let id = 0; id <= MAX_REQUESTS; id += 1) requests.take(call(id));
  expect(lines).toMatchObject([
    {
      id: MAX_REQUESTS,
      error: { message: expect.stringContaining(`${MAX_REQUESTS} requests`), data: { kind: "limited" } },
    },
  ]);
});

test.each([
  ["progress", { progress: 1 }],
  ["a result", { id: 1, result: {} }],
  ["a method without id", { method: "tools/call", params: {} }],
  ["parameters that are a list", { id: 1, method: "tools/call", params: [1] }],
])("%s is not a request", (_, message) => {
  const { access } = stand();
  expect(new HubRequests(access, () => Promise.resolve()).take(message as JsonObject)).toBe(false);
});
