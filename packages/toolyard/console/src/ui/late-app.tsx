import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { ToolDetail } from "../../../src/features/console/api-types.ts";
import type { AppFrameProps } from "./app-frame.tsx";
import { toSchema } from "./schema-form.tsx";

/** The page of a tool. Its code is loaded by the first tool that has a page. */
export function LateApp(props: AppFrameProps) {
  const [view, setView] = useState<{ readonly Frame: ComponentType<AppFrameProps> }>();
  useEffect(() => {
    void import("./app-frame.tsx").then(({ AppFrame: Frame }) => setView({ Frame }));
  }, []);
  return view ? <view.Frame {...props} /> : null;
}

/** Returns whether a tool declares a page (MCP Apps). */
export function hasApp({ definition }: Pick<ToolDetail, "definition">): boolean {
  const meta = toSchema(definition["_meta"]);
  const uri = toSchema(meta["ui"])["resourceUri"] ?? meta["ui/resourceUri"];
  return typeof uri === "string" && uri.startsWith("ui://");
}
