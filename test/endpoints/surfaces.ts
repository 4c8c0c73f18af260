import { hubBinding, remoteBinding } from "./drivers/binding.ts";
import { cliHere, cliThere } from "./drivers/cli.ts";
import { client } from "./drivers/client.ts";
import { core } from "./drivers/core.ts";
import { jsonRpcHttp, jsonRpcStdio } from "./drivers/json-rpc.ts";
import { library } from "./drivers/library.ts";
import { manager } from "./drivers/manager.ts";
import { mcpHttp, mcpStdio } from "./drivers/mcp.ts";
import { rest } from "./drivers/rest.ts";
import type { OpenSurface } from "./surface.ts";

export interface SurfaceRow {
  readonly open: OpenSurface;
  /** True if each caller has a token and separate rights. @default false */
  readonly hasPrincipals?: boolean;
  /** True if two concurrent calls reach one hub. @default true */
  readonly isShared?: boolean;
}

/** Every way to call a tool. To add one, add a line here and a driver. */
export const SURFACES: Readonly<Record<string, SurfaceRow>> = {
  "MCP on stdio, legacy": { open: mcpStdio("legacy") },
  "MCP on stdio, modern": { open: mcpStdio("modern") },
  "MCP on HTTP, legacy": { open: mcpHttp("legacy"), hasPrincipals: true },
  "MCP on HTTP, modern": { open: mcpHttp("modern"), hasPrincipals: true },
  "JSON-RPC on stdio": { open: jsonRpcStdio },
  "JSON-RPC at /": { open: jsonRpcHttp("/"), hasPrincipals: true },
  "JSON-RPC at /jsonrpc": { open: jsonRpcHttp("/jsonrpc"), hasPrincipals: true },
  REST: { open: rest, hasPrincipals: true },
  "command line": { open: cliHere, isShared: false },
  "command line with --url": { open: cliThere, hasPrincipals: true },
  library: { open: library },
  "core server": { open: core },
  "binding of the hub": { open: hubBinding },
  "binding of a remote hub": { open: remoteBinding, hasPrincipals: true },
  client: { open: client, hasPrincipals: true },
  manager: { open: manager },
};
