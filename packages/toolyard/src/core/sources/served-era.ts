/** The eras that an endpoint serves: the one that each client chooses, or only the legacy era. */
export type ServedEra = "auto" | "legacy";
