/** Features of one legacy revision. Code checks the feature, never the date. */
export interface LegacyRevision {
  /** The date that `initialize` and the `MCP-Protocol-Version` header say. */
  readonly date: string;
  /** Several JSON-RPC messages in one array over HTTP. */
  readonly batches: boolean;
  /** Tools may say `outputSchema`, results `structuredContent`. */
  readonly structuredContent: boolean;
  /** The server may ask its caller for input by form. */
  readonly elicitation: boolean;
  /** The server may send its caller to a URL. */
  readonly urlElicitation: boolean;
  /** Arguments that do not fit the schema are a result with `isError`, so that a model can mend them. */
  readonly argumentErrorsAreResults: boolean;
  /**
   * A stream may open with an event that has an id, a `retry` and no data: clients come back for the rest (SSE
   * polling).
   */
  readonly primingEvents: boolean;
}

/** Newest first. 2024-10-07 is a draft that some clients still name; it behaves like 2024-11-05. */
export const LEGACY_REVISIONS: readonly LegacyRevision[] = Object.freeze([
  revision("2025-11-25", {
    structuredContent: true,
    elicitation: true,
    urlElicitation: true,
    argumentErrorsAreResults: true,
    primingEvents: true,
  }),
  revision("2025-06-18", { structuredContent: true, elicitation: true }),
  revision("2025-03-26", { batches: true }),
  revision("2024-11-05", { batches: true }),
  revision("2024-10-07", { batches: true }),
]);

export const LATEST_LEGACY_REVISION: LegacyRevision = LEGACY_REVISIONS[0]!;

/** Revision assumed for HTTP clients that send no version. */
export const ASSUMED_LEGACY_REVISION: LegacyRevision = LEGACY_REVISIONS[2]!;

export function legacyRevision(date: string): LegacyRevision | undefined {
  return BY_DATE.get(date);
}

const BY_DATE: ReadonlyMap<string, LegacyRevision> = new Map(LEGACY_REVISIONS.map((known) => [known.date, known]));

/** Returns the revision for the answer to `initialize`: the requested one if it is supported, else the latest. */
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
  };
  return Object.freeze({ date, ...none, ...abilities });
}
