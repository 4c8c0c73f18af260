import { Option } from "commander";
import type { CommandRow } from "./command-row.ts";

/** Returns the commands that show and check access rights. */
export function accessRows(
  local: readonly Option[],
  { url, tokenEnv }: { readonly url: Option; readonly tokenEnv: Option },
): readonly CommandRow[] {
  return [
    {
      usage: "whoami",
      summary: "show who you are to a running hub: roles, scopes and rights",
      examples: [
        "toolyard whoami --url https://hub.example.com/mcp",
        "toolyard whoami --url http://127.0.0.1:8808/mcp/docs",
      ],
      options: [...local, url, tokenEnv],
      load: () => import("../commands/whoami.ts"),
    },
    {
      usage: "can <caller> <tool>",
      summary: "show whether a caller may use a tool, prompt or resource, and which rule decides",
      examples: ["toolyard can ci github__create_issue", "toolyard can group:staff files__read --profile docs"],
      options: [...local, new Option("--profile <name>", "within this profile")],
      load: () => import("../commands/can.ts"),
    },
  ];
}
