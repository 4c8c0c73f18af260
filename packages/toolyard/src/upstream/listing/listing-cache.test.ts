import * as fc from "fast-check";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parseExact, stringifyExact } from "../../core/json/exact-json.ts";
import type { JsonObject } from "../../core/json/json.ts";
import { NO_FEATURES } from "../../core/sources/records.ts";
import { SILENT_LOGGER } from "../../core/ports/ports.ts";
import { ListingCache, type CachedServer } from "./listing-cache.ts";

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "listing-cache-"));
});

afterAll(() => rm(folder, { recursive: true, force: true }));

const cacheOf = (key: string): ListingCache => new ListingCache({ folder, key: [key], logger: SILENT_LOGGER });

function remembered(tools: readonly JsonObject[]): CachedServer {
  return {
    asks: false,
    listing: { tools, resources: [], templates: [], prompts: [], features: NO_FEATURES, problems: [] },
  };
}

/** Returns the tools that a later run loads, as JSON text. */
async function keptTools(key: string, tools: readonly JsonObject[]): Promise<string> {
  const first = cacheOf(key);
  first.save(remembered(tools));
  await first.close();
  return stringifyExact((await cacheOf(key).load())?.listing.tools);
}

test.each([
  "9007199254740993",
  "-9007199254740993",
  "18446744073709551615",
  "-9223372036854775808",
  `1${"0".repeat(60)}`,
  "9".repeat(200),
])("keeps the integer %s in a schema exactly", async (integer) => {
  const text = `[{"name":"t","inputSchema":{"type":"object","properties":{"id":{"type":"integer","maximum":${integer},"enum":[${integer}],"default":${integer}}}}}]`;
  expect(await keptTools(integer, parseExact(text) as JsonObject[])).toBe(text);
});

test("keeps every integer exactly, anywhere in a definition", async () => {
  let runs = 0;
  const integer = fc.bigInt({ min: -(2n ** 130n), max: 2n ** 130n });
  await fc.assert(
    fc.asyncProperty(fc.array(integer, { minLength: 1, maxLength: 5 }), async (integers) => {
      const text = `[{"name":"t","inputSchema":{"type":"object"},"_meta":{"at":[${integers.join(",")}]}}]`;
      expect(await keptTools(`generated ${(runs += 1)}`, parseExact(text) as JsonObject[])).toBe(text);
    }),
    { seed: 53, numRuns: 40 },
  );
});

test("ignores a listing that is not JSON", async () => {
  expect(await cacheOf("never written").load()).toBeUndefined();
});
