import fc from "fast-check";
import { expect, test } from "vitest";
import { ProofHistory } from "./proof-history.ts";

const WINDOW_MS = 300_000;

function historyAt(limits: { maxProofs?: number; maxKeys?: number } = {}) {
  const clock = { now: 1_000_000_000 };
  return { clock, history: new ProofHistory({ windowMs: WINDOW_MS, ...limits }, () => clock.now) };
}

test("accepts a proof once, and the same id with another key", () => {
  const { clock, history } = historyAt();
  expect(history.claim("a", "1", clock.now)).toBe("first");
  expect(history.claim("a", "1", clock.now)).toBe("used");
  expect(history.claim("b", "1", clock.now)).toBe("first");
  expect(history.claim("a", "2", clock.now)).toBe("first");
});

test("forgets proofs and keys after the time in which they could be used", () => {
  const { clock, history } = historyAt();
  for (let count = 0; count < 50; count += 1) history.claim("a", String(count), clock.now);
  history.claim("gone", "1", clock.now + WINDOW_MS);
  clock.now += WINDOW_MS + 1;
  expect(history.claim("a", "new", clock.now)).toBe("first");
  expect(history.size).toBe(2);
  expect(history.claim("gone", "1", clock.now - 1)).toBe("used");
  clock.now += WINDOW_MS;
  history.claim("b", "1", clock.now);
  expect(history.size).toBe(2);
});

test("when the memory is full, refuses proofs as old as a dropped one, and accepts later proofs", () => {
  const { clock, history } = historyAt({ maxProofs: 3 });
  for (const at of [1, 2, 3, 4]) expect(history.claim("a", String(at), clock.now + at)).toBe("first");
  expect(history.size).toBe(3);
  expect(history.claim("a", "1", clock.now + 1)).toBe("forgotten");
  expect(history.claim("a", "other", clock.now + 1)).toBe("forgotten");
  expect(history.claim("a", "2", clock.now + 2)).toBe("used");
  expect(history.claim("a", "5", clock.now + 5)).toBe("first");
});

test("a caller with many proofs does not displace the proofs of others", () => {
  const { clock, history } = historyAt({ maxProofs: 100 });
  history.claim("quiet", "1", clock.now);
  for (let count = 0; count < 1000; count += 1) history.claim("loud", String(count), clock.now + count);
  expect(history.claim("quiet", "1", clock.now)).toBe("used");
  expect(history.claim("quiet", "2", clock.now)).toBe("first");
  expect(history.size).toBe(100);
});

test("refuses further keys when the limit is reached, and accepts them after the others have expired", () => {
  const { clock, history } = historyAt({ maxKeys: 2 });
  for (const key of ["a", "b"]) expect(history.claim(key, "1", clock.now)).toBe("first");
  expect(history.claim("c", "1", clock.now)).toBe("full");
  expect(history.claim("a", "2", clock.now)).toBe("first");
  clock.now += 2 * WINDOW_MS + 1;
  expect(history.claim("c", "1", clock.now)).toBe("first");
});

test("never accepts a proof twice, and never exceeds its limit, for any order of uses", () => {
  const use = fc.record({
    key: fc.constantFrom("a", "b", "c"),
    jti: fc.integer({ min: 0, max: 30 }),
    ageMs: fc.integer({ min: -WINDOW_MS, max: WINDOW_MS }),
    pauseMs: fc.constantFrom(0, 0, 1, 1000, WINDOW_MS / 2),
  });
  fc.assert(
    fc.property(fc.array(use, { maxLength: 200 }), fc.integer({ min: 1, max: 12 }), (uses, maxProofs) => {
      const { clock, history } = historyAt({ maxProofs });
      const accepted = new Set<string>();
      for (const { key, jti, ageMs, pauseMs } of uses) {
        clock.now += pauseMs;
        // The time of issue is part of the id, because two proofs with one `jti` and different times are two proofs.
        const issuedMs = clock.now - ageMs;
        const id = `${key} ${jti} ${issuedMs}`;
        const claim = history.claim(key, `${jti} ${issuedMs}`, issuedMs);
        expect(claim === "first" && accepted.has(id)).toBe(false);
        if (claim === "first") accepted.add(id);
        expect(history.size).toBeLessThanOrEqual(maxProofs);
      }
    }),
    { seed: 9449 },
  );
});
