import type { ProviderKind } from "./records.ts";

export interface KindFacts {
  /** All of a source's records stand and fall with one server, so that failures of one call speak for the others. */
  readonly oneServer: boolean;
}

/** What differs between kinds of providers, as data: code asks for the fact, never for the kind. */
export const PROVIDER_KINDS: Readonly<Record<ProviderKind, KindFacts>> = {
  builtin: { oneServer: false },
  modules: { oneServer: false },
  scripts: { oneServer: false },
  folders: { oneServer: false },
  stdio: { oneServer: true },
  http: { oneServer: true },
  defaults: { oneServer: false },
};
