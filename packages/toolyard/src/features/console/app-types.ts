// The part of the contract of `/api/admin` about MCP Apps: pages of servers that show the result of a tool. The page
// imports this file, so it imports nothing itself.

/** `POST apps` with `{tool}`: the page of a tool. */
export interface OpenedApp {
  /** Address of the page below `/console/`. It can be used once, within a minute. */
  readonly path: string;
  /** Id of the source of the tool. The app may call tools of this source only. */
  readonly source: string;
  /** Hosts that the page may use, as its metadata declares them. */
  readonly csp: AppDomains;
  readonly prefersBorder: boolean;
}

/** Origins in the metadata of a page. Entries that are not origins, or that the page must not use, are omitted. */
export interface AppDomains {
  readonly connectDomains: readonly string[];
  readonly resourceDomains: readonly string[];
  readonly frameDomains: readonly string[];
  readonly baseUriDomains: readonly string[];
}
