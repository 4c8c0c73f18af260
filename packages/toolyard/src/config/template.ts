import type { OptionSchema } from "../core/options/option-schema.ts";

/**
 * Returns the text that `toolyard init` writes. It is usable unchanged, and contains every section with its most used
 * options.
 */
export function configTemplate(schema: OptionSchema): string {
  return `${HEAD}${samplesIn(schema).join("")}${TAIL}`;
}

function samplesIn({ "~table": facts, properties = {} }: OptionSchema): readonly string[] {
  const own = facts?.sample === undefined ? [] : [facts.sample];
  return [...own, ...Object.values(properties).flatMap(samplesIn)];
}

const HEAD = `# Toolyard: every tool behind one MCP endpoint.
#   toolyard check     does everything here work?
#   toolyard serve     serve it at http://127.0.0.1:8808/mcp
# All options with their meaning: \`toolyard config\`. A running hub applies changes of this file.
# Strings take \${VAR} and \${VAR:-default}; tokens, headers and env also {file = "path"}.

[server]
# host = "127.0.0.1"            # anything but this machine needs a token
# port = 8808
# token = "\${TOOLYARD_TOKEN}"
# tool_mode = "discovery"       # list tool_search and execute_tool only; "normal" lists tools
# cors_origins = ["https://app.example"]

[logging]
# level = "info"                # debug, info, warning, error
# format = "text"               # or "json"
`;

const TAIL = `
# Limits of code that models write: execute_code, python_interpreter and toolyard run. It can call tools, but has no
# access to this machine.
# [sandbox]
# timeout = "30s"
# memory = "256MiB"

# [web_search]
# backend = "duckduckgo"        # or "searxng" with base_url, "brave" with api_key
`;
