/** Where the tools are that check from outside. */
export function ensureTools(): {
  readonly node: string;
  readonly conformance: string;
  readonly inspector: string;
  readonly bin: string;
};

/** Installs a folder of this repository by its lock file unless that was done. Returns its `node_modules`. */
export function ensureInstalled(name: string): string;
