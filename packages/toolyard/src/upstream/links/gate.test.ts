import { expect, test } from "vitest";
import { Gate } from "./gate.ts";

const never = new AbortController().signal;

test("admits at most as many concurrent starts as its width", async () => {
  const gate = new Gate({ width: 2, holdMs: 60_000 });
  let inside = 0;
  let most = 0;
  const work = async (): Promise<void> => {
    inside += 1;
    most = Math.max(most, inside);
    await Promise.resolve();
    inside -= 1;
  };
  await Promise.all(Array.from({ length: 10 }, () => gate.run(work, never)));
  expect(most).toBe(2);
});

test("admits a further start beside a slow one, and frees the place of a cancelled one", async () => {
  const gate = new Gate({ width: 1, holdMs: 20 });
  const wedged = new AbortController();
  void gate.run(() => new Promise<void>((resolve) => wedged.signal.addEventListener("abort", () => resolve())), never);
  const giveUp = new AbortController();
  const given = gate.run(async () => "in", giveUp.signal);
  giveUp.abort();
  await expect(given).rejects.toMatchObject({ failure: { kind: "cancelled" } });
  expect(await gate.run(async () => "in", never)).toBe("in");
  wedged.abort();
});
