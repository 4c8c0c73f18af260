import type { ToolDetail } from "../../../src/features/console/api-types.ts";
import { appUri } from "../../../src/features/console/app-uri.ts";
import type { AppFrameProps } from "./app-frame.tsx";
import { lateView } from "./late-view.tsx";

/** The page of a tool. Its code is loaded by the first tool that has a page. */
export const LateApp = lateView<AppFrameProps>(async () => (await import("./app-frame.tsx")).AppFrame);

/** Returns whether a tool declares a page (MCP Apps). */
export function hasApp({ definition }: Pick<ToolDetail, "definition">): boolean {
  return appUri(definition) !== undefined;
}
