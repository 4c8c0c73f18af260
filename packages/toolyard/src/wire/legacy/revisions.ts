/** Features of one legacy revision. Code checks the feature and never the date. */
export interface LegacyRevision {
  /** Date in `initialize` and in the header `MCP-Protocol-Version`. */
  readonly date: string;
  /** True if one HTTP body may contain several JSON-RPC messages as an array. */
  readonly batches: boolean;
  /** True if tools may have `outputSchema`, and results `structuredContent`. */
  readonly structuredContent: boolean;
  /** True if the server may request input from its caller by a form. */
  readonly elicitation: boolean;
  /** True if the server may request that the user opens a URL. */
  readonly urlElicitation: boolean;
  /** True if arguments that do not match the schema are a result with `isError`, so that a model can correct them. */
  readonly argumentErrorsAreResults: boolean;
  /**
   * True if a stream may start with an event that has an id, a `retry` and no data. Clients then reconnect for the rest
   * (SSE polling).
   */
  readonly primingEvents: boolean;
  /** True if a client may request that a call continues as a task. */
  readonly tasks: boolean;
}

/**
 * Legacy revisions, the newest first. 2024-10-07 is a draft that some clients still name; it behaves like 2024-11-05.
 */
export const LEGACY_REVISIONS: readonly LegacyRevision[] = Object.freeze([
  revision("2025-11-25", {
    structuredContent: true,
    elicitation: true,
    urlElicitation: true,
    argumentErrorsAreResults: true,
    primingEvents: true,
    tasks: true,
  }),
  revision("2025-06-18", { structuredContent: true, elicitation: true }),
  revision("2025-03-26", { batches: true }),
  revision("2024-11-05", { batches: true }),
  revision("2024-10-07", { batches: true }),
]);

export const LATEST_LEGACY_REVISION: LegacyRevision = LEGACY_REVISIONS[0]!;

/** Revision of HTTP clients that send no version. */
export const ASSUMED_LEGACY_REVISION: LegacyRevision = LEGACY_REVISIONS[2]!;

export function legacyRevision(date: string): LegacyRevision | undefined {
  return BY_DATE.get(date);
}

const BY_DATE: ReadonlyMap<string, LegacyRevision> = new Map(LEGACY_REVISIONS.map((known) => [known.date, known]));

/** Returns the revision for the answer to `initialize`: the requested one if it is supported, otherwise the latest. */
export function negotiateLegacyRevision(date: string): LegacyRevision {
  return legacyRevision(date) ?? LATEST_LEGACY_REVISION;
}

function revision(date: string, abilities: Partial<Omit<LegacyRevision, "date">>): LegacyRevision {
  const none = {
    batches: false,
    structuredContent: false,
    elicitation: false,
    urlElicitation: false,
    argumentErrorsAreResults: false,
    primingEvents: false,
    tasks: false,
  };
  return Object.freeze({ date, ...none, ...abilities });
}
