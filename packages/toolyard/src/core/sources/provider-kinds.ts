export interface ProviderKindFacts {
  /**
   * True if all tools of a source depend on one server. A failed call then affects the circuit breaker of all of them.
   */
  readonly oneServer: boolean;
  /**
   * True if the operator or the hub wrote the definitions. Only such sources may add hints to the agent's prompt, and
   * their lists are read before any connection is opened.
   */
  readonly isLocal: boolean;
  /** True for the hub itself: its tools have the reserved names, and its calls may reach any source. @default false */
  readonly isHub?: boolean;
  /** True if each call runs code in a child process. @default false */
  readonly runsProgram?: boolean;
  /** True if a dot in a tool's name separates the name of a module, which is shown unchanged. @default false */
  readonly hasDottedNames?: boolean;
}

/**
 * Differences between kinds of providers, as data: code reads these facts and never tests the kind. If several sources
 * offer a name, it belongs to the kind that is first here.
 */
export const PROVIDER_KINDS = {
  builtin: { oneServer: false, isLocal: true, isHub: true },
  modules: { oneServer: false, isLocal: true, hasDottedNames: true },
  scripts: { oneServer: false, isLocal: true, runsProgram: true },
  folders: { oneServer: false, isLocal: true, runsProgram: true },
  stdio: { oneServer: true, isLocal: false },
  http: { oneServer: true, isLocal: false },
  defaults: { oneServer: false, isLocal: true },
} as const satisfies Readonly<Record<string, ProviderKindFacts>>;

export type ProviderKind = keyof typeof PROVIDER_KINDS;

/** Returns the facts about one kind. */
export function factsOf(kind: ProviderKind): ProviderKindFacts {
  return PROVIDER_KINDS[kind];
}

/** Returns true if a source is the hub itself. */
export function isHubItself({ kind }: { readonly kind: ProviderKind }): boolean {
  return factsOf(kind).isHub === true;
}
