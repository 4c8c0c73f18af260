import { Late } from "../../core/late.ts";
import type { AuthServerHandle } from "../../auth/builtin/auth-server-handle.ts";
import { resolveAuth, type HubAuthConfig } from "../../auth/options.ts";
import { AUTH_SERVER } from "../../auth/services.ts";
import { Type } from "../../core/options/option-schema.ts";
import {
  ACCESS,
  AUDIT,
  CALL_STATISTICS,
  CHAT,
  GET_HUB,
  HUB,
  HUB_CONTROL,
  LOG_FEED,
  LOGGER,
  PROFILES,
  REDACT_FACTS,
  ROLE_NAMES,
  SCHEDULES,
  SIGN_INS,
  STARTED_AT,
  TASKS,
  TOOLS,
  VARIABLES,
} from "../../core/services.ts";
import { defineEndpoint } from "../../endpoints/endpoint.ts";
import { LateEndpoint } from "../../endpoints/late-endpoint.ts";
import { REQUEST_RELAY } from "../../endpoints/services.ts";
import { refusalText } from "../../endpoints/rest/refusal-text.ts";
import { defineFeature } from "../../kernel/feature.ts";
import { STATE } from "../../state/ports/store.ts";
import { ConsoleSchema, resolveConsole, type ConsoleConfig } from "./options.ts";
import { ADMIN_PATH, CONSOLE_PATH, CONSOLE_PLACES } from "./paths.ts";
import type { ConsoleEndpoint } from "./console-endpoint.ts";
import type { CallRecording } from "./parts.ts";
import { CONSOLE_PARTS, WORK_PARTS } from "./services.ts";

const SECTIONS = { console: Type.Optional(ConsoleSchema) };

/** The web console at `/console`, and its API at `/api/admin`. */
const CONSOLE_ENDPOINT = defineEndpoint({
  schema: SECTIONS,
  paths: [CONSOLE_PATH, ADMIN_PATH],
  uses: [HUB, TOOLS, ACCESS, STARTED_AT, SIGN_INS, REQUEST_RELAY, CONSOLE_PARTS, WORK_PARTS],
  resolve: (config) => {
    const options = resolveConsole(config.console);
    return options.enabled ? options : undefined;
  },
  open: async (options, { consoleParts, workParts, requestRelay, ...serving }) => {
    const { recording, ...hubParts } = consoleParts;
    const { isServable, homePage, describeAdmin, NO_ENDPOINT } = await import("./home-redirect.ts");
    if (!(await isServable(serving.access))) return NO_ENDPOINT;
    const parts = { ...hubParts, ...workParts, ...serving };
    // Loaded when the OpenAPI document is requested, because most hubs never serve it.
    const operations = new Late(async () => {
      const { adminOperations } = await import("./api/admin-routes.ts");
      return adminOperations({ ...parts, recentCalls: undefined });
    });
    describeAdmin(serving.access, () => operations.get());
    if (recording) recording.isInUse = true;
    const endpoint: Late<ConsoleEndpoint> = new Late(async () => {
      const { ConsoleEndpoint } = await import("./console-endpoint.ts");
      return new ConsoleEndpoint({ ...parts, hubs, recentCalls: await recording?.recorder.get() }, options);
    });
    const hubs =
      requestRelay && (await import("./hubs/join-hubs.ts")).joinHubs(requestRelay, workParts.state, endpoint);
    const late = new LateEndpoint({
      places: CONSOLE_PLACES,
      refusalBody: refusalText,
      load: () => endpoint.get(),
    });
    return Object.assign(late, { pages: [homePage], drain: () => hubs?.list.leave() });
  },
});

/** Hands services to the console, which would otherwise use more services than one part may. */
export const CONSOLE_WORK = defineFeature({
  name: "console-work",
  uses: [TASKS, SCHEDULES, AUTH_SERVER, ROLE_NAMES, CHAT, PROFILES, STATE],
  provides: [WORK_PARTS],
  start: ({ authServer, ...services }, config: () => { readonly auth?: HubAuthConfig }) => {
    const findServer = (): AuthServerHandle | undefined =>
      resolveAuth(config().auth).builtin ? authServer() : undefined;
    return { services: { workParts: { ...services, authServer: findServer } } };
  },
});

export const CONSOLE = defineFeature({
  name: "console",
  uses: [AUDIT, VARIABLES, LOGGER, LOG_FEED, CALL_STATISTICS, REDACT_FACTS, GET_HUB, HUB_CONTROL],
  provides: [CONSOLE_PARTS],
  endpoints: [CONSOLE_ENDPOINT],
  start: (services, config: () => { readonly console?: ConsoleConfig }) => {
    const { enabled, keptCalls } = resolveConsole(config().console);
    if (!enabled) return { services: { consoleParts: { ...services, recording: undefined } } };
    const load = async () => new (await import("./recorder/call-recorder.ts")).CallRecorder(keptCalls);
    const recording: CallRecording = { recorder: new Late(load), isInUse: false };
    return {
      services: { consoleParts: { ...services, recording } },
      stages: [
        { after: "record", load: async () => (await import("./recorder/timing-stage.ts")).timingStage(recording) },
      ],
      onEveryCall: (seen, { times }) => recording.recorder.made?.add(seen, times),
    };
  },
});
