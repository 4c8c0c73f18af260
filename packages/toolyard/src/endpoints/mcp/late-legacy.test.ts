import { expect, test, vi } from "vitest";
import { LateLegacy } from "./late-legacy.ts";

const steps: string[] = [];

vi.mock("./legacy/legacy-endpoint.ts", () => ({
  LegacyEndpoint: class {
    readonly http = {
      get: () => void steps.push("get"),
      drain: () => void steps.push("drain"),
    };

    giveUp(): void {
      steps.push("giveUp");
    }

    close(): void {
      steps.push("close");
    }
  },
}));

test.each([
  ["before the first request", 0],
  ["while the first request loads the endpoint", 1],
  ["after the first request", 2],
])("calls drain, giveUp and close in this order if the hub ends %s", async (_when, at) => {
  steps.length = 0;
  const legacy = new LateLegacy({} as never);
  const end = (): void => {
    legacy.drain();
    legacy.giveUp();
    legacy.close();
  };
  if (at === 0) end();
  const served = legacy.get({} as never);
  if (at === 1) end();
  await served;
  if (at === 2) end();
  const ended = ["drain", "giveUp", "close"];
  expect(steps).toEqual(at === 2 ? ["get", ...ended] : [...ended, "get"]);
});
