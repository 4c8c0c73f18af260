/** Where the tools are that check from outside. */
export function ensureTools(): {
  readonly node: string;
  readonly conformance: string;
  readonly inspector: string;
  readonly bin: string;
};
