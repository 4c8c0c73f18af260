/** For `JSON.stringify`: half of a sign, which a broken PDF may have, becomes an unreadable one, of the same length. */
export function wholeSigns(_name: string, value: unknown): unknown {
  return typeof value === "string" ? value.replaceAll(/\p{Surrogate}/gu, "\uFFFD") : value;
}
