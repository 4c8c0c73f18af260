import type { Calls } from "../../../endpoints/rest/calls.ts";
import type { ConsoleParts } from "../parts.ts";
import { ContentRoutes } from "./contents.ts";
import { overviewRoutes } from "./overview.ts";
import { RecordRoutes } from "./records.ts";
import type { AdminRoute } from "./route.ts";
import { agentRoutes } from "./agent.ts";
import { approvalRoutes } from "./approvals.ts";
import { SignInRoutes } from "./sign-ins.ts";
import { SourceRoutes } from "./sources.ts";
import { WorkRoutes } from "./tasks.ts";
import { UserRoutes } from "./users.ts";
import { settingsOf, settingsRoutes } from "../settings/settings-routes.ts";
import { ToolRoutes } from "./tools.ts";

/** Returns every route of the API except those of sessions and events. */
export function adminRoutes(parts: ConsoleParts, calls: Calls): readonly AdminRoute[] {
  const settings = settingsOf(parts);
  return [
    ...overviewRoutes(parts),
    ...new SourceRoutes(parts, settings).routes,
    ...settingsRoutes(parts, settings),
    ...new ToolRoutes(parts, calls).routes,
    ...new ContentRoutes(parts, calls).routes,
    ...new RecordRoutes(parts).routes,
    ...new SignInRoutes(parts).routes,
    ...approvalRoutes(parts),
    ...agentRoutes(parts, calls),
    ...new UserRoutes(parts).routes,
    ...new WorkRoutes(parts).routes,
  ];
}
