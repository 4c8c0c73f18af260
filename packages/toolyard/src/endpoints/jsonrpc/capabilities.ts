import type { HubContent, View } from "../../core/ports/hub-port.ts";
import type { JsonObject } from "../../core/json/json.ts";

/** Protocol version that `mcp/discover` reports (G15). */
const DIALECT_VERSION = "1.0-gnn";

/**
 * Builds the result of `mcp/discover`: `{mcp_version, server_description, tools: [{name, description, schema}],
 * resources: [{uri_template, description}]}`, with everything that the caller may use. In discovery mode it lists only
 * the two search tools.
 */
export async function readCapabilities(
  hub: Pick<HubContent, "list">,
  { mode, principal }: View,
  description: string,
): Promise<JsonObject> {
  const view: View = { mode: mode === "discovery" ? mode : "all", principal };
  const finderView: View = { mode: "discovery", principal };
  const [all, finders, resources, templates] = await Promise.all([
    hub.list("tools", view),
    hub.list("tools", finderView),
    hub.list("resources", view),
    hub.list("templates", view),
  ]);
  const hidden = new Set<unknown>(mode === "discovery" ? [] : finders.entries.map(({ name }) => name));
  return {
    mcp_version: DIALECT_VERSION,
    server_description: description,
    tools: all.entries
      .filter(({ name }) => !hidden.has(name))
      .map(({ name, description: about = "", inputSchema }) => ({ name, description: about, schema: inputSchema })),
    resources: [
      ...resources.entries.map(({ uri, description: about = "" }) => ({ uri_template: uri, description: about })),
      ...templates.entries.map(({ uriTemplate, description: about = "" }) => ({
        uri_template: uriTemplate,
        description: about,
      })),
    ],
  };
}
