/** Tools of the hub itself. No source may offer a tool under one of these names. */
export const HUB_TOOL_NAMES: readonly string[] = ["tool_search", "execute_tool", "execute_code"];

/** Namespace of the hub's tools about the hub itself, such as `meta.ping`. */
export const META_NAMESPACE = "meta";

/** Tools that come with the package, in the order of lists. */
export const DEFAULT_TOOL_NAMES = [
  "file_writer",
  "generate_image_from_prompt",
  "internet_search",
  "python_interpreter",
] as const;
export type DefaultToolName = (typeof DEFAULT_TOOL_NAMES)[number];

/** Name of the only tool of a server until a user has signed in. */
export const SIGN_IN_TOOL_NAME = "sign_in";

/** The hub's tools about itself, each with the further names by which clients of the core dialect call it. */
export const META_ALIASES = {
  "meta.get_server_status": ["get_mcp_server_status", "get_mcp_server_auth_status", "get_mcp_server_encryption_status"],
  "meta.get_full_capabilities": ["get_mcp_server_capabilities"],
  "meta.get_module_info": ["get_mcp_module_info"],
  "meta.ping": [],
  "meta.get_server_logs": [],
} as const satisfies Readonly<Record<string, readonly string[]>>;

/**
 * Names of tools that come with the hub, except those in `HUB_TOOL_NAMES`. Only the configuration can give such a name
 * to a tool: to a local tool, or by `rename` to a tool of a server. If a server lists a tool with such a name, the tool
 * does not get it.
 */
export const RESERVED_TOOL_NAMES: ReadonlySet<string> = new Set([
  ...DEFAULT_TOOL_NAMES,
  SIGN_IN_TOOL_NAME,
  // Model APIs do not accept dots, so the forms with underscores are reserved too.
  ...Object.keys(META_ALIASES).map((name) => name.replace(".", "_")),
  ...Object.values(META_ALIASES).flat(),
]);
