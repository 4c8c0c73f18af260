import { Type, type Static } from "../../core/options/option-schema.ts";
import { readOptions } from "../../core/options/option-values.ts";
import type { Visibility } from "../../core/sources/listing-shape.ts";

/** Description that the GNN document prescribes. Clients of its dialect compare the whole text (G15). */
export const CORE_DESCRIPTION = "GNN Project MCP Server";
/** Default description of the hub. */
const SERVER_DESCRIPTION = "Toolyard: all tools behind one MCP endpoint";

/** Keys of the hub's own tools in the configuration. */
const BUILTIN_OPTION_SCHEMAS = {
  execute_code: Type.Optional(
    Type.Boolean({
      description:
        "If true, offers `execute_code`, which runs code of a caller in a sandbox (section `sandbox`). Not " +
        "offered if the hub can be called from the network without credentials: listen on a loopback " +
        "address, or set tokens.",
      default: true,
    }),
  ),
  meta_tools: Type.Optional(
    Type.Boolean({
      description: "Offers `meta.*`: tools that describe the hub.",
      default: true,
    }),
  ),
  meta_visibility: Type.Optional(
    Type.Enum(["native", "ondemand"], {
      description:
        "`native`: `meta.*` are listed with the other tools. `ondemand`: only search finds them. A core " +
        "server lists them.",
      default: "ondemand",
    }),
  ),
  server_logs: Type.Optional(
    Type.Boolean({
      description:
        "If true, offers `meta.get_server_logs`. Secrets are redacted, but a log can still reveal more " +
        "than callers should see.",
      default: false,
    }),
  ),
  server_description: Type.Optional(
    Type.String({
      description:
        "`server_description` in the results of `meta.get_full_capabilities` and `mcp/discover`. " +
        `Default of \`mcp/discover\`: "${CORE_DESCRIPTION}".`,
      default: SERVER_DESCRIPTION,
    }),
  ),
  server_log_lines: Type.Optional(
    Type.Integer({
      description: "Maximum number of log lines that one call of `meta.get_server_logs` returns.",
      default: 100,
      minimum: 1,
      maximum: 1000,
    }),
  ),
} as const;

export const BuiltinSchema = Type.Object(BUILTIN_OPTION_SCHEMAS, { description: "The hub's own tools." });
export type BuiltinConfig = Static<typeof BuiltinSchema>;

export interface BuiltinOptions {
  readonly executeCode: boolean;
  readonly metaTools: boolean;
  readonly metaVisibility: Visibility;
  readonly serverLogs: boolean;
  readonly serverLogLines: number;
  readonly serverDescription: string;
}

export function resolveBuiltin(raw: BuiltinConfig = {}): BuiltinOptions {
  const options = readOptions(BuiltinSchema, raw);
  return Object.freeze({
    executeCode: options.execute_code,
    metaTools: options.meta_tools,
    metaVisibility: options.meta_visibility,
    serverLogs: options.server_logs,
    serverLogLines: options.server_log_lines,
    serverDescription: options.server_description,
  });
}

/** Returns the hub's description in the JSON-RPC dialect. */
export function describeServer({ server_description: description }: BuiltinConfig = {}): string {
  return description ?? CORE_DESCRIPTION;
}
