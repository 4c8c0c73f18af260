import type { ToolMode, ToolNameStyle } from "../../core/calls/call.ts";
import { durationOption } from "../../core/text/duration.ts";
import { Type, type Static } from "../../core/options/option-schema.ts";
import { readOptions } from "../../core/options/option-values.ts";
import { parseToolMode } from "../tool-mode.ts";
import type { ServedEra } from "../../core/sources/served-era.ts";

/** Keys of `[server]` that the MCP endpoint adds to those of the listener. */
export const MCP_OPTION_SCHEMAS = {
  tool_mode: Type.Optional(
    Type.Enum(["normal", "discovery", "show_all", "all"], {
      description:
        "The tools that lists contain if a request has neither `X-MCP-Tool-Mode` nor `?tool_mode=`: native " +
        "tools, the two search tools, or every tool.",
      default: "normal",
    }),
  ),
  era: Type.Optional(
    Type.Enum(["auto", "legacy"], {
      description:
        "The protocol era for clients without `?era=` in their URL. `auto`: the one that the client chooses. " +
        "`legacy`: only the one with a handshake (up to 2025-11-25); a client that tries 2026-07-28 falls back " +
        "to it.",
      default: "auto",
    }),
  ),
  tool_names: Type.Optional(
    Type.Enum(["mcp", "model"], {
      description:
        "The form of tool names in lists for requests without `?tool_names=` and `X-MCP-Tool-Names`. `mcp`: as " +
        "MCP allows. `model`: for clients that pass names to a model API, which accepts no dot and at most 64 " +
        "characters. Calls accept both.",
      default: "mcp",
    }),
  ),
  page_size: Type.Optional(
    Type.Integer({ description: "Entries per page of a list; 0 sends each list completely.", default: 0, minimum: 0 }),
  ),
  max_subscriptions: Type.Optional(
    Type.Integer({
      description: "Maximum number of open `subscriptions/listen` requests, for all callers together.",
      default: 1024,
      minimum: 1,
    }),
  ),
  max_subscribed_resources: Type.Optional(
    Type.Integer({
      description: "Maximum number of resources in one `subscriptions/listen`.",
      default: 1000,
      minimum: 1,
    }),
  ),
  max_parked_calls: Type.Optional(
    Type.Integer({
      description: "Maximum number of calls that wait for their caller's input, in the modern era.",
      default: 1000,
      minimum: 1,
    }),
  ),
  input_timeout: Type.Optional(
    durationOption({
      description: "Maximum time that a call waits for its caller's input, in the modern era.",
      default: "10m",
    }),
  ),
} as const;

const McpEndpointSchema = Type.Object(MCP_OPTION_SCHEMAS, { description: "The MCP endpoint." });
export type McpEndpointConfig = Static<typeof McpEndpointSchema>;

export interface McpEndpointOptions {
  readonly toolMode: ToolMode;
  readonly era: ServedEra;
  readonly toolNames: ToolNameStyle;
  /** Number of entries in one page. Absent: lists are never split. */
  readonly pageSize?: number;
  readonly modern: ModernOptions;
}

export interface ModernOptions {
  readonly maxSubscriptions: number;
  readonly maxSubscribedResources: number;
  readonly maxParkedCalls: number;
  readonly inputTimeoutMs: number;
}

export function resolveMcpEndpoint(raw: McpEndpointConfig = {}): McpEndpointOptions {
  const options = readOptions(McpEndpointSchema, raw, "server.");
  const { page_size: pageSize } = options;
  return Object.freeze({
    toolMode: parseToolMode(options.tool_mode),
    era: options.era,
    toolNames: options.tool_names,
    ...(pageSize > 0 && { pageSize }),
    modern: Object.freeze({
      maxSubscriptions: options.max_subscriptions,
      maxSubscribedResources: options.max_subscribed_resources,
      maxParkedCalls: options.max_parked_calls,
      inputTimeoutMs: options.input_timeout,
    }),
  });
}
