export interface ProviderKindFacts {
  /** All of a source's records depend on one server, so that failures of one call apply to the others. */
  readonly oneServer: boolean;
  /**
   * Its definitions were written by the operator or by the hub itself: only its hints go into the agent's prompt, and
   * it is read before anything is connected to.
   */
  readonly isLocal: boolean;
  /** It is the hub itself: its tools have the reserved names, and its calls may reach any source. @default false */
  readonly isHub?: boolean;
  /** A dot in a tool's name separates the name of a module, which is shown unchanged. @default false */
  readonly hasDottedNames?: boolean;
}

/**
 * Differences between kinds of providers, as data: code reads the fact, never the kind. A name that several sources
 * offer belongs to the kind that is first here.
 */
export const PROVIDER_KINDS = {
  builtin: { oneServer: false, isLocal: true, isHub: true },
  modules: { oneServer: false, isLocal: true, hasDottedNames: true },
  scripts: { oneServer: false, isLocal: true },
  folders: { oneServer: false, isLocal: true },
  stdio: { oneServer: true, isLocal: false },
  http: { oneServer: true, isLocal: false },
  defaults: { oneServer: false, isLocal: true },
} as const satisfies Readonly<Record<string, ProviderKindFacts>>;

export type ProviderKind = keyof typeof PROVIDER_KINDS;

/** Returns the facts of one kind. */
export function factsOf(kind: ProviderKind): ProviderKindFacts {
  return PROVIDER_KINDS[kind];
}

/** Returns whether a source is the hub itself. */
export function isHubItself({ kind }: { readonly kind: ProviderKind }): boolean {
  return factsOf(kind).isHub === true;
}
