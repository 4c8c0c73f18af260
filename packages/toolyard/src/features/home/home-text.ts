import type { HomeFacts } from "./home-page.ts";

export interface HomeTextFacts extends Pick<
  HomeFacts,
  "title" | "version" | "baseUrl" | "mcpUrl" | "hasDocs" | "isGuarded"
> {
  readonly restPath?: string;
}

/** Formats the text that `curl` shows for the hub's URL: a description, and the next steps. */
export function homeText(facts: HomeTextFacts): string {
  const { title, version, baseUrl, mcpUrl, hasDocs, isGuarded, restPath } = facts;
  const token = isGuarded ? ' -H "authorization: Bearer <token>"' : "";
  const flags = isGuarded ? " --token-env TOOLYARD_TOKEN" : "";
  const rows = [
    ["MCP endpoint for clients", mcpUrl],
    ...(restPath === undefined ? [] : [["list the tools", `curl ${baseUrl}${restPath}/tools${token}`]]),
    ...(hasDocs ? [["describe each tool (REST)", `${baseUrl}/docs`]] : []),
    ["use it in a shell", `toolyard list --url ${mcpUrl}${flags}`],
    ["connect a desktop client", `toolyard connect --http${flags}`],
    ["a page for browsers", `${baseUrl}/`],
  ] as const;
  const width = Math.max(...rows.map(([what = ""]) => what.length));
  return [
    `${oneLine(title)} (toolyard ${version}) is an MCP endpoint.`,
    "",
    ...rows.map(([what = "", how = ""]) => `${what.padEnd(width)}  ${how}`),
    "",
  ].join("\n");
}

/** Replaces line breaks and control characters by a space, because the title is configured by the user. */
function oneLine(text: string): string {
  return text.replaceAll(/\p{Cc}+/gu, " ");
}
