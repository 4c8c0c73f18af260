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

/** A hub whose source comes right after the hub was asked what it is, while somebody else is still waited for. */
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

test("a source that comes while others are waited for is in what a handshake says", async () => {
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

test("a hub whose sources are there is asked once", async () => {
  const hub = new Overtaken();
  hub.sourceReports = [report("ready")];
  await readOffer(hub, VIEW);
  expect(hub.asked).toBe(1);
});

test("without the promise to tell of changes the rest of the capabilities stays", () => {
  expect(
    withoutListChanges({
      tools: { listChanged: true },
      resources: { listChanged: true, subscribe: true },
      logging: {},
    }),
  ).toEqual({ tools: {}, resources: { subscribe: true }, logging: {} });
});
