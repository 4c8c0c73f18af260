import { expect, test } from "vitest";
import { supportBufferTransfer } from "./buffer-transfer.ts";

type Transfer = (this: ArrayBuffer, length?: number) => ArrayBuffer;

const added = {} as Record<"transfer" | "transferToFixedLength", Transfer>;
supportBufferTransfer(added);

test.each([
  ["transfer", undefined, [1, 2, 3]],
  ["transferToFixedLength", undefined, [1, 2, 3]],
  ["transferToFixedLength", 2, [1, 2]],
  ["transferToFixedLength", 5, [1, 2, 3, 0, 0]],
  ["transfer", 0, []],
] as const)("%s moves the bytes to a buffer of length %j and detaches the old one", (name, length, expected) => {
  const buffer = Uint8Array.of(1, 2, 3).buffer;
  const other = added[name].call(buffer, length);
  expect(Array.from(new Uint8Array(other))).toEqual(expected);
  expect(buffer.byteLength).toBe(0);
});

test("keeps `transfer` methods that the runtime already has", () => {
  const transfer: Transfer = (length = 7) => new ArrayBuffer(length);
  const prototype = { transfer };
  supportBufferTransfer(prototype);
  expect(prototype.transfer).toBe(transfer);
});
