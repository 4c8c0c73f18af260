import { expect, expectTypeOf, test } from "vitest";
import { bytesOption } from "../text/bytes.ts";
import { durationOption } from "../text/duration.ts";
import { OptionError } from "../errors.ts";
import { Type } from "./option-schema.ts";
import { ABOVE_ZERO, readEntries, readGiven, readOptions } from "./option-values.ts";

const Schema = Type.Object({
  name: Type.String(),
  mode: Type.Optional(Type.Enum(["slow", "fast"], { default: "slow" })),
  places: Type.Optional(Type.Integer({ default: 4, minimum: 1, maximum: 8 })),
  least: Type.Optional(Type.Integer({ default: 0, minimum: 0 })),
  wait: Type.Optional(durationOption({ default: "5s" }, ABOVE_ZERO)),
  size: Type.Optional(bytesOption({ default: "1KiB" }, { most: 2048, must: "must be at most 2KiB" })),
  note: Type.Optional(Type.String()),
});

test("applies the default of an absent value, converted like a written value", () => {
  const values = readOptions(Schema, { name: "a" });
  expect(values).toEqual({ name: "a", mode: "slow", places: 4, least: 0, wait: 5000, size: 1024 });
  expectTypeOf(values.wait).toEqualTypeOf<number>();
  expectTypeOf(values.mode).toEqualTypeOf<"slow" | "fast">();
  expectTypeOf(values.note).toEqualTypeOf<string | undefined>();
});

test("a given value overrides the default; undefined counts as absent", () => {
  const given = { name: "a", mode: "fast", places: undefined, wait: 250, size: "2KiB" } as unknown as { name: string };
  expect(readOptions(Schema, given)).toMatchObject({ mode: "fast", places: 4, wait: 250, size: 2048 });
});

test("returns only the given values without defaults", () => {
  expect(readGiven(Schema, { name: "a", wait: "1m" })).toEqual({ name: "a", wait: 60_000 });
});

test.each([
  [{ places: 9 }, "`part.places` must be a whole number from 1 to 8, got 9."],
  [{ places: 1.5 }, "`part.places` must be a whole number from 1 to 8, got 1.5."],
  [{ least: -1 }, "`part.least` must be a whole number of at least 0, got -1."],
  [{ mode: "idle" }, '`part.mode` must be one of slow, fast, got "idle".'],
  [{ wait: "0s" }, '`part.wait` must be above 0, got "0s".'],
  [{ wait: "soon" }, "`part.wait` must be a number of milliseconds"],
  [{ size: "3KiB" }, '`part.size` must be at most 2KiB, got "3KiB".'],
])("refuses %j with an error that names the option and its limits", (given, message) => {
  const read = (): unknown => readOptions(Schema, { name: "a", ...(given as object) }, "part.");
  expect(read).toThrow(OptionError);
  expect(read).toThrow(message);
});

test("reads each entry of a table with arbitrary keys", () => {
  const wait = durationOption({}, ABOVE_ZERO);
  expect(readEntries(wait, { a: "1s", b: 5 }, "waits.")).toEqual({ a: 1000, b: 5 });
  expect(() => readEntries(wait, { a: "0s" }, "waits.")).toThrow("`waits.a` must be above 0");
});
