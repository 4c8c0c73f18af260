import { expect, test } from "vitest";
import { stringifyExact } from "../../core/json/exact-json.ts";
import { fitToSchema, readArguments } from "./arguments.ts";
import type { Io } from "../output/io.ts";

const LONG = "9007199254740993";
const SCHEMA = { properties: { id: { type: "integer" }, name: { type: "string" }, ids: { type: "array" } } };

test.each([
  [[`id=${LONG}`, `name=${LONG}`], `{"id":${LONG},"name":"${LONG}"}`],
  [[`id=-${LONG}`, `ids=[${LONG},1]`], `{"id":-${LONG},"ids":[${LONG},1]}`],
  [[`id:=${LONG}`, `any:={"id":${LONG}}`], `{"id":${LONG},"any":{"id":${LONG}}}`],
  [[`{"id":${LONG}}`], `{"id":${LONG}}`],
  [["-"], `{"id":18446744073709551615}`],
])("reads the arguments %j with exact integers", async (words, json) => {
  const io = { readStdin: () => Promise.resolve('{"id":18446744073709551615}') } as unknown as Io;
  expect(stringifyExact(fitToSchema(await readArguments(words, io), SCHEMA))).toBe(json);
});

test("rejects an integer of more than 4300 digits", async () => {
  await expect(readArguments([`{"id":1${"0".repeat(4300)}}`], {} as Io)).rejects.toThrow("4300 digits");
});
