import { Refusal } from "../answer/refusal.ts";

/**
 * Maximum number of header fields of one request. A request with more is refused, because Node's server would drop the
 * further fields, which may include `X-Forwarded-*`.
 */
const MAX_FIELDS = 2000;

/** Number of fields that Node's server must keep, so that `findHeadFault` detects too many fields. */
export const KEPT_FIELDS = MAX_FIELDS + 1;

/**
 * Returns the refusal of a request with too many header fields (431), or with several `Host` fields (400; RFC 9112,
 * section 3.2). `fields` contains names and values, alternating.
 */
export function findHeadFault(fields: readonly string[]): Refusal | undefined {
  if (fields.length / 2 > MAX_FIELDS) return tooManyFields();
  let hosts = 0;
  for (let at = 0; at < fields.length; at += 2) if (fields[at]!.length === 4 && /^host$/i.test(fields[at]!)) hosts += 1;
  return hosts > 1 ? new Refusal(400, `The request has ${hosts} Host headers. Send one.`, CLOSE) : undefined;
}

/**
 * Checks the header fields of a request that the embedding program's server has parsed. That server kept at most
 * `keptFields`.
 */
export function findGivenHeadFault(fields: readonly string[], keptFields: number): Refusal | undefined {
  const mayHaveLost = keptFields > 0 && fields.length / 2 >= keptFields;
  return mayHaveLost ? tooManyFields() : findHeadFault(fields);
}

function tooManyFields(): Refusal {
  return new Refusal(431, `Request Header Fields Too Large: at most ${MAX_FIELDS} header fields are accepted.`, CLOSE);
}

const CLOSE = { connection: "close" };
