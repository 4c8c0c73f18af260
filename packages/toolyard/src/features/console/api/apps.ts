import { objectMember, stringMember } from "../../../core/json/json.ts";
import { FailError } from "../../../core/errors.ts";
import { callerKey } from "../../../core/ports/profiles.ts";
import { serversOf } from "../../../config/edit/sources.ts";
import { factsOf } from "../../../core/sources/provider-kinds.ts";
import { Refusal } from "../../../http/answer/refusal.ts";
import type { Calls } from "../../../endpoints/rest/calls.ts";
import { readAppPage, readDomains, type AppDocuments } from "../app-documents.ts";
import { permittedDomains, type AppPlace } from "../app-hosts.ts";
import { appUri } from "../app-uri.ts";
import type { OpenedApp } from "../app-types.ts";
import type { ConsoleParts } from "../parts.ts";
import type { AdminRequest, AdminRoute } from "./route.ts";

interface AppParts extends Pick<ConsoleParts, "tools" | "hub" | "hubControl"> {
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
async function openApp({ exchange, view, caller }: AdminRequest, parts: AppParts, calls: Calls): Promise<OpenedApp> {
  const { tools, apps } = parts;
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
  const place = { hub: new URL(exchange.http.baseUrl), ...serverOf(source, parts) };
  const csp = permittedDomains(readDomains(page.meta), place);
  const path = apps.add({ html: page.html, domains: csp, owner: callerKey(caller.principal) });
  const prefersBorder = objectMember(page.meta, "ui")?.["prefersBorder"] !== false;
  return { path, source, csp, prefersBorder };
}

/** Returns where the server of a source is. Without an entry in the configuration, only the kind tells. */
function serverOf(id: string, { hub, hubControl }: AppParts): Pick<AppPlace, "server"> {
  const { tree, schema } = hubControl();
  const { options } = serversOf(tree, schema).find(({ name }) => name === id) ?? {};
  const url = options && stringMember(options, "url");
  if (url !== undefined) return URL.canParse(url) ? { server: new URL(url) } : {};
  const kind = hub.sources().find(({ source }) => source.id === id)?.source.kind;
  const isProgram = options?.["command"] !== undefined || (kind !== undefined && factsOf(kind).isLocal);
  return isProgram ? { server: "hub" } : {};
}
