import { expect, test } from "vitest";
import { CodeSignIn } from "./code-sign-in.ts";

test("loads the sign-in flows again after a failure, and only once after a success", async () => {
  let loads = 0;
  const signIn = new CodeSignIn({
    access: {
      loadCodeFlows: async () => {
        loads += 1;
        if (loads < 3) throw new Error("no such file");
        return [];
      },
    },
    client: { scopes: [], namesResource: false },
  });
  await expect(signIn.flows()).rejects.toThrow("no such file");
  await expect(signIn.flows()).rejects.toThrow("no such file");
  await Promise.all([signIn.flows(), signIn.flows()]);
  expect(await signIn.flows()).toEqual([]);
  expect(loads).toBe(3);
});
