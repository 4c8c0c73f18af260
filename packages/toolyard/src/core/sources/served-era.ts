/** Eras that an endpoint serves: `auto` lets each client choose, `legacy` serves only the legacy era. */
export type ServedEra = "auto" | "legacy";
