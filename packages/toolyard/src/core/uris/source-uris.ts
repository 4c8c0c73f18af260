/** URIs of one source as callers see them. */
export interface SourceUris {
  /**
   * Returns the URI that callers see for the source's own URI. It has the source's prefix if it would otherwise lead to
   * another source.
   */
  shown(uri: string): string;
  /** Returns the source's own URI with the source's prefix. The result always leads to this source. */
  prefixed(uri: string): string;
  /** True if a list shows at least one URI of the source with the prefix. If false, `own` changes no text. */
  readonly isListedWithPrefix: boolean;
  /** Returns the source's own URI if `text` is its listed form with the prefix. Returns any other text unchanged. */
  own(text: string): string;
}
