import { expect, test } from "vitest";
import { ProofNonces } from "./proof-nonces.ts";

const MINUTE_MS = 60_000;
const SECRET = Buffer.alloc(32, 7);

test("accepts a nonce for two to four minutes, also if another hub with the same secret created it", () => {
  for (const offset of [0, 1, MINUTE_MS, 2 * MINUTE_MS - 1]) {
    let now = 1_000 * 2 * MINUTE_MS + offset;
    const [one, other] = [
      new ProofNonces(
        () => SECRET,
        () => now,
      ),
      new ProofNonces(
        () => SECRET,
        () => now,
      ),
    ];
    const nonce = one.current();
    expect([one.isValid(nonce), other.isValid(nonce)]).toEqual([true, true]);
    now += 2 * MINUTE_MS;
    expect(one.isValid(nonce)).toBe(true);
    now += 2 * MINUTE_MS;
    expect(one.isValid(nonce)).toBe(false);
  }
});

test("refuses a nonce of another secret, a nonce from the future, and any other value", () => {
  let now = 10 * MINUTE_MS;
  const nonces = new ProofNonces(
    () => SECRET,
    () => now,
  );
  const foreign = new ProofNonces(
    () => Buffer.alloc(32, 8),
    () => now,
  ).current();
  now += 2 * MINUTE_MS;
  const later = nonces.current();
  now -= 2 * MINUTE_MS;
  for (const value of [foreign, later, undefined, null, 7, "", `${nonces.current()}x`, [nonces.current()]])
    expect(nonces.isValid(value)).toBe(false);
});
