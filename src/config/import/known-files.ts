import { homedir } from "node:os";
import { join } from "node:path";

/** A server file that some program keeps, and who keeps it. */
export interface KnownFile {
  readonly program: string;
  readonly path: string;
}

export interface Places {
  readonly variables: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly platform: NodeJS.Platform;
}

/** Where desktop clients and editors keep their MCP servers, by platform; the files of this folder come first. */
export function knownFiles({ variables, cwd, platform }: Places): readonly KnownFile[] {
  const home = variables["HOME"] || variables["USERPROFILE"] || homedir();
  const application = applicationFolder(home, variables, platform);
  const editorUser = join(application, "Code", "User");
  return [
    { program: "Claude Code (this folder)", path: join(cwd, ".mcp.json") },
    { program: "VS Code (this folder)", path: join(cwd, ".vscode", "mcp.json") },
    { program: "Cursor (this folder)", path: join(cwd, ".cursor", "mcp.json") },
    { program: "Roo Code (this folder)", path: join(cwd, ".roo", "mcp.json") },
    { program: "Claude Desktop", path: join(application, "Claude", "claude_desktop_config.json") },
    { program: "Claude Code", path: join(home, ".claude.json") },
    { program: "VS Code", path: join(editorUser, "mcp.json") },
    { program: "Cursor", path: join(home, ".cursor", "mcp.json") },
    { program: "Windsurf", path: join(home, ".codeium", "windsurf", "mcp_config.json") },
    { program: "Zed", path: join(platform === "win32" ? application : join(home, ".config"), platform === "win32" ? "Zed" : "zed", "settings.json") },
    { program: "Gemini CLI", path: join(home, ".gemini", "settings.json") },
    { program: "Codex", path: join(home, ".codex", "config.toml") },
    { program: "Cline", path: join(editorUser, "globalStorage", "saoudrizwan.claude-dev", "settings", "cline_mcp_settings.json") },
    { program: "LM Studio", path: join(home, ".lmstudio", "mcp.json") },
    { program: "Kiro", path: join(home, ".kiro", "settings", "mcp.json") },
    { program: "Amazon Q", path: join(home, ".aws", "amazonq", "mcp.json") },
  ];
}

function applicationFolder(home: string, variables: Places["variables"], platform: NodeJS.Platform): string {
  if (platform === "darwin") return join(home, "Library", "Application Support");
  if (platform === "win32") return variables["APPDATA"] || join(home, "AppData", "Roaming");
  return variables["XDG_CONFIG_HOME"] || join(home, ".config");
}
