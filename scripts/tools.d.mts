/** Returns the paths of the external checking tools. */
export function ensureTools(): {
  readonly node: string;
  readonly conformance: string;
  readonly inspector: string;
  readonly bin: string;
};

/** Installs a folder of this repository from its lock file unless that was done. Returns its `node_modules`. */
export function ensureInstalled(name: string): string;
