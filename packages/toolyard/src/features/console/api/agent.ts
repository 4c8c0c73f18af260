import { isJsonObject, listMember, objectMember, stringMember, type JsonObject } from "../../../core/json/json.ts";
import { firstChars } from "../../../core/text/truncate.ts";
import type { Calls } from "../../../endpoints/rest/calls.ts";
import { readChat, runChat } from "../../../endpoints/rest/chat.ts";
import { toolPath } from "../../../schema/tool-path.ts";
import { signatureOf } from "../../../schema/signature.ts";
import type { ConsoleParts } from "../parts.ts";
import type { CodeParameter, CodeTool } from "../work-types.ts";
import type { AdminRequest, AdminRoute } from "./route.ts";

/** Maximum number of completions in one answer. */
const MAX_TOOLS = 200;
const MAX_PARAMETERS = 200;
const MAX_TEXT_CHARS = 500;
const CODE_TOOL = "execute_code";

type AgentRouteParts = Pick<ConsoleParts, "chat" | "hub" | "tools">;
type CodeLanguage = "python" | "typescript";

/** Returns the routes of the chat, and of completion in the code editor. */
export function agentRoutes(parts: AgentRouteParts, calls: Calls): readonly AdminRoute[] {
  return [
    {
      method: "POST",
      path: "chat",
      needs: "any",
      summary: "Answers `message` with the hub's tools.",
      handle: (request) => chat(request, parts, calls),
    },
    {
      method: "GET",
      path: "code/tools",
      needs: "any",
      summary: "Tools that code can call, with their signatures.",
      handle: async (request) => ({ tools: await codeTools(request, parts) }),
    },
  ];
}

/** The agent calls tools with the rights of the caller. */
async function chat({ exchange, caller }: AdminRequest, parts: AgentRouteParts, calls: Calls): Promise<void> {
  const body = readChat(await exchange.readObject("`message`"));
  const { principal } = caller;
  const outcome = await calls.guard(exchange, () => runChat(parts.chat(), { ...body, principal }, exchange));
  if (outcome.ok) exchange.succeed(outcome.reply, "reply");
  else exchange.fail(outcome);
}

async function codeTools({ query, view }: AdminRequest, { hub, tools }: AgentRouteParts): Promise<readonly CodeTool[]> {
  const language: CodeLanguage = query.get("language") === "python" ? "python" : "typescript";
  const prefix = (query.get("prefix") ?? "").toLowerCase();
  const { entries } = await hub.list("tools", view, { waits: false });
  const reaches = (path: string): string | undefined => tools.nameOf(path, view.principal);
  const own = reaches(CODE_TOOL);
  const found: CodeTool[] = [];
  for (const entry of entries) {
    const name = String(entry["name"]);
    // The first part of the name decides most cases without resolving the path.
    if (name === own || !mayMatch(name, prefix)) continue;
    const path = toolPath(name, { language, reaches });
    if (!path.toLowerCase().startsWith(prefix)) continue;
    found.push(toCodeTool(entry, path, language));
    if (found.length >= MAX_TOOLS) break;
  }
  return found;
}

function mayMatch(name: string, prefix: string): boolean {
  const [, first = ""] = /^tools\.(\w+)/.exec(prefix) ?? [];
  return name.toLowerCase().startsWith(first);
}

function toCodeTool(entry: JsonObject, path: string, language: CodeLanguage): CodeTool {
  const input = objectMember(entry, "inputSchema") ?? {};
  return {
    name: String(entry["name"]),
    path,
    signature: firstChars(
      signatureOf(language, path, { input, output: objectMember(entry, "outputSchema") }),
      MAX_TEXT_CHARS,
    ),
    description: firstChars(stringMember(entry, "description") ?? "", MAX_TEXT_CHARS),
    parameters: parametersOf(input),
  };
}

function parametersOf(schema: JsonObject): readonly CodeParameter[] {
  const required = listMember(schema, "required");
  const members = Object.entries(objectMember(schema, "properties") ?? {}).slice(0, MAX_PARAMETERS);
  return members.map(([name, member]) => {
    const { type, description } = isJsonObject(member) ? member : {};
    return {
      name,
      type: Array.isArray(type) ? type.join(" | ") : typeof type === "string" ? type : "",
      isRequired: required.includes(name),
      description: typeof description === "string" ? firstChars(description, MAX_TEXT_CHARS) : "",
    };
  });
}
