import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { classifyMessage } from "./messages.ts";
import { replyMember } from "./reply-member.ts";

const EMPTY_ERRORS = [undefined, null, false, 0, "", {}, []];
const ERROR = { code: -32602, message: "the real reason" };

function classify(members: object): unknown {
  return classifyMessage({ jsonrpc: "2.0", id: 1, ...members });
}

describe("reply", () => {
  test.each(EMPTY_ERRORS.map((error) => [error]))("has a result if `error` is %j", (error) => {
    expect(classify({ result: { a: 1 }, error })).toEqual({
      type: "reply",
      message: { jsonrpc: "2.0", id: 1, result: { a: 1 } },
    });
  });

  test.each([[undefined], [null], [{}], [[]], [""], [false], [{ content: [] }]])(
    "has an error if `result` is %j",
    (result) => {
      expect(classify({ result, error: ERROR })).toEqual({
        type: "reply",
        message: { jsonrpc: "2.0", id: 1, error: ERROR },
      });
    },
  );

  test("may have `method` and `params` with the value null, as serialisers of classes write them", () => {
    expect(classify({ method: null, params: null, result: {}, error: null })).toMatchObject({ type: "reply" });
    expect(classify({ method: null })).toMatchObject({ type: "invalid", id: 1 });
  });

  test.each([
    ["both members are null", { result: null, error: null }, "`result` object"],
    ["there is neither", {}, "`result` object"],
    ["the result is a list", { result: [1] }, "`result` object"],
    ["the error is a text beside a result", { result: {}, error: "it failed" }, "member `error`"],
    ["the error has no code", { error: { message: "it failed" } }, "member `error`"],
    ["the error is true", { result: {}, error: true }, "member `error`"],
  ])("is invalid if %s", (_, members, reason) => {
    expect(classify(members)).toMatchObject({ type: "invalid", id: 1, reason: expect.stringContaining(reason) });
  });

  test("is valid without an id only if it has an error", () => {
    expect(classify({ id: null, error: ERROR, result: null })).toEqual({
      type: "reply",
      message: { jsonrpc: "2.0", id: null, error: ERROR },
    });
    expect(classify({ id: null, result: {}, error: null })).toMatchObject({ type: "invalid" });
  });

  test("is the same object if it has only one of `result` and `error`, so that the usual reply is not copied", () => {
    const reply = { jsonrpc: "2.0", id: 1, result: {} };
    expect(classifyMessage(reply)).toMatchObject({ type: "reply" });
    expect((classifyMessage(reply) as { message: unknown }).message).toBe(reply);
  });

  test("has exactly one of `result` and `error`, for any input", () => {
    const member = fc.oneof(fc.jsonValue(), fc.constantFrom(...EMPTY_ERRORS), fc.constant(ERROR));
    fc.assert(
      fc.property(fc.record({ result: member, error: member, id: member }, { requiredKeys: [] }), (members) => {
        const classified = classify(members);
        const { type, message } = classified as { type: string; message: object };
        if (type !== "reply") {
          expect(type).toBe("invalid");
          return;
        }
        expect(Object.keys(message).filter((name) => name === "result" || name === "error")).toEqual([
          replyMember(members),
        ]);
      }),
      { seed: 30, numRuns: 2000 },
    );
  });
});

describe.each([
  ["request", { id: 1 }],
  ["notification", { id: undefined }],
])("%s", (type, own) => {
  const call = { jsonrpc: "2.0", method: "ping", ...(own.id === undefined ? {} : own) };

  test.each([[null], [[]]])("has no params if they are %j", (params) => {
    expect(classifyMessage({ ...call, params })).toEqual({ type, message: call });
  });

  test.each([[[1]], ["x"], [0], [false], [true], [[null]]])("is invalid if its params are %j", (params) => {
    expect(classifyMessage({ ...call, params })).toMatchObject({
      type: "invalid",
      reason: "member `params` must be an object",
    });
  });

  test("keeps params that are an object, even an empty one", () => {
    expect(classifyMessage({ ...call, params: {} })).toEqual({ type, message: { ...call, params: {} } });
  });
});
