import { createHash } from "node:crypto";
import { readLeb, toLeb } from "./leb.ts";

/** Names of the exports that a snapshot needs. */
export const RESUME = "toolyard_run_string";
export const STACK = "toolyard_stack";

/**
 * Position and digest of `PyRun_SimpleStringFlags(text, flags)` in the build of this package, which does not export it.
 * Other builds run without snapshots.
 */
const RUN_STRING = { functionIndex: 4056, codeIndex: 4013, bodyBytes: 224, digest: "26ae2c3ae7940556" } as const;
const FUNCTION = 0;
const GLOBAL = 3;

/** Returns whether the function is in this code section. */
export function hasRunString(code: Uint8Array): boolean {
  let at = readLeb(code, 0).next;
  for (let index = 0; at < code.length; index += 1) {
    const body = readLeb(code, at);
    if (index === RUN_STRING.codeIndex) {
      const bytes = code.subarray(body.next, body.next + body.value);
      return (
        bytes.length === RUN_STRING.bodyBytes &&
        createHash("sha256").update(bytes).digest("hex").startsWith(RUN_STRING.digest)
      );
    }
    at = body.next + body.value;
  }
  return false;
}

/**
 * Returns the content of an export section with this function and the stack pointer (the module's only global) added.
 */
export function withResumeExports(content: Uint8Array): Uint8Array {
  const count = readLeb(content, 0);
  const more = [...toExport(RESUME, FUNCTION, RUN_STRING.functionIndex), ...toExport(STACK, GLOBAL, 0)];
  return Uint8Array.from([...toLeb(count.value + 2), ...content.subarray(count.next), ...more]);
}

function toExport(name: string, kind: number, index: number): number[] {
  return [...toLeb(name.length), ...Buffer.from(name), kind, ...toLeb(index)];
}
