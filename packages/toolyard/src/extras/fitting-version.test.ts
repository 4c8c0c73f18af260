import * as fc from "fast-check";
import { expect, test } from "vitest";
import { isFittingVersion } from "./fitting-version.ts";

test.each([
  ["6.0.323", "6.0.323"],
  ["6.0.324", "6.0.323"],
  ["6.1.0", "6.0.323"],
  ["0.5.30", "0.5.29"],
  ["0.0.4", "0.0.4"],
  ["1.0.0-rc.1", "1.0.0-rc.1"],
])("accepts the version %s instead of %s", (found, pinned) => expect(isFittingVersion(found, pinned)).toBe(true));

test.each([
  ["6.0.322", "6.0.323"],
  ["7.0.0", "6.0.323"],
  ["5.9.9", "6.0.323"],
  ["0.6.0", "0.5.29"],
  ["0.0.5", "0.0.4"],
  ["1.5.29", "0.5.29"],
  ["6.0.323-beta.1", "6.0.323"],
  ["latest", "6.0.323"],
  ["", "6.0.323"],
])("refuses the version %s instead of %s", (found, pinned) => expect(isFittingVersion(found, pinned)).toBe(false));

test("accepts no older version, and no other major version", () => {
  const part = fc.nat({ max: 3 });
  const version = fc.tuple(part, part, part);
  fc.assert(
    fc.property(version, version, (found, pinned) => {
      const differing = found.findIndex((own, at) => own !== pinned[at]);
      const isOlder = differing >= 0 && found[differing]! < pinned[differing]!;
      const isWrong = isOlder || found[0] !== pinned[0];
      expect(isWrong && isFittingVersion(found.join("."), pinned.join("."))).toBe(false);
    }),
  );
});
