import { render } from "preact";
import { dropPrefetched, get, hasHub, keepHub, prefetch, session, takeFragment } from "./api.ts";
import { route } from "./route.ts";
import { t, useOwnLanguage } from "./i18n/texts.ts";
import { followEvents } from "./live.ts";
import { Shell } from "./shell.tsx";
import { applyTheme } from "./theme.ts";
import type { SessionInfo } from "../../src/features/console/api-types.ts";
import "./style.css";

applyTheme();
await useOwnLanguage();
await takeFragment((user) => confirm(t("replaceSession", { user })));
try {
  const isHubKnown = hasHub();
  // The first view does not wait for the session.
  if (["overview", undefined].includes(route.value[0])) prefetch("overview");
  const info = await get<SessionInfo>("session");
  keepHub(info.hub);
  // Another hub may have answered the early request.
  if (!info.seesAll || (info.hub !== undefined && !isHubKnown)) dropPrefetched();
  session.value = info;
} catch {
  // The error is ignored, because the sign-in page, or the notice that the hub does not answer, is already shown.
}
render(<Shell />, document.querySelector("#app")!);
void followEvents();
