import { firstChars } from "../../core/text/truncate.ts";

/** Items of an accepted request that the collector refused. */
interface Rejection {
  readonly count: number;
  readonly reason: string;
}

const NONE: Rejection = { count: 0, reason: "" };
const MAX_REASON_CHARS = 300;

/**
 * Reads the answer of a collector to an accepted request: field 1 is the partial success, with the number of refused
 * items (1) and a message (2), for all signals. Some collectors answer with JSON or text; their status alone counts.
 */
export function readRejection(answer: Uint8Array): Rejection {
  const partial = fieldsOf(answer)?.get(1);
  const fields = partial instanceof Uint8Array ? fieldsOf(partial) : undefined;
  const [count, message] = [fields?.get(1), fields?.get(2)];
  if (typeof count !== "number" || count === 0) return NONE;
  const reason = message instanceof Uint8Array ? Buffer.from(message).toString("utf8") : "";
  return { count, reason: firstChars(reason, MAX_REASON_CHARS) };
}

/** Returns the integers and the nested bytes of a message by field number, or `undefined` if it is invalid. */
function fieldsOf(bytes: Uint8Array): ReadonlyMap<number, number | Uint8Array> | undefined {
  const fields = new Map<number, number | Uint8Array>();
  for (let at = 0; at < bytes.length;) {
    const tag = readVarint(bytes, at);
    const value = tag && readVarint(bytes, tag.next);
    if (!value) return undefined;
    const wire = tag.value % 8;
    const end = wire === 2 ? value.next + value.value : value.next;
    if ((wire !== 0 && wire !== 2) || end > bytes.length) return undefined;
    fields.set(Math.floor(tag.value / 8), wire === 0 ? value.value : bytes.subarray(value.next, end));
    at = end;
  }
  return fields;
}

/** Maximum number of bytes of a varint that a number represents exactly. */
const MAX_VARINT_BYTES = 7;

function readVarint(bytes: Uint8Array, from: number): { readonly value: number; readonly next: number } | undefined {
  let value = 0;
  for (let index = 0; index < MAX_VARINT_BYTES && from + index < bytes.length; index += 1) {
    const byte = bytes[from + index]!;
    value += (byte & 127) * 128 ** index;
    if (byte < 128) return { value, next: from + index + 1 };
  }
  return undefined;
}
