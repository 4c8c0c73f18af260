import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { OptionError } from "../../core/errors.ts";
import { createHub, type LibraryHub } from "../create-hub.ts";
import { FEATURES } from "../features.ts";
import { endpointsOf, fixedPaths, wantedEndpoints } from "./endpoints.ts";
import type { ServedFetch } from "./fetch.ts";

const paths = fixedPaths(FEATURES).filter((path) => path !== "/");

describe("fixed paths of the endpoints", () => {
  let hub: LibraryHub;
  let served: ServedFetch;

  beforeAll(async () => {
    hub = await createHub({ variables: {}, settings: { server: { jsonrpc: true } } });
    served = await hub.serveFetch();
  });

  afterAll(() => hub.close());

  const isServed = async (path: string): Promise<boolean> => {
    const answer = await served.fetch(new Request(`http://127.0.0.1${path}`, { method: "HEAD" }));
    return answer.status !== 404;
  };

  // The API of the console has no content at its own path.
  const contentOf = (path: string): string => (path === "/api/admin" ? `${path}/overview` : path);

  test.each(paths)("serves %s", async (path) => {
    expect(await isServed(contentOf(path))).toBe(true);
  });

  test("serves no other path", async () => {
    expect(await isServed("/elsewhere")).toBe(false);
  });
});

test.each(paths)("refuses the REST route %s, which is a fixed path or below one", (path) => {
  for (const own of [path, `${path}/below`])
    expect(() => wantedEndpoints(FEATURES, { rest: { routes: { [`POST ${own}`]: "tool" } } })).toThrow(OptionError);
  expect(() => wantedEndpoints(FEATURES, { rest: { base_path: path } })).toThrow(OptionError);
});

test("permits a REST route that starts with the text of a fixed path", () => {
  const [path] = paths;
  expect(wantedEndpoints(FEATURES, { rest: { routes: { [`POST ${path}-of-mine`]: "tool" } } })).not.toEqual([]);
});

test.each(["profiles", "roles", "scopes"])("opens endpoints again if [%s] changes, and not otherwise", (section) => {
  const before = endpointsOf(FEATURES, { [section]: { a: { deny: ["x"] } }, limits: { in_flight: 1 } });
  expect(endpointsOf(FEATURES, { [section]: { a: { deny: ["y"] } } })).not.toBe(before);
  expect(endpointsOf(FEATURES, { [section]: { a: { deny: ["x"] } }, limits: { in_flight: 2 } })).toBe(before);
});
