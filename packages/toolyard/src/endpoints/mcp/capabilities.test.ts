import { expect, test } from "vitest";
import { HubStandIn } from "../../../../../test/fixtures/hub-stand-in.ts";
import { LOCAL_PRINCIPAL } from "../../core/calls/call.ts";
import type { ServerFacts, SourceReport } from "../../core/ports/hub-port.ts";
import { NO_FEATURES } from "../../core/sources/records.ts";
import { readOffer, withoutListChanges } from "./capabilities.ts";

const VIEW = { mode: "normal", principal: LOCAL_PRINCIPAL } as const;

function report(state: SourceReport["status"]["state"]): SourceReport {
  return {
    source: { id: "slow", kind: "stdio", namespace: "slow", order: 0 },
    status: { state },
    tools: 0,
    resources: 0,
    prompts: 0,
    problems: [],
  };
}

/** Hub in which one source becomes ready right after its capabilities were read, while another one is awaited. */
class Overtaken extends HubStandIn {
  asked = 0;

  override async facts(): Promise<ServerFacts> {
    this.asked += 1;
    const seen = this.serverFacts;
    this.sourceReports = [report("ready")];
    this.serverFacts = { ...seen, instructions: "Now it is there.", features: { ...NO_FEATURES, logging: true } };
    return seen;
  }
}

test("a handshake includes a source that becomes ready while others are awaited", async () => {
  const hub = new Overtaken();
  hub.serverFacts = { name: "hub", version: "1", features: NO_FEATURES };
  hub.sourceReports = [report("starting")];
  const { facts, capabilities } = await readOffer(hub, VIEW);
  expect([facts.instructions, capabilities["logging"], capabilities["completions"]]).toEqual([
    "Now it is there.",
    {},
    undefined,
  ]);
});

test("reads the capabilities once if all sources are ready", async () => {
  const hub = new Overtaken();
  hub.sourceReports = [report("ready")];
  await readOffer(hub, VIEW);
  expect(hub.asked).toBe(1);
});

test("keeps the other capabilities when `listChanged` is removed", () => {
  expect(
    withoutListChanges({
      tools: { listChanged: true },
      resources: { listChanged: true, subscribe: true },
      logging: {},
    }),
  ).toEqual({ tools: {}, resources: { subscribe: true }, logging: {} });
});
