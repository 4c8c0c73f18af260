import { expect, test } from "vitest";
import { stringifyMembers } from "../core/json-text.ts";
import { isJsonObject, type JsonObject } from "../core/json.ts";
import { parseMessage } from "./parse-message.ts";

const LONG = "x".repeat(5000);

function resultOf(text: string): JsonObject {
  const parsed = parseMessage(text, 100);
  if (!parsed.ok || !isJsonObject(parsed.value) || !isJsonObject(parsed.value["result"])) throw new Error("no result");
  return parsed.value["result"];
}

test("large members of a result are written as they came, the others anew", () => {
  // Nobody would write the number, the escape and the spaces like this again.
  const content = `[ {"type" : "text", "text":"\\u0061 ${LONG} \\"}]," , "n": 1.00} ]`;
  const result = resultOf(
    ` {"id": 7 , "jsonrpc":"2.0","result" :{"content": ${content}, "_meta":{"n": 1.0}, "flag":true } } `,
  );
  expect(stringifyMembers(result)).toBe(`{"content":${content},"_meta":{"n":1},"flag":true}`);
  expect(stringifyMembers({ ...result, resultType: "complete" })).toBe(
    `{"content":${content},"_meta":{"n":1},"flag":true,"resultType":"complete"}`,
  );
});

test.each([
  ["comes after others of every kind", `{"a":null,"b":-1500,"c":"}],\\\\","d":[],"e":{},"content":["${LONG}"]}`],
  ["has brackets in its texts", `{"content":["]}${LONG}{[\\\\\\""],"z":1}`],
  ["holds the name of another", `{"content":{"content":["${LONG}"],"result":{}}}`],
  ["is no ASCII", `{"content":["é ü 漢字 😀 ${LONG}"]}`],
])("a member that %s keeps its text", (_, json) => {
  const result = resultOf(`{"jsonrpc":"2.0","id":1,"result":${json}}`);
  expect(stringifyMembers(result)).toBe(json);
  expect(JSON.parse(stringifyMembers({ ...result }))).toEqual(JSON.parse(json));
});

test.each([
  ["a name that comes twice", `{"content":["${LONG}"],"content":["second ${LONG}"]}`],
  ["a name written with escapes", `{"\\u0063ontent":["${LONG}"]}`],
  ["a line break, which would end an event", `{"content":[\n"${LONG}"\r\n]}`],
])("%s is written anew, as it was understood", (_, json) => {
  const result = resultOf(`{"jsonrpc":"2.0","id":1,"result":${json}}`);
  expect(stringifyMembers(result)).toBe(JSON.stringify(JSON.parse(json)));
});

test("two results in one message are written as the one that counts", () => {
  const result = resultOf(
    `{"jsonrpc":"2.0","id":1,"result":{"content":["first ${LONG}"]},"result":{"content":["second ${LONG}"]}}`,
  );
  expect(stringifyMembers(result)).toBe(`{"content":["second ${LONG}"]}`);
});

test("a member that somebody replaced is written as it is now", () => {
  const result = resultOf(`{"jsonrpc":"2.0","id":1,"result":{"content":["${LONG}"]}}`);
  expect(stringifyMembers({ ...result, content: [] })).toBe('{"content":[]}');
});

test("a small result is written like any value, and what is undefined is left out", () => {
  const result = resultOf('{"jsonrpc":"2.0","id":1,"result":{"content":[ 1.0 ]}}');
  expect(stringifyMembers({ ...result, gone: undefined })).toBe('{"content":[1]}');
});
