import { isJsonObject } from "../../core/json/json.ts";

export type JsonNumber = number | bigint;

/** Returns whether two JSON values are equal. Numbers are compared by value, whatever their type. */
export function sameJson(one: unknown, other: unknown): boolean {
  if (isNumber(one) && isNumber(other)) return !(one < other || one > other);
  if (Array.isArray(one))
    return Array.isArray(other) && one.length === other.length && one.every((item, at) => sameJson(item, other[at]));
  if (!isJsonObject(one)) return one === other;
  if (!isJsonObject(other)) return false;
  const names = Object.keys(one);
  return (
    names.length === Object.keys(other).length &&
    names.every((name) => Object.hasOwn(other, name) && sameJson(one[name], other[name]))
  );
}

/** Returns whether `value` is a whole multiple of `step`, which may have decimals. */
export function isMultiple(value: JsonNumber, step: JsonNumber): boolean {
  const [a, b] = [toDecimal(value), toDecimal(step)];
  if (!a || !b || b.digits === 0n) return false;
  const exponent = Math.min(a.exponent, b.exponent);
  const scaled = ({ digits, exponent: own }: Decimal): bigint => digits * 10n ** BigInt(own - exponent);
  return scaled(a) % scaled(b) === 0n;
}

/** `digits` × 10^`exponent`. */
interface Decimal {
  readonly digits: bigint;
  readonly exponent: number;
}

function toDecimal(value: JsonNumber): Decimal | undefined {
  const [, sign = "", whole = "", fraction = "", exponent = "0"] =
    /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/.exec(String(value)) ?? [];
  if (whole === "") return undefined;
  return { digits: BigInt(`${sign}${whole}${fraction}`), exponent: Number(exponent) - fraction.length };
}

function isNumber(value: unknown): value is JsonNumber {
  return typeof value === "number" || typeof value === "bigint";
}
