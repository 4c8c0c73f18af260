import type { AdminBodies, AdminOperation } from "../../../core/ports/admin-operations.ts";
import { Calls } from "../../../endpoints/rest/calls.ts";
import type { ConsoleParts } from "../parts.ts";
import { ADMIN_PATH } from "../paths.ts";
import { readAdminSchemas } from "./admin-schemas.ts";
import { ContentRoutes } from "./contents.ts";
import { hubRoutes } from "./hubs.ts";
import { overviewRoutes } from "./overview.ts";
import { RecordRoutes } from "./records.ts";
import type { AdminRoute } from "./route.ts";
import { agentRoutes } from "./agent.ts";
import { AppDocuments } from "../app-documents.ts";
import { appRoutes } from "./apps.ts";
import { approvalRoutes } from "./approvals.ts";
import { SignInRoutes } from "./sign-ins.ts";
import { StoredCallRoutes } from "./stored-calls.ts";
import { SourceRoutes } from "./sources.ts";
import { WorkRoutes } from "./tasks.ts";
import { UserRoutes } from "./users.ts";
import { settingsOf, settingsRoutes } from "../settings/settings-routes.ts";
import { ToolRoutes } from "./tools.ts";

/** Returns every route of the API except those of sessions and events. */
export function adminRoutes(
  parts: ConsoleParts & { readonly apps: AppDocuments },
  calls: Calls,
): readonly AdminRoute[] {
  const settings = settingsOf(parts);
  return [
    ...overviewRoutes(parts),
    ...hubRoutes(parts),
    ...new SourceRoutes(parts, settings).routes,
    ...settingsRoutes(parts, settings),
    ...new ToolRoutes(parts, calls).routes,
    ...new ContentRoutes(parts, calls).routes,
    ...new RecordRoutes(parts).routes,
    ...new StoredCallRoutes(parts).routes,
    ...new SignInRoutes(parts).routes,
    ...approvalRoutes(parts),
    ...agentRoutes(parts, calls),
    ...appRoutes(parts, calls),
    ...new UserRoutes(parts).routes,
    ...new WorkRoutes(parts).routes,
  ];
}

/** Operations that are not routes: sessions, links and events. */
const FURTHER: readonly Omit<AdminOperation, keyof AdminBodies>[] = [
  { method: "GET", path: "", needs: "any", summary: "The operations of this API." },
  { method: "GET", path: "session", needs: "any", summary: "The caller and its rights." },
  { method: "POST", path: "links", needs: "any", summary: "A link that signs in a browser once, as the caller." },
  {
    method: "GET",
    path: "events",
    needs: "any",
    summary: "Changes as server-sent events, resumed by `Last-Event-ID`.",
  },
];

/** Describes all operations of the API, for the OpenAPI document. */
export async function adminOperations(parts: ConsoleParts): Promise<readonly AdminOperation[]> {
  const schemasOf = await readAdminSchemas();
  const routes = adminRoutes({ ...parts, apps: new AppDocuments() }, new Calls(parts.hub, parts.logger, "console"));
  return [...FURTHER, ...routes].map(({ method, path, needs, summary }) => {
    let count = 0;
    const named = path.replaceAll("*", () => `{name${(count += 1) === 1 ? "" : count}}`);
    return {
      method,
      path: named === "" ? ADMIN_PATH : `${ADMIN_PATH}/${named}`,
      needs,
      summary,
      ...schemasOf(`${method} ${path}`),
    };
  });
}
