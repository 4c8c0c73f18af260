import { expect, test } from "vitest";
import { Late } from "./late.ts";

test("loads the object once for all callers, and has it in `made` afterwards", async () => {
  let loads = 0;
  const late = new Late(async () => ({ number: ++loads }));
  expect([late.made, loads]).toEqual([undefined, 0]);
  const [one, other] = await Promise.all([late.get(), late.get()]);
  expect([one, other, late.made, loads]).toEqual([one, one, one, 1]);
});

test("loads again after a failure", async () => {
  let loads = 0;
  const late = new Late(async () => {
    loads += 1;
    if (loads === 1) throw new Error("gone");
    return { loads };
  });
  await expect(late.get()).rejects.toThrow("gone");
  expect(late.made).toBeUndefined();
  expect(await late.get()).toEqual({ loads: 2 });
});

test("`whenMade` calls back immediately if the object is loaded, or when the running load ends", async () => {
  const seen: string[] = [];
  const unused = new Late(async () => ({}));
  unused.whenMade(() => seen.push("unused"));
  const late = new Late(async () => ({}));
  const loading = late.get();
  late.whenMade(() => seen.push("later"));
  expect(seen).toEqual([]);
  await loading;
  late.whenMade(() => seen.push("immediately"));
  expect(seen).toEqual(["later", "immediately"]);
});

test("`whenMade` does not call back if the load fails", async () => {
  const late = new Late(() => Promise.reject(new Error("gone")));
  const loading = late.get();
  late.whenMade(() => expect.unreachable());
  await expect(loading).rejects.toThrow("gone");
});
