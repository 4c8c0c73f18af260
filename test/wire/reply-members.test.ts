// Replies with more members than JSON-RPC allows, as some serialisers write them, over every transport and in both
// eras.
import { describe, expect, test } from "vitest";
import { ERAS, openOdd, WAYS } from "../fixtures/upstreams/odd.ts";

const CASES = WAYS.flatMap((way) => ERAS.map((era) => [way, era] as const));
const FINE = { ok: true, result: { content: [{ type: "text", text: "fine" }] } };

describe.each(CASES)("a server on %s in the %s era", (way, era) => {
  test("returns the result if the response also has an `error` without content", async () => {
    await using server = await openOdd(way, { era, onResult: { error: null } });
    for (const error of [null, {}, false, "", 0, []])
      expect(await server.call("fine", { odd: { onResult: { error } } }), JSON.stringify(error)).toMatchObject(FINE);
    const whole = { method: null, params: null, error: null };
    expect(await server.call("fine", { odd: { onResult: whole } })).toMatchObject(FINE);
    expect(server.lines.faults()).toEqual([]);
  });

  test("returns the server's error with any `result` next to it", async () => {
    await using server = await openOdd(way, { era, onError: { result: null } });
    for (const result of [null, {}, { content: [] }, "", []])
      expect(await server.call("bad", { odd: { onError: { result } } }), JSON.stringify(result)).toMatchObject({
        ok: false,
        message: "the real reason",
        rpcError: { code: -32602 },
      });
    expect(server.lines.faults()).toEqual([]);
  });

  test("fails as malformed, naming the member, if the reply has no valid member", async () => {
    await using server = await openOdd(way, { era });
    const replies = [
      [{ error: "it failed", result: {} }, "member `error`"],
      [{ error: null, result: null }, "`result` object"],
      [{ error: {}, result: [] }, "`content` is missing"],
    ] as const;
    for (const [onError, reason] of replies)
      expect(await server.call("bad", { odd: { onError } })).toMatchObject({
        ok: false,
        kind: "malformed",
        message: expect.stringContaining(reason),
      });
    expect(await server.call("fine")).toMatchObject(FINE);
  });
});
