import type { ProtoWriter } from "./proto-writer.ts";

/** Value of an attribute. */
export type AttributeValue = string | number;

/** Writes a `KeyValue`. Whole numbers are integers, other numbers are doubles. */
export function writeAttribute(
  writer: ProtoWriter,
  field: number,
  [name, value]: readonly [name: string, value: AttributeValue],
): void {
  const at = writer.begin(field);
  writer.text(1, name);
  writeValue(writer, 2, value);
  writer.end(at);
}

/** Writes an `AnyValue`. */
export function writeValue(writer: ProtoWriter, field: number, value: AttributeValue): void {
  const at = writer.begin(field);
  if (typeof value === "string") writer.text(1, value);
  else if (Number.isSafeInteger(value) && value >= 0) writer.integer(3, value);
  else writer.double(4, value);
  writer.end(at);
}
