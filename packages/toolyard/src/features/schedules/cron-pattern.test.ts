import { Cron } from "croner";
import fc from "fast-check";
import { expect, test } from "vitest";
import { assertCronPattern } from "./cron-pattern.ts";

test.each([
  "* * * * *",
  "0 3 * * *",
  "*/5 8-18 * * MON-FRI",
  "0,30 0 1,15 jan-mar *",
  "10-50/10 * * * 7",
  "30 0 3 * * *",
  "@daily",
])("the pattern %s is accepted, and the library computes its times", (pattern) => {
  assertCronPattern(pattern, "cron");
  expect(new Cron(pattern).nextRun()).toBeInstanceOf(Date);
});

test.each([
  ["", "5 fields"],
  ["* * * *", "5 fields"],
  ["* * * * * * *", "5 fields"],
  ["@often", "5 fields"],
  ["60 * * * *", "invalid minute"],
  ["* 24 * * *", "invalid hour"],
  ["* * 0 * *", "invalid day of the month"],
  ["* * * 13 *", "invalid month"],
  ["* * * * 8", "invalid day of the week"],
  ["* * * * MO", "invalid day of the week"],
  ["5-1 * * * *", "invalid minute"],
  ["*/0 * * * *", "invalid minute"],
  ["*/90 * * * *", "invalid minute"],
  ["0 */30 * * *", "invalid hour"],
  ["0 0 */32 * *", "invalid day of the month"],
  ["0 0 * */13 *", "invalid month"],
  ["0 0 * * */8", "invalid day of the week"],
  ["1/2/3 * * * *", "invalid minute"],
  ["1,,2 * * * *", "invalid minute"],
  ["61 0 0 * * *", "invalid second"],
  [`${"1,".repeat(200)}2 * * * *`, "5 fields"],
])("the pattern %j is refused, and the message names the %s", (pattern, reason) => {
  expect(() => assertCronPattern(pattern, "`schedules.x.cron`")).toThrow(reason);
});

const number = (min: number, max: number): fc.Arbitrary<string> => fc.integer({ min, max }).map(String);
/** Parts of a field, valid and invalid. */
const part = (max: number): fc.Arbitrary<string> =>
  fc
    .tuple(
      fc.oneof(
        fc.constant("*"),
        number(0, max),
        fc.tuple(number(0, max), number(0, max)).map((ends) => ends.join("-")),
      ),
      fc.option(number(0, max + 2)),
    )
    .map(([range, step]) => (step === null ? range : `${range}/${step}`));

test("the library accepts every pattern that the check accepts", () => {
  const fields = [61, 25, 33, 14, 9].map((max) => part(max));
  fc.assert(
    fc.property(fc.tuple(...fields), (values) => {
      const pattern = values.join(" ");
      try {
        assertCronPattern(pattern, "cron");
      } catch {
        return;
      }
      expect(() => new Cron(pattern), pattern).not.toThrow();
    }),
    { numRuns: 2000, seed: 20261127 },
  );
});
