/** What `toolyard init` writes: runs as it stands, and shows every section with its most used options. */
export const CONFIG_TEMPLATE = `# Toolyard: every tool behind one MCP endpoint.
#   toolyard check     does everything here work?
#   toolyard serve     serve it at http://127.0.0.1:8808/mcp
# All options with their meaning: \`toolyard config\`. A change of this file is taken over while the hub runs.
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

# Functions in TypeScript or JavaScript: <folder>/<name>/mcp.ts exports registerTools(hub).
# [modules]
# paths = ["modules"]

# Scripts in any language: <folder>/<name>/tool.toml beside the script. Fresh on every request.
# [scripts]
# tools_path = "tools"

# Tool folders: <folder>/<name>/<name>.mcp.json beside <name>.py or <name>.ts with execute().
# [folders]
# tools_path = "folders"

# Tools that come along. They write files (into files/), ask services on the network and run code, so each is named;
# "all" is all of them.
# [default_tools]
# enable = ["internet_search", "file_writer", "generate_image_from_prompt", "python_interpreter"]

# Bounds of code that models write: execute_code, python_interpreter and toolyard run. It reaches tools and nothing of
# this machine.
# [sandbox]
# timeout = "30s"
# memory = "256MiB"

# [web_search]
# backend = "duckduckgo"        # or "searxng" with base_url, "brave" with api_key

# MCP servers that are started here. The name is the prefix of their tools: files__read_file.
# [mcp.stdio_servers.files]
# command = ["npx", "-y", "@modelcontextprotocol/server-filesystem", "."]
# env = { LOG_LEVEL = "info" }
# visibility = "ondemand"       # found by search, not listed
# include = ["read_*"]          # or exclude = ["write_*"]
# timeout = "60s"

# MCP servers somewhere on HTTP.
# [[mcp.remote_servers]]
# namespace = "example"
# url = "https://example.com/mcp"
# token = "\${EXAMPLE_TOKEN}"
# tool_visibility = "ondemand"
`;
