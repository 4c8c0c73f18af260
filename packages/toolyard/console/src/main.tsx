import { render } from "preact";
import { get, keepHub, session, takeFragment } from "./api.ts";
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
  session.value = await get<SessionInfo>("session");
  keepHub(session.value.hub);
} catch {
  // The error is ignored, because the sign-in page, or the notice that the hub does not answer, is already shown.
}
render(<Shell />, document.querySelector("#app")!);
void followEvents();
