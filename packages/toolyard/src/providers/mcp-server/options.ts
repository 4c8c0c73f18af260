import { LEGACY_REVISIONS } from "../../wire/legacy/revisions.ts";
import { bytesOption } from "../../core/text/bytes.ts";
import { durationOption } from "../../core/text/duration.ts";
import { Type, type OptionSchema, type Static } from "../../core/options/option-schema.ts";
import { ABOVE_ZERO, readOptions } from "../../core/options/option-values.ts";
import type { ListingShape } from "../../core/sources/listing-shape.ts";
import type { ToolLimits } from "../../core/sources/records.ts";
import { resolveShape, SHAPE_MEMBERS } from "../shape-options.ts";

const LOG_LEVELS = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"] as const;

/** Options of every MCP server behind the hub, on any transport. */
export const MCP_SERVER_MEMBERS = {
  enabled: Type.Optional(Type.Boolean({ description: "Whether this server is used.", default: true })),
  ...SHAPE_MEMBERS,
  visibility: Type.Optional(
    Type.Enum(["native", "ondemand"], {
      description: "`native` tools are listed; `ondemand` tools are found by search only.",
      default: "native",
    }),
  ),
  unlisted: Type.Optional(
    Type.Boolean({
      description:
        "If true, tools that the server accepts but does not list can be called by name, with the server's " +
        "prefix. `include`, `exclude`, `pins` and callers' rights also apply to them.",
      default: false,
    }),
  ),
  namespace: Type.Optional(
    Type.String({ description: "Prefix of the tools' names; empty for none. Absent: the server's alias." }),
  ),
  timeout: Type.Optional(
    durationOption({ description: "Maximum time of a call without activity. Absent: the hub's limit." }, ABOVE_ZERO),
  ),
  total_timeout: Type.Optional(
    durationOption(
      { description: "Maximum total time of a call, even with activity. Absent: the hub's limit." },
      ABOVE_ZERO,
    ),
  ),
  connect_timeout: Type.Optional(
    durationOption(
      {
        description:
          "Maximum time until the server can be used. Processor time that a busy machine does not give to " +
          "its processes does not count, up to five times this limit.",
        default: "30s",
      },
      ABOVE_ZERO,
    ),
  ),
  max_concurrent: Type.Optional(
    Type.Integer({
      description: "Concurrent calls of this server; further calls wait. 0: no limit.",
      minimum: 0,
      default: 0,
    }),
  ),
  max_message_bytes: Type.Optional(
    bytesOption(
      { description: "Maximum size of a message from the server.", default: "32MiB" },
      // The limit is at least 1 KiB, because a smaller one would not admit the handshake.
      { least: 1024, must: "must be at least 1024 bytes" },
    ),
  ),
  max_message_parts: Type.Optional(
    Type.Integer({
      description:
        "Maximum number of keys, objects and lists in one message of the server. In an object with more " +
        "than 1,000 keys, each further key counts four times.",
      minimum: 1000,
      default: 600_000,
    }),
  ),
  isolation: Type.Optional(
    Type.Enum(["auto", "shared", "session"], {
      description:
        "`auto`: one server process for all callers until it sends a request that names no call; then each " +
        "further token gets its own. `shared`: always one process. `session`: each lasting connection of a " +
        "caller gets its own, with that caller's capabilities.",
      default: "auto",
    }),
  ),
  max_sessions: Type.Optional(
    Type.Integer({
      description: "Maximum number of additional server processes or connections for tokens and sessions.",
      minimum: 1,
      default: 32,
    }),
  ),
  era: Type.Optional(
    Type.Enum(["auto", "legacy", "modern"], {
      description:
        "Era of the protocol. `legacy`: with a handshake (up to 2025-11-25). `modern`: without " +
        "(2026-07-28). `auto`: the era that the server supports; modern if it supports both. Use `legacy` " +
        "for a server that keeps state and sends requests to its callers.",
      default: "auto",
    }),
  ),
  protocol_version: Type.Optional(
    Type.Enum(
      LEGACY_REVISIONS.map(({ date }) => date),
      {
        description:
          'Protocol revision in the first message, `initialize`. Implies `era = "legacy"`. Use it for a ' +
          "server that does not answer unknown methods, or that supports only one revision. Absent: the " +
          "newest.",
        examples: ["2024-11-05"],
      },
    ),
  ),
  start: Type.Optional(
    Type.Enum(["eager", "lazy"], {
      description: "`eager`: started with the hub and kept running. `lazy`: started when it is needed.",
      default: "eager",
    }),
  ),
  idle_stop: Type.Optional(
    durationOption(
      {
        description: "Time without a call after which a lazy server, and a session's own server, ends.",
        default: "10m",
      },
      ABOVE_ZERO,
    ),
  ),
  roots: Type.Optional(
    Type.Array(Type.Path(), {
      description: "Folders or `file:` URIs that the server gets as roots if no caller can supply its own.",
      default: [],
    }),
  ),
  log_level: Type.Optional(
    Type.Enum(LOG_LEVELS, {
      description: "Log level requested from the server. Default: the server's own.",
    }),
  ),
  instructions: Type.Optional(
    Type.Boolean({ description: "If true, the server's instructions are passed on to clients.", default: true }),
  ),
} satisfies Record<string, OptionSchema>;

