import type { HubAuthConfig } from "../../auth/options.ts";

/** Sections of the configuration that decide how callers authenticate. */
export interface AuthReads {
  readonly auth?: HubAuthConfig;
  /** Maps each scope to the tools that need it. */
  readonly scopes?: object;
  /** Store that several hubs share. */
  readonly store?: object;
  readonly server?: { readonly token?: string; readonly tokens?: object };
}
