import { Type } from "../../core/options/option-schema.ts";
import {
  ACCESS,
  AUDIT,
  CALL_STATISTICS,
  GET_HUB,
  HUB,
  HUB_CONTROL,
  LOG_FEED,
  LOGGER,
  PROFILES,
  REDACT_FACTS,
  SCHEDULES,
  SIGN_INS,
  STARTED_AT,
  TASKS,
  TOOLS,
  VARIABLES,
} from "../../core/services.ts";
import { defineEndpoint } from "../../endpoints/endpoint.ts";
import { LateEndpoint } from "../../endpoints/late-endpoint.ts";
import { refusalText } from "../../endpoints/rest/refusal-text.ts";
import { defineFeature } from "../../kernel/feature.ts";
import { ConsoleSchema, resolveConsole, type ConsoleConfig } from "./options.ts";
import { ADMIN_PATH, CONSOLE_PATH, CONSOLE_PLACES } from "./paths.ts";
import { CallRecorder } from "./recorder/call-recorder.ts";
import { timingStage } from "./recorder/timing-stages.ts";
import { CONSOLE_PARTS, WORK_PARTS } from "./services.ts";

const SECTIONS = { console: Type.Optional(ConsoleSchema) };

/** The web console at `/console`, and its API at `/api/admin`. */
const CONSOLE_ENDPOINT = defineEndpoint({
  schema: SECTIONS,
  paths: [CONSOLE_PATH, ADMIN_PATH],
  uses: [HUB, TOOLS, ACCESS, PROFILES, STARTED_AT, SIGN_INS, CONSOLE_PARTS, WORK_PARTS],
  resolve: (config) => {
    const options = resolveConsole(config.console);
    return options.enabled ? options : undefined;
  },
  open: async (options, { consoleParts, workParts, ...serving }) => {
    const services = { ...consoleParts, ...workParts, ...serving };
    const { isServable, homePage, NO_ENDPOINT } = await import("./home-redirect.ts");
    if (!(await isServable(services.access))) return NO_ENDPOINT;
    consoleParts.recentCalls?.use();
    const late = new LateEndpoint({
      places: CONSOLE_PLACES,
      refusalBody: refusalText,
      load: async () => new (await import("./console-endpoint.ts")).ConsoleEndpoint(services, options),
    });
    return Object.assign(late, { pages: [homePage] });
  },
});

/** Hands services to the console, which would otherwise use more services than one part may. */
export const CONSOLE_WORK = defineFeature({
  name: "console-work",
  uses: [TASKS, SCHEDULES],
  provides: [WORK_PARTS],
  start: (workParts) => ({ services: { workParts } }),
});

export const CONSOLE = defineFeature({
  name: "console",
  uses: [AUDIT, VARIABLES, LOGGER, LOG_FEED, CALL_STATISTICS, REDACT_FACTS, GET_HUB, HUB_CONTROL],
  provides: [CONSOLE_PARTS],
  endpoints: [CONSOLE_ENDPOINT],
  start: (services, config: () => { readonly console?: ConsoleConfig }) => {
    const { enabled, keptCalls } = resolveConsole(config().console);
    if (!enabled) return { services: { consoleParts: { ...services, recentCalls: undefined } } };
    const recentCalls = new CallRecorder(keptCalls);
    return {
      services: { consoleParts: { ...services, recentCalls } },
      stages: [timingStage(recentCalls)],
      onEveryCall: (seen, { times }) => recentCalls.add(seen, times),
    };
  },
});
