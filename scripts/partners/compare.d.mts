export interface KnownDifference {
  readonly paths: readonly string[];
  readonly reason: string;
  readonly client?: readonly string[];
  readonly server?: readonly string[];
  readonly transport?: readonly string[];
  readonly era?: readonly string[];
  readonly scenario?: readonly string[];
  readonly direct?: string;
  readonly hub?: string;
}
export interface Difference {
  readonly path: string;
  readonly direct: string;
  readonly hub: string;
  readonly reason: string | undefined;
}
export interface PartnerCase {
  readonly client: string;
  readonly server: string;
  readonly transport: string;
  readonly era: string;
  readonly scenario: string;
}
export declare const KNOWN: readonly KnownDifference[];
export declare function differencesOf(entry: PartnerCase, direct: object, hub: object): readonly Difference[];
