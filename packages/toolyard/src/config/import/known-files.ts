import { homedir } from "node:os";
import { posix, win32 } from "node:path";

/** File of a program that lists MCP servers. */
export interface KnownFile {
  readonly program: string;
  readonly path: string;
  /** Folder to which the file belongs and to which its relative paths refer. Absent: the file belongs to the user. */
  readonly workspace?: string;
}

export interface ClientFilePlaces {
  readonly variables: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly platform: NodeJS.Platform;
}

/** Returns the MCP server files of desktop clients and editors on this platform; files of this folder come first. */
export function knownFiles(places: ClientFilePlaces): readonly KnownFile[] {
  const users = filesOfUser(places);
  // If the current folder is the home folder, both lists contain the same file. It counts as the user's file.
  const own = new Set(users.map(({ path }) => path));
  return [...filesHere(places).filter(({ path }) => !own.has(path)), ...users];
}

function filesHere({ cwd, platform }: ClientFilePlaces): readonly KnownFile[] {
  const { join } = platform === "win32" ? win32 : posix;
  const here = (program: string, ...steps: string[]): KnownFile => ({
    program: `${program} (this folder)`,
    path: join(cwd, ...steps),
    workspace: cwd,
  });
  return [
    here("Claude Code", ".mcp.json"),
    here("VS Code", ".vscode", "mcp.json"),
    here("Cursor", ".cursor", "mcp.json"),
    here("Roo Code", ".roo", "mcp.json"),
    here("Zed", ".zed", "settings.json"),
    here("Gemini CLI", ".gemini", "settings.json"),
    here("Codex", ".codex", "config.toml"),
    here("Kiro", ".kiro", "settings", "mcp.json"),
    here("OpenCode", "opencode.json"),
  ];
}

function filesOfUser(places: ClientFilePlaces): readonly KnownFile[] {
  const { variables, platform } = places;
  const { join } = platform === "win32" ? win32 : posix;
  const { home, xdg, application, zed } = foldersOf(places);
  const editor = (...steps: string[]): string => join(application, "Code", "User", ...steps);
  return [
    { program: "Claude Desktop", path: join(application, "Claude", "claude_desktop_config.json") },
    { program: "Claude Code", path: join(variables["CLAUDE_CONFIG_DIR"] || home, ".claude.json") },
    { program: "VS Code", path: editor("mcp.json") },
    { program: "VS Code settings", path: editor("settings.json") },
    { program: "VS Code Insiders", path: join(application, "Code - Insiders", "User", "mcp.json") },
    { program: "Cursor", path: join(home, ".cursor", "mcp.json") },
    { program: "Windsurf", path: join(home, ".codeium", "windsurf", "mcp_config.json") },
    { program: "Zed", path: join(zed, "settings.json") },
    { program: "Gemini CLI", path: join(home, ".gemini", "settings.json") },
    { program: "Codex", path: join(variables["CODEX_HOME"] || join(home, ".codex"), "config.toml") },
    { program: "OpenCode", path: join(xdg, "opencode", "opencode.json") },
    {
      program: "Cline",
      path: editor("globalStorage", "saoudrizwan.claude-dev", "settings", "cline_mcp_settings.json"),
    },
    {
      program: "Roo Code",
      path: editor("globalStorage", "rooveterinaryinc.roo-cline", "settings", "mcp_settings.json"),
    },
    { program: "LM Studio", path: join(home, ".lmstudio", "mcp.json") },
    { program: "Kiro", path: join(home, ".kiro", "settings", "mcp.json") },
    { program: "Amazon Q", path: join(home, ".aws", "amazonq", "mcp.json") },
    { program: "Copilot CLI", path: join(home, ".copilot", "mcp-config.json") },
  ];
}

interface UserFolders {
  readonly home: string;
  /** Settings folder of programs that follow the XDG specification. */
  readonly xdg: string;
  /** Settings folder of desktop programs. */
  readonly application: string;
  readonly zed: string;
}

function foldersOf({ variables, platform }: ClientFilePlaces): UserFolders {
  const { join } = platform === "win32" ? win32 : posix;
  const [first, second] = platform === "win32" ? ["USERPROFILE", "HOME"] : ["HOME", "USERPROFILE"];
  const home = variables[first!] || variables[second!] || homedir();
  const xdg = variables["XDG_CONFIG_HOME"] || join(home, ".config");
  if (platform === "win32") {
    const application = variables["APPDATA"] || join(home, "AppData", "Roaming");
    return { home, xdg, application, zed: join(application, "Zed") };
  }
  if (platform === "darwin") {
    const application = join(home, "Library", "Application Support");
    return { home, xdg, application, zed: join(home, ".config", "zed") };
  }
  return { home, xdg, application: xdg, zed: join(xdg, "zed") };
}
