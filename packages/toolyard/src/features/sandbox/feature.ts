import { Type } from "../../core/options/option-schema.ts";
import { ACCESS_PLAN } from "../../core/services.ts";
import { defineFeature } from "../../kernel/feature.ts";
import { SANDBOX_STARTS, SandboxSchema } from "../../sandbox/options.ts";
import { SANDBOX as SANDBOX_KEY } from "../../sandbox/service.ts";
import { LiveSandbox, type SandboxReads } from "./live-sandbox.ts";

/** Feature: runs code written by models. */
export const SANDBOX = defineFeature({
  name: "sandbox",
  schema: { sandbox: Type.Optional(Type.Table(SandboxSchema, { starts: SANDBOX_STARTS })) },
  uses: [ACCESS_PLAN],
  provides: [SANDBOX_KEY],
  start: ({ accessPlan }, config: () => SandboxReads) => {
    const sandbox = new LiveSandbox(
      () => config().sandbox,
      () => accessPlan().principals,
    );
    return { services: { sandbox: () => sandbox.current() }, close: () => sandbox.close() };
  },
});
