import type { Call } from "../../core/calls/call.ts";
import type { InnerHub } from "../../core/calls/inner-hub.ts";
import type { JsonObject } from "../../core/json/json.ts";
import { serviceKey } from "../../core/service-key.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";

export const BUILTIN_PORTS = serviceKey<BuiltinPorts>()("builtin");

/** What the hub lends to its own tools. */
export interface BuiltinPorts {
  readonly innerHub: InnerHub;
  /**
   * The rendered name of the tool that a spelling means to this call's caller; nothing when it means none, or several.
   */
  resolveName(name: string, parent: Call): string | undefined;
  /** To a caller with narrowed rights: what it may see of it. */
  status(parent: Call): HubStatus;
  /** What `mcp/discover` answers to this call's caller: `{mcp_version, server_description, tools, resources}`. */
  capabilities(parent: Call): Promise<JsonObject>;
  /**
   * A loaded module by its dotted name, such as `src.export.mcp`, with the tools that the caller may use; nothing when
   * it may use none of them.
   */
  module(name: string, parent: Call): ModuleFacts | undefined;
  /** Absent: no code is run here. */
  readonly code?: CodeRunner;
  /**
   * The last lines of the log, oldest first, redacted; for a caller with narrowed rights those about its own calls.
   */
  logLines(count: number, parent: Call): readonly string[];
}

/** The same where code is run. */
export type CodePorts = BuiltinPorts & { readonly code: CodeRunner };

/** Where code is run. */
export interface CodeRunner {
  /** The sandbox as it is configured now. */
  sandbox(): Pick<Sandbox, "options" | "run">;
}

/** What a caller may know of the running hub (G71, G75). */
export interface HubStatus {
  readonly serverName: string;
  readonly serverVersion: string;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  /** Dotted names of the loaded modules. */
  readonly modules: readonly string[];
  readonly tools: number;
  readonly resources: number;
  /** Doors that are open: `stdio`, `http`. */
  readonly transports: readonly string[];
  /** How callers prove who they are: `none`, `bearer`, … */
  readonly authentication: string;
  /** What protects the traffic, such as `none` or `tls`. */
  readonly encryption: string;
}

export interface ModuleFacts {
  readonly name: string;
  /** Relative to the configured folder it was found in; no path of the machine is told. */
  readonly path: string;
  readonly tools: readonly string[];
}
