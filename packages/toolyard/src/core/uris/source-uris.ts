/** The URIs of one source as callers see them. */
export interface SourceUris {
  /** Returns the source's own URI, with the source's prefix if the URI alone would lead to another source. */
  shown(uri: string): string;
  /** Returns the source's own URI with the source's prefix, which always leads to this source. */
  prefixed(uri: string): string;
  /** True if a list shows a URI of the source with the prefix, so that `own` may change a text. */
  readonly isListedWithPrefix: boolean;
  /** Returns the source's own URI for one that a list shows with the prefix. Any other text is returned unchanged. */
  own(text: string): string;
}
