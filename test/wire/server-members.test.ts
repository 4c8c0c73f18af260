// `params` of null and `[]` in messages that servers send themselves, and a cursor of null, over every transport.
import { describe, expect, test } from "vitest";
import { textOf } from "../fixtures/upstreams/harness.ts";
import { openOdd, WAYS, type OddServer } from "../fixtures/upstreams/odd.ts";

const rpc = <T extends object>(members: T) => ({ jsonrpc: "2.0", ...members });

async function repliesTo(server: OddServer, ids: readonly string[]): Promise<unknown[]> {
  const replies = JSON.parse(textOf(await server.call("heard"))) as { id: string }[];
  return replies.filter(({ id }) => ids.includes(id)).toSorted((a, b) => a.id.localeCompare(b.id));
}

describe.each(WAYS)("a server on %s", (way) => {
  test("can send requests with empty params, and gets answers", async () => {
    await using server = await openOdd(way, { era: "legacy" });
    const requests = [
      rpc({ id: `${way} 1`, method: "ping", params: null }),
      rpc({ id: `${way} 2`, method: "ping", params: [] }),
      rpc({ id: `${way} 3`, method: "roots/list", params: null }),
      rpc({ id: `${way} 4`, method: "ping", params: [1] }),
    ];
    const wish = { client: { capabilities: {} } };
    expect(await server.call("fine", { odd: { before: requests } }, wish)).toMatchObject({ ok: true });
    const ids = requests.map(({ id }) => id as string);
    await expect
      .poll(() => repliesTo(server, ids))
      .toMatchObject([{ result: {} }, { result: {} }, { result: { roots: [] } }, { error: { code: -32600 } }]);
  });

  test("can send notifications with empty params, which do not count as a fault", async () => {
    await using server = await openOdd(way, { era: "legacy" });
    for (const params of [null, []]) {
      const methods = ["notifications/tools/list_changed", "notifications/message", "notifications/progress"];
      const before = methods.map((method) => rpc({ method, params }));
      expect(await server.call("fine", { odd: { before } })).toMatchObject({ ok: true });
    }
    expect(server.lines.faults()).toEqual([]);
    const before = [rpc({ method: "notifications/message", params: ["words"] })];
    expect(await server.call("fine", { odd: { before } })).toMatchObject({ ok: true });
    expect(server.lines.faults()).toEqual(["not-json-rpc"]);
  });

  test("can end a list with a cursor of null, and write `_meta` of null", async () => {
    for (const era of ["legacy", "modern"] as const) {
      await using server = await openOdd(way, { era, list: { nextCursor: null, _meta: null } });
      const { tools, problems } = await server.provider.listing();
      expect(tools.map(({ name }) => name)).toContain("fine");
      expect(problems ?? []).toEqual([]);
    }
  });
});

test("accepts a ping with params of null from a server on stdio before it answers `initialize`", async () => {
  const start = [rpc({ id: "early", method: "ping", params: null })];
  await using server = await openOdd("stdio", { era: "legacy", start });
  expect(await server.call("fine")).toMatchObject({ ok: true });
  expect(await repliesTo(server, ["early"])).toMatchObject([{ id: "early", result: {} }]);
});
