import type { RawHeaders } from "../wire.ts";

/** `token` of RFC 9110, section 5.6.2. */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** Field value of RFC 9110, section 5.5. Excludes control characters and characters beyond Latin-1. */
const FIELD_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Lists of valid headers that never change, so that they are checked once. */
const checked = new WeakSet<RawHeaders>();

/**
 * Returns the name of the first header that HTTP cannot carry, or `undefined`. All answers are checked here before
 * their head is sent (`answer.ts`), so that no client misreads a head.
 */
export function findInvalidHeader(headers: RawHeaders): string | undefined {
  if (checked.has(headers)) return undefined;
  for (let at = 0; at < headers.length; at += 2)
    if (!TOKEN.test(headers[at]!) || !FIELD_VALUE.test(headers[at + 1]!)) return headers[at];
  if (Object.isFrozen(headers)) checked.add(headers);
  return undefined;
}

/** Maximum length of a media type, above that of every registered type. */
const MAX_MEDIA_TYPE_CHARS = 256;
const MEDIA_TYPE =
  /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+(?:[ \t]*;[ \t]*[\w!#$&^.+-]+=(?:"[\t\x20\x21\x23-\x5b\x5d-\x7e]*"|[\w!#$&^.+-]+))*$/;

/** Returns a media type of an upstream server if it is valid for `Content-Type`: ASCII, well-formed and short. */
export function findMediaType(value: unknown): string | undefined {
  const isFit = typeof value === "string" && value.length <= MAX_MEDIA_TYPE_CHARS && MEDIA_TYPE.test(value);
  return isFit ? value : undefined;
}
