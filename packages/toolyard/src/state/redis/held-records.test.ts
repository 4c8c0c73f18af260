import { expect, test } from "vitest";
import { HeldKeys } from "./held-records.ts";

/**
 * Creates keys on a fake connection that records the commands of scripts, and can be lost while the store keeps its
 * data.
 */
function createKeys() {
  const ran: string[] = [];
  const connection = {
    isLost: false,
    run: (script: { readonly text?: string } & object, key: string) => {
      ran.push(`${JSON.stringify(script).includes("'DEL'") ? "remove" : "other"} ${key}`);
      return Promise.resolve(1);
    },
    write: (written: Promise<unknown>) => written,
  };
  const keys = new HeldKeys({ hub: "here", prefix: "p:", connection, leases: {} } as never);
  return { keys, connection, ran };
}

test("when the store is back, removes the values that the hub removed while the store was lost", async () => {
  const { keys, connection, ran } = createKeys();
  await keys.put("a", 1);
  await keys.put("b", 2);
  connection.isLost = true;
  keys.remove("a");
  ran.length = 0;
  connection.isLost = false;
  keys.restore();
  expect(ran).toEqual(["remove p:{a}", "other p:{b}"]);
  ran.length = 0;
  keys.restore();
  expect(ran).toEqual(["other p:{b}"]);
});

test("does not remove a value that was stored again while the store was lost", async () => {
  const { keys, connection, ran } = createKeys();
  await keys.put("a", 1);
  connection.isLost = true;
  keys.giveUp("a");
  await keys.put("a", 2);
  ran.length = 0;
  connection.isLost = false;
  keys.restore();
  expect(ran).toEqual(["other p:{a}"]);
});
