import type { Call } from "../../core/calls/call.ts";
import type { InnerHub } from "../../core/calls/inner-hub.ts";
import type { JsonObject } from "../../core/json/json.ts";
import { serviceKey } from "../../core/service-key.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";

export const BUILTIN_PORTS = serviceKey<BuiltinPorts>()("builtin");

/** The hub's functions for its own tools. */
export interface BuiltinPorts {
  readonly innerHub: InnerHub;
  /**
   * Returns the rendered name of the tool that a spelling means to this call's caller; `undefined` if it means none, or
   * several.
   */
  resolveName(name: string, parent: Call): string | undefined;
  /**
   * Returns a line for each server that is not ready and that the caller may use, such as `installing: memory, 12 s` or
   * `down: jira: no such package, 40 s`.
   */
  unreadyServers(parent: Call): readonly string[];
  /** Returns the status; for a caller with narrowed rights, only what it may see. */
  status(parent: Call): HubStatus;
  /**
   * Returns the answer of `mcp/discover` for this call's caller: `{mcp_version, server_description, tools, resources}`.
   */
  capabilities(parent: Call): Promise<JsonObject>;
  /**
   * Returns a loaded module by its dotted name, such as `src.export.mcp`, with the tools that the caller may use;
   * `undefined` if it may use none.
   */
  module(name: string, parent: Call): ModuleFacts | undefined;
  /** Absent: this hub runs no code. */
  readonly code?: CodeRunner;
  /**
   * Returns the last lines of the log, oldest first, redacted; for a caller with narrowed rights those about its own
   * calls.
   */
  logLines(count: number, parent: Call): readonly string[];
}

/** The same functions in a hub that runs code. */
export type CodePorts = BuiltinPorts & { readonly code: CodeRunner };

/** The sandbox for code. */
export interface CodeRunner {
  /** Returns the sandbox as currently configured. */
  sandbox(): Pick<Sandbox, "options" | "run">;
}

/** The facts of the running hub that a caller may know (G71, G75). */
export interface HubStatus {
  readonly serverName: string;
  readonly serverVersion: string;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  /** Dotted names of the loaded modules. */
  readonly modules: readonly string[];
  readonly tools: number;
  readonly resources: number;
  /** Open endpoints: `stdio`, `http`. */
  readonly transports: readonly string[];
  /** How callers authenticate: `none`, `bearer`, … */
  readonly authentication: string;
  /** The encryption of the traffic, such as `none` or `tls`. */
  readonly encryption: string;
}

export interface ModuleFacts {
  readonly name: string;
  /** Relative to its configured folder; no path of the machine is revealed. */
  readonly path: string;
  readonly tools: readonly string[];
}
