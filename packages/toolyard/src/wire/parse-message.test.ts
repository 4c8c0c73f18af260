import { expect, test } from "vitest";
import { stringifyMembers } from "../core/json/json-text.ts";
import { isJsonObject, type JsonObject } from "../core/json/json.ts";
import { parseMessage } from "./parse-message.ts";

const LONG = "x".repeat(5000);

function resultOf(text: string): JsonObject {
  const parsed = parseMessage(text, { maxJsonDepth: 100 });
  if (!parsed.ok || !isJsonObject(parsed.value) || !isJsonObject(parsed.value["result"])) throw new Error("no result");
  return parsed.value["result"];
}

test("keeps the text of large members of a result, and writes the others in compact form", () => {
  // `JSON.stringify` would write the number, the escape and the spaces in another form.
  const content = `[ {"type" : "text", "text":"\\u0061 ${LONG} \\"}]," , "n": 1.00} ]`;
  const result = resultOf(
    ` {"id": 7 , "jsonrpc":"2.0","result" :{"content": ${content}, "_meta":{"n": 1 }, "flag":true } } `,
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
  ["is behind a byte order mark", `{"content":["${LONG}"]}`, "\uFEFF"],
  ["is no ASCII", `{"content":["é ü 漢字 😀 ${LONG}"]}`],
])("a member that %s keeps its text", (_, json, mark = "") => {
  const result = resultOf(`${mark}{"jsonrpc":"2.0","id":1,"result":${json}}`);
  expect(stringifyMembers(result)).toBe(json);
  expect(JSON.parse(stringifyMembers({ ...result }))).toEqual(JSON.parse(json));
});

test.each([
  ["a name that comes twice", `{"content":["${LONG}"],"content":["second ${LONG}"]}`],
  ["a name written with escapes", `{"\\u0063ontent":["${LONG}"]}`],
  ["a line break, which would end an event", `{"content":[\n"${LONG}"\r\n]}`],
])("%s is written in its parsed form", (_, json) => {
  const result = resultOf(`{"jsonrpc":"2.0","id":1,"result":${json}}`);
  expect(stringifyMembers(result)).toBe(JSON.stringify(JSON.parse(json)));
});

test("writes only the valid one of two results in a message", () => {
  const result = resultOf(
    `{"jsonrpc":"2.0","id":1,"result":{"content":["first ${LONG}"]},"result":{"content":["second ${LONG}"]}}`,
  );
  expect(stringifyMembers(result)).toBe(`{"content":["second ${LONG}"]}`);
});

test("writes the current value of a member that was replaced", () => {
  const result = resultOf(`{"jsonrpc":"2.0","id":1,"result":{"content":["${LONG}"]}}`);
  expect(stringifyMembers({ ...result, content: [] })).toBe('{"content":[]}');
});

test("writes a small result in compact form, without undefined members", () => {
  const result = resultOf('{"jsonrpc":"2.0","id":1,"result":{"content":[ 1 , "2.50", "-0" ]}}');
  expect(stringifyMembers({ ...result, gone: undefined })).toBe('{"content":[1,"2.50","-0"]}');
});

test.each([
  "1.0",
  "1.10",
  "-1.50",
  "1e400",
  "-1E+400",
  "1e-7",
  "100e2",
  "-0",
  "-0.0",
  "0.1000000000000000055",
  "12345678901234567890.0",
  "9007199254740993",
  "-18446744073709551616",
  "123456789012345678901234567890",
])("keeps the text of the number %s in a small result", (number) => {
  for (const member of [`{"a":${number}}`, `[${number}]`, `[1, ${number} ]`, `{"a":{"b":[ [${number}]]}}`]) {
    const result = resultOf(`{"jsonrpc":"2.0","id":1,"result":{"structuredContent":${member},"content":[]}}`);
    const text = stringifyMembers({ resultType: "complete", ...result });
    expect(text.replaceAll(" ", "")).toBe(
      `{"resultType":"complete","structuredContent":${member.replaceAll(" ", "")},"content":[]}`,
    );
  }
});
