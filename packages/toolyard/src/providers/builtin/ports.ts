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
   * Returns the listed name of the tool that a spelling means for the caller of `parent`; `undefined` if it means none
   * or several.
   */
  resolveName(name: string, parent: Call): string | undefined;
  /**
   * Returns one line for each server that is not ready and that the caller may use, such as `installing: memory, 12 s`
   * or `down: jira: no such package, 40 s`.
   */
  unreadyServers(parent: Call): readonly string[];
  /** Returns the status of the hub. A caller with narrowed rights gets only what it may see. */
  status(parent: Call): HubStatus;
  /**
   * Returns the answer of `mcp/discover` for the caller of `parent`: `{mcp_version, server_description, tools,
   * resources}`.
   */
  capabilities(parent: Call): Promise<JsonObject>;
  /**
   * Returns a loaded module by its dotted name, such as `src.export.mcp`, with the tools that the caller may use;
   * `undefined` if it may use none.
   */
  module(name: string, parent: Call): ModuleFacts | undefined;
  /** Runs code. Absent if this hub does not run code. */
  readonly code?: CodeRunner;
  /**
   * Returns the last lines of the log, oldest first and redacted. A caller with narrowed rights gets only lines about
   * its own calls.
   */
  logLines(count: number, parent: Call): readonly string[];
}

/** Functions of a hub that runs code. */
export type CodePorts = BuiltinPorts & { readonly code: CodeRunner };

/** Supplies the sandbox for code. */
export interface CodeRunner {
  /** Returns the sandbox as currently configured. */
  sandbox(): Pick<Sandbox, "options" | "run">;
}

/** The facts of the running hub that a caller may know (G71, G75). */
export interface HubStatus {
  readonly serverName: string;
  readonly serverVersion: string;
  /** Start time in milliseconds since 1970. */
  readonly startedAt: number;
  /** Dotted names of the loaded modules. */
  readonly modules: readonly string[];
  readonly tools: number;
  readonly resources: number;
  /** Names of the open endpoints: `stdio`, `http`. */
  readonly transports: readonly string[];
  /** How callers authenticate: `none`, `bearer`, … */
  readonly authentication: string;
  /** Encryption of the traffic, such as `none` or `tls`. */
  readonly encryption: string;
}

export interface ModuleFacts {
  readonly name: string;
  /** Path relative to the configured folder, so that no path of the machine is revealed. */
  readonly path: string;
  readonly tools: readonly string[];
}
