import { objectMember, stringMember } from "../../../core/json/json.ts";
import { FailError } from "../../../core/errors.ts";
import { callerKey } from "../../../core/ports/profiles.ts";
import { Refusal } from "../../../http/answer/refusal.ts";
import type { Calls } from "../../../endpoints/rest/calls.ts";
import { readAppPage, readDomains, type AppDocuments } from "../app-documents.ts";
import { appUri } from "../app-uri.ts";
import type { OpenedApp } from "../app-types.ts";
import type { ConsoleParts } from "../parts.ts";
import type { AdminRequest, AdminRoute } from "./route.ts";

interface AppParts extends Pick<ConsoleParts, "tools"> {
  readonly apps: AppDocuments;
}

/** Returns the route that opens the page of a tool (MCP Apps). */
export function appRoutes(parts: AppParts, calls: Calls): readonly AdminRoute[] {
  return [
    {
      method: "POST",
      path: "apps",
      needs: "any",
      summary: "Reads the page of `tool` (MCP Apps), and returns its address for a frame.",
      handle: (request) => openApp(request, parts, calls),
    },
  ];
}

/** The page is read with the rights of the caller. */
async function openApp(
  { exchange, view, caller }: AdminRequest,
  { tools, apps }: AppParts,
  calls: Calls,
): Promise<OpenedApp> {
  const name = stringMember(await exchange.readObject("`tool`"), "tool") ?? "";
  const found = await tools.describeTool(name, view);
  if (!found.found) throw new FailError(found.failure);
  const target = appUri(found.entry);
  const source = tools.sourceOf(String(found.entry["name"]), view.principal);
  if (target === undefined || source === undefined) throw new Refusal(404, `${name} has no page.`);
  const read = await calls.run({ method: "resources/read", target }, view, exchange);
  if (!read.ok) throw new FailError(read);
  const page = readAppPage(read.result);
  if (!page) throw new Refusal(502, `${target} is not a page: its type must be text/html;profile=mcp-app.`);
  const csp = readDomains(page.meta);
  const path = apps.add({ html: page.html, domains: csp, owner: callerKey(caller.principal) });
  const prefersBorder = objectMember(page.meta, "ui")?.["prefersBorder"] !== false;
  return { path, source, csp, prefersBorder };
}
