import { expect, test } from "vitest";
import { renameFile, renameFileSync, type RenameSystem } from "./rename.ts";

/** Simulates another machine, on which renaming first fails with these codes. */
function machine(
  platform: NodeJS.Platform,
  codes: readonly string[],
): RenameSystem & { readonly attempts: () => number } {
  const waiting = [...codes];
  let attempts = 0;
  const attempt = (): void => {
    attempts += 1;
    const code = waiting.shift();
    if (code !== undefined) throw Object.assign(new Error(code), { code });
  };
  return { platform, rename: async () => attempt(), renameSync: attempt, attempts: () => attempts };
}

test.each(["EPERM", "EBUSY", "EACCES"])("retries on Windows after %s", async (code) => {
  const later = machine("win32", [code, code]);
  await renameFile("a", "b", later);
  expect(later.attempts()).toBe(3);
  const sync = machine("win32", [code]);
  renameFileSync("a", "b", sync);
  expect(sync.attempts()).toBe(2);
});

test("fails with the system's error if the file stays busy", async () => {
  const busy = machine("win32", Array<string>(20).fill("EBUSY"));
  await expect(renameFile("a", "b", busy)).rejects.toMatchObject({ code: "EBUSY" });
  expect(busy.attempts()).toBe(9);
});

test.each([
  ["win32", "ENOENT"],
  ["win32", "EEXIST"],
  ["linux", "EPERM"],
  ["darwin", "EBUSY"],
] as const)("does not retry on %s after %s", async (platform, code) => {
  const once = machine(platform, [code]);
  await expect(renameFile("a", "b", once)).rejects.toMatchObject({ code });
  expect(() => renameFileSync("a", "b", machine(platform, [code]))).toThrow(code);
  expect(once.attempts()).toBe(1);
});
