/** Which eras an endpoint serves: the one that each client chooses, or the legacy era alone. */
export type ServedEra = "auto" | "legacy";