const McpServerSchema = Type.Object(MCP_SERVER_MEMBERS);

export type McpServerConfig = Static<typeof McpServerSchema>;

export interface McpServerOptions {
  readonly enabled: boolean;
  /** Configured changes of the server's lists. */
  readonly shape: ListingShape;
  /** Prefix of the tools' names; absent: the alias. */
  readonly namespace?: string;
  readonly limits: ToolLimits;
  readonly connectTimeoutMs: number;
  /** Maximum number of concurrent calls; `Infinity`: no limit. */
  readonly maxConcurrent: number;
  readonly maxMessageBytes: number;
  readonly maxMessageParts: number;
  readonly isolation: "auto" | "shared" | "session";
  readonly era: "auto" | "legacy" | "modern";
  /** Revision that `initialize` requests; absent: the newest. */
  readonly protocolVersion?: string;
  readonly maxSessions: number;
  readonly start: "eager" | "lazy";
  readonly idleStopMs: number;
  /** Paths and `file:` URIs of roots, as configured. */
  readonly roots: readonly string[];
  readonly logLevel?: string;
}

/** Returns the checked options with defaults. Throws an `OptionError` that names the option. */
export function resolveMcpServer(config: McpServerConfig = {}): McpServerOptions {
  const options = readOptions(McpServerSchema, config);
  const {
    enabled,
    visibility,
    unlisted,
    instructions,
    isolation,
    era,
    start,
    roots,
    namespace,
    log_level: logLevel,
  } = options;
  return Object.freeze({
    enabled,
    shape: Object.freeze({ ...resolveShape(config), visibility, instructions, ...(unlisted && { unlisted }) }),
    ...(namespace !== undefined && { namespace }),
    limits: {
      ...(options.timeout !== undefined && { timeoutMs: options.timeout }),
      ...(options.total_timeout !== undefined && { totalTimeoutMs: options.total_timeout }),
    },
    connectTimeoutMs: options.connect_timeout,
    maxConcurrent: options.max_concurrent || Infinity,
    maxMessageBytes: options.max_message_bytes,
    maxMessageParts: options.max_message_parts,
    isolation,
    era: options.protocol_version !== undefined && era === "auto" ? "legacy" : era,
    ...(options.protocol_version !== undefined && { protocolVersion: options.protocol_version }),
    maxSessions: options.max_sessions,
    start,
    idleStopMs: options.idle_stop,
    roots,
    ...(logLevel !== undefined && { logLevel }),
  });
}
