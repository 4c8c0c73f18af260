export interface ProviderKindFacts {
  /** All of a source's records stand and fall with one server, so that failures of one call speak for the others. */
  readonly oneServer: boolean;
  /**
   * What it says was written by whoever set the hub up, or by the hub itself: only its hints go into the agent's
   * prompt, and it is looked at before anything is connected to.
   */
  readonly isLocal: boolean;
  /** It is the hub itself: its tools have the reserved names, and what they call may be anywhere. @default false */
  readonly isHub?: boolean;
  /** A dot in a tool's name separates the name of a module, which is shown as it is. @default false */
  readonly hasDottedNames?: boolean;
}

/**
 * What differs between kinds of providers, as data: code asks for the fact, never for the kind. A name that several
 * sources offer belongs to the kind that stands first here.
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

/** The facts of one kind. */
export function factsOf(kind: ProviderKind): ProviderKindFacts {
  return PROVIDER_KINDS[kind];
}

/** Whether a source is the hub itself. */
export function isHubItself({ kind }: { readonly kind: ProviderKind }): boolean {
  return factsOf(kind).isHub === true;
}
