import { describe, expect, test } from "vitest";
import { serviceKey, servingKey } from "../core/service-key.ts";
import { LOGGER, VARIABLES } from "../core/services.ts";
import { defineEndpoint } from "../endpoints/endpoint.ts";
import { defineFeature } from "./feature.ts";
import { featureList } from "./feature-list.ts";
import { pickServices, startFeatures } from "./start-features.ts";

interface Bell {
  ring(): string;
}

const BELL = serviceKey<Bell>()("bell");
const PLACE_BELL = servingKey<Bell>()("placeBell");

const TOWER = defineFeature({
  name: "tower",
  provides: [BELL],
  start: () => ({ services: { bell: { ring: () => "ding" } } }),
});
const RINGER = defineFeature({
  name: "ringer",
  uses: [BELL],
  start: ({ bell }) => ({ onCall: () => void bell.ring() }),
});

describe("compiler checks", () => {
  test("accepts a list in which each service is provided by the kernel or by an earlier feature", () => {
    const reader = defineFeature({
      name: "reader",
      uses: [VARIABLES, BELL],
      start: ({ variables }) => ({ onCall: () => void variables }),
    });
    expect(featureList([TOWER, RINGER, reader]).map(({ name }) => name)).toEqual(["tower", "ringer", "reader"]);
    expect(featureList([])).toEqual([]);
  });

  test("refuses a feature before the one that provides its service", () => {
    // @ts-expect-error RINGER uses BELL, which nothing before it provides.
    expect(featureList([RINGER, TOWER])).toHaveLength(2);
  });

  test("refuses a feature if no feature provides a service that it uses", () => {
    // @ts-expect-error RINGER uses BELL, which no feature of this list provides.
    expect(featureList([RINGER])).toHaveLength(1);
  });

  test("refuses a feature whose start uses its own service", () => {
    const own = defineFeature({
      name: "own",
      uses: [BELL],
      provides: [BELL],
      start: ({ bell }) => ({ services: { bell } }),
    });
    // @ts-expect-error It provides BELL only after it has started.
    expect(featureList([own])).toHaveLength(1);
  });

  test("refuses an endpoint with a service from a later feature, and accepts one from the same feature", () => {
    const endpoint = defineEndpoint({
      schema: {},
      paths: ["/bell"],
      uses: [BELL],
      resolve: () => ({}),
      open: () => Promise.resolve(NO_ENDPOINT),
    });
    const page = defineFeature({ name: "page", endpoints: [endpoint] });
    const both = defineFeature({
      name: "both",
      provides: [BELL],
      endpoints: [endpoint],
      start: () => ({ services: { bell: { ring: () => "dong" } } }),
    });
    // @ts-expect-error The endpoint of `page` uses BELL, which comes after it.
    expect(featureList([page, TOWER])).toHaveLength(2);
    expect(featureList([both])).toHaveLength(1);
    expect(featureList([TOWER, page])).toHaveLength(2);
  });

  test("refuses a `start` that does not return the services that the feature provides", () => {
    const silent = defineFeature({
      name: "silent",
      provides: [BELL],
      // @ts-expect-error `services.bell` is missing.
      start: () => ({}),
    });
    const wrong = defineFeature({
      name: "wrong",
      provides: [BELL],
      // @ts-expect-error `ring` returns a string.
      start: () => ({ services: { bell: { ring: () => 1 } } }),
    });
    expect([silent.name, wrong.name]).toEqual(["silent", "wrong"]);
  });

  test("refuses a feature if its start uses a service that exists only per address", () => {
    const early = defineFeature({
      name: "early",
      // @ts-expect-error A service of a place exists only while the hub is served there.
      uses: [PLACE_BELL],
    });
    expect(early.uses).toEqual([PLACE_BELL]);
  });
});

const NO_ENDPOINT = { mount: () => {}, giveUp: () => {}, close: () => {} };

describe("list of features", () => {
  test("throws if two features provide the same service", () => {
    const other = defineFeature({
      name: "other",
      provides: [BELL],
      start: () => ({ services: { bell: { ring: () => "clang" } } }),
    });
    expect(() => featureList([TOWER, other])).toThrow("The features tower and other both provide `bell`.");
  });

  test("starts features in order with only the declared services, and ends them in reverse order", async () => {
    const seen: string[] = [];
    const first = defineFeature({
      name: "first",
      uses: [LOGGER],
      provides: [BELL],
      start: (services) => {
        seen.push(`first ${Object.keys(services).join()}`);
        return { services: { bell: { ring: () => "ding" } }, close: async () => void seen.push("end first") };
      },
    });
    const second = defineFeature({
      name: "second",
      uses: [BELL],
      start: ({ bell }, config: () => { readonly loud?: boolean }) => {
        seen.push(`second ${bell.ring()} ${config().loud}`);
        return { close: async () => void seen.push("end second") };
      },
    });
    const given = { [LOGGER.id]: console, [VARIABLES.id]: {} };
    const started = startFeatures([first, second], { services: given, config: () => ({ loud: true }) });
    await started.close();
    expect(seen).toEqual(["first logger", "second ding true", "end second", "end first"]);
    expect(Object.keys(started.services)).toEqual(["logger", "variables", "bell"]);
  });

  test("throws for a missing service if the compiler's check was bypassed", () => {
    expect(() => pickServices({ bell: 1 }, [VARIABLES])).toThrow("No feature provides the service `variables`.");
  });
});
