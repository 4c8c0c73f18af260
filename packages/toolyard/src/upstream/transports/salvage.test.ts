import { expect, test } from "vitest";
import { findMessage, findReplyId } from "./salvage.ts";

test("parses a JSON line as a message, and any other line as noise", () => {
  expect(findMessage('{"jsonrpc":"2.0","id":1,"result":{}}')).toEqual({
    message: { jsonrpc: "2.0", id: 1, result: {} },
  });
  expect(findMessage("[1,2]")).toEqual({ message: [1, 2] });
  expect(findMessage("42")).toEqual({ noise: "42" });
  expect(findMessage("listening on port 3000")).toEqual({ noise: "listening on port 3000" });
});

test("separates text before a message on the same line", () => {
  expect(findMessage('loading… {"jsonrpc":"2.0","method":"x"}')).toEqual({
    message: { jsonrpc: "2.0", method: "x" },
    noise: "loading… ",
  });
  expect(findMessage('loading… {"jsonrpc":"2.0","meth')).toEqual({ noise: 'loading… {"jsonrpc":"2.0","meth' });
});

test("finds the request id of an unreadable reply at its start or its end", () => {
  expect(findReplyId('{"jsonrpc":"2.0","id":7,"result":{"content":[')).toBe(7);
  expect(findReplyId('{"result":{"content":[', '"}]},"jsonrpc":"2.0","id":8}')).toBe(8);
  expect(findReplyId('{"result":{"content":[', '"}]},"id":"a b","jsonrpc":"2.0"}')).toBe("a b");
});

test("does not read the id of a truncated or invalid log line as the id of a reply", () => {
  expect(findReplyId('{"id":7,"level":"info","msg":"cal')).toBeUndefined();
  expect(findReplyId('{"id":7, level: info}')).toBeUndefined();
  expect(findReplyId('{"id":7,"error":"disk fu')).toBeUndefined();
  expect(findReplyId('{"id":7,"result":{"content":[{"te')).toBe(7);
});

test("does not read an id in the content, or the id of a server's own request, as the id of a reply", () => {
  expect(findReplyId('{"result":{"id":5,"content":[', '"id":5}}')).toBeUndefined();
  expect(findReplyId('{"jsonrpc":"2.0","id":5,"method":"sampling/createMessage","params":{"')).toBeUndefined();
  expect(findReplyId('{"jsonrpc":"2.0","method":"sampling/createMessage","id":5,"params":{"')).toBeUndefined();
  expect(findReplyId("half of a log line")).toBeUndefined();
});
