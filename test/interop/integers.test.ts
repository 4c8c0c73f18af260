// The hub passes integers beyond 2^53 on digit for digit: both eras, both transports, both directions, every kind of
// message. The server and the client of these tests never parse a number.
import { fileURLToPath } from "node:url";
import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { SILENT_LOGGER } from "../../packages/toolyard/src/core/ports/ports.ts";
import { loadHubConfig, openHub, type Hub } from "../../packages/toolyard/src/hub/open-hub.ts";
import { serveHttp, type ServedHttp } from "../../packages/toolyard/src/hub/serve/serve.ts";
import { rawMember } from "../fixtures/raw/raw-json.mjs";
import { startChildServer, type ChildServer } from "../fixtures/served-hub.ts";
import { jsonText } from "../support/json-text.ts";
import { ToolFolder } from "../support/tool-folder.ts";
import { httpTexts, pipeTexts, RawTextClient, type TextClientOptions } from "./raw-text-client.ts";
import { settled } from "../../packages/toolyard/src/hub/sources/settled.ts";

const SERVER = fileURLToPath(new URL("../fixtures/upstreams/integers.mjs", import.meta.url));
const LONG = "9007199254740993";

/** Values of arguments, each of which must be returned unchanged. */
const VALUES: Readonly<Record<string, string>> = {
  safe: "9007199254740991",
  first: "9007199254740992",
  odd: LONG,
  negative: `-${LONG}`,
  int64: "9223372036854775807",
  leastInt64: "-9223372036854775808",
  uint64: "18446744073709551615",
  id: "7795506888185572399",
  thirty: "123456789012345678901234567890",
  round: "100000000000000000000",
  hundred: `-1${"0".repeat(99)}`,
  list: `[${LONG},[1,-${LONG},[]],"${LONG}",0]`,
  object: `{"id":${LONG},"text":"${LONG}","inner":{"ids":[${LONG}]}}`,
  name: `{"${LONG}":${LONG}}`,
  quoted: `"${LONG}"`,
  escaped: `"\\",${LONG},\\\\"`,
  unicode: `"ü ${LONG} 漢字"`,
  empty: `{"":${LONG},"__proto__":${LONG}}`,
};
const ARGUMENTS = `{${Object.entries(VALUES)
  .map(([name, value]) => `"${name}":${value}`)
  .join(",")}}`;

const UPSTREAMS = ["legacy-stdio", "modern-stdio", "legacy-http", "modern-http"] as const;

const folder = new ToolFolder();
const servers: ChildServer[] = [];
let hub: Hub;
let endpoint: ServedHttp;
let withWorkers: ServedHttp;

beforeAll(async () => {
  const remote = await Promise.all(
    ["legacy", "modern"].map(async (era) => {
      const server = await startChildServer([process.execPath, SERVER, era, "http"]);
      servers.push(server);
      return { alias: `${era}-http`, namespace: `${era}-http`, url: server.url };
    }),
  );
  const stdio = Object.fromEntries(
    ["legacy", "modern"].map((era) => [`${era}-stdio`, { command: [process.execPath, SERVER, era, "stdio"] }]),
  );
  const variables = { PATH: process.env["PATH"] ?? "", HOME: folder.path, TOOLYARD_HOME: `${folder.path}/home` };
  const flags = {
    rest: { routes: { "GET /by-query": "legacy-stdio__typed" } },
    builtin: { execute_code: false },
    mcp: { stdio_servers: stdio, remote_servers: remote },
  };
  hub = await openHub({
    config: await loadHubConfig({ files: [], variables, flags }),
    variables,
    logger: SILENT_LOGGER,
  });
  await settled(hub, 60_000);
  endpoint = await serveHttp(hub, { port: 0 });
  withWorkers = await serveHttp(hub, { port: 0, workers: 2 });
}, 90_000);

afterAll(async () => {
  await Promise.all([endpoint.close(0), withWorkers.close(0)]);
  await hub.close();
  await Promise.all(servers.map((server) => server[Symbol.asyncDispose]()));
  folder[Symbol.dispose]();
});

const ENDPOINTS: Readonly<Record<string, (options: TextClientOptions) => Promise<RawTextClient>>> = {
  HTTP: (options) => RawTextClient.open(httpTexts(`${endpoint.address.url}/mcp`), options),
  "HTTP with workers": (options) => RawTextClient.open(httpTexts(`${withWorkers.address.url}/mcp`), options),
  stdio: (options) => RawTextClient.open(pipeTexts(hub), options),
};

const call = (tool: string, args: string, meta = ""): string =>
  `{"name":"${tool}","arguments":${args}${meta === "" ? "" : `,"_meta":{${meta}}`}}`;

describe.each(["legacy", "modern"] as const)("a %s client", (era) => {
  describe.each(Object.keys(ENDPOINTS))("on %s", (endpoint) => {
    let client: RawTextClient;
    beforeAll(async () => {
      client = await ENDPOINTS[endpoint]!({ era, answer: `{"id":${VALUES["uint64"]}}` });
    });
    afterAll(() => client.close());

    test.each(UPSTREAMS)("exchanges exact integers with %s in arguments, results, _meta and ids", async (source) => {
      const meta = `"example.test/in":${ARGUMENTS}`;
      for (const id of [`${LONG}${UPSTREAMS.indexOf(source)}`, "-18446744073709551616", `"${LONG}"`]) {
        const reply = await client.request(id, "tools/call", call(`${source}__echo`, ARGUMENTS, meta));
        expect(rawMember(reply, "id")).toBe(id);
        expect(rawMember(reply, "result", "structuredContent")).toBe(ARGUMENTS);
        expect(rawMember(reply, "result", "x-own")).toBe(ARGUMENTS);
        expect(rawMember(reply, "result", "_meta", "example.test/out")).toBe(ARGUMENTS);
        const content = rawMember(reply, "result", "content")!;
        expect(content).toContain(`"example.test/same":${ARGUMENTS}`);
        expect(JSON.parse(rawMember(content.slice(1, -1), "text")!)).toBe(ARGUMENTS);
      }
    });

    test.each(UPSTREAMS)("exchanges random JSON with %s unchanged", async (source) => {
      let last = 0;
      await fc.assert(
        fc.asyncProperty(jsonText(), async (value) => {
          const id = `"random ${(last += 1)}"`;
          const reply = await client.request(id, "tools/call", call(`${source}__echo`, `{"value":${value}}`));
          expect(rawMember(reply, "result", "structuredContent")).toBe(`{"value":${value}}`);
        }),
        { seed: 7, numRuns: 25 },
      );
    });

    test.each(UPSTREAMS)("receives exact integers of %s in progress, logs and error data", async (source) => {
      const token = "7795506888185572399";
      client.heard.length = 0;
      await client.request("101", "tools/call", call(`${source}__notify`, ARGUMENTS, `"progressToken":${token}`));
      const progress = client.heard.find((text) => text.includes("notifications/progress"))!;
      expect(rawMember(progress, "params", "progressToken")).toBe(token);
      expect(rawMember(progress, "params", "total")).toBe(LONG);
      expect(rawMember(progress, "params", "_meta", "example.test/same")).toBe(ARGUMENTS);
      const log = client.heard.find((text) => text.includes("notifications/message"));
      if (log !== undefined) expect(rawMember(log, "params", "data")).toBe(ARGUMENTS);
      const failed = await client.request(LONG, "tools/call", call(`${source}__fail`, ARGUMENTS));
      expect(rawMember(failed, "id")).toBe(LONG);
      expect(rawMember(failed, "error", "data", "given")).toBe(ARGUMENTS);
    });

    test.each(UPSTREAMS)("lists and reads exact integers of %s", async (source) => {
      const tools = await client.request('"tools"', "tools/list", "{}");
      expect(tools).toContain('"minimum":-9223372036854775808,"maximum":18446744073709551615');
      expect(tools).toContain(`"one":{"enum":[${LONG},{"id":${LONG}}]},"same":{"const":${LONG}}`);
      expect(tools).toContain(`"preset":{"type":"integer","default":${LONG}}`);
      const resources = await client.request('"resources"', "resources/list", "{}");
      expect(resources).toContain(`"size":${LONG}`);
      const prompt = await client.request('"prompt"', "prompts/get", `{"name":"${source}__one"}`);
      expect(prompt).toContain(`"_meta":{"example.test/long":${LONG}}`);
    });

    test.each(UPSTREAMS)(
      "arguments for %s are checked against long limits and constants, and get long defaults",
      async (source) => {
        const ask = (id: string, args: string): Promise<string> =>
          client.request(`"${id}"`, "tools/call", call(`${source}__typed`, args));
        const fitting = `{"id":18446744073709551615,"one":${LONG},"same":${LONG},"preset":5}`;
        expect(rawMember(await ask("fits", fitting), "result", "structuredContent")).toBe(fitting);
        const given = await ask("default", `{"id":-9223372036854775808,"one":{"id":${LONG}}}`);
        expect(rawMember(given, "result", "structuredContent")).toBe(
          `{"id":-9223372036854775808,"one":{"id":${LONG}},"preset":${LONG}}`,
        );
        for (const [args, words] of [
          ['{"id":18446744073709551616}', "`id` must be <= 18446744073709551615"],
          ['{"id":-9223372036854775809}', "`id` must be >= -9223372036854775808"],
          ['{"id":1,"one":9007199254740992}', `\`one\` must be one of ${LONG}`],
          ['{"id":1,"same":9007199254740994}', `\`same\` must be ${LONG}`],
          ['{"id":1e400}', "beyond the range of a double"],
        ] as const)
          expect(await ask("refused", args)).toContain(words);
      },
    );

    test.each(UPSTREAMS)("answers a server request of %s with exact integers", async (source) => {
      client.heard.length = 0;
      let reply = await client.request('"asks"', "tools/call", call(`${source}__ask`, ARGUMENTS));
      if (era === "modern") {
        expect(reply).toContain('"maximum":18446744073709551615');
        const state = rawMember(reply, "result", "requestState");
        const requests = rawMember(reply, "result", "inputRequests")!;
        const [key = ""] = Object.keys(JSON.parse(requests) as object);
        const answer = `{"${key}":{"action":"accept","content":{"id":18446744073709551615}}}`;
        const again = (args: string): string =>
          `${call(`${source}__ask`, args).slice(0, -1)},"inputResponses":${answer},"requestState":${state}}`;
        reply = await client.request('"answers"', "tools/call", again(ARGUMENTS));
      } else {
        const question = client.heard.find((text) => text.includes("elicitation/create"))!;
        expect(rawMember(question, "params", "requestedSchema", "properties", "id", "maximum")).toBe(
          "18446744073709551615",
        );
        expect(rawMember(question, "params", "_meta", "example.test/long")).toBe(LONG);
      }
      expect(rawMember(reply, "result", "structuredContent")).toBe('{"id":18446744073709551615}');
    });
  });
});

test("a sealed state is refused for arguments that differ beyond 2^53", async () => {
  await using client = await ENDPOINTS["HTTP"]!({ era: "modern" });
  const reply = await client.request("1", "tools/call", call("legacy-stdio__ask", `{"id":${LONG}}`));
  const state = rawMember(reply, "result", "requestState");
  const [key = ""] = Object.keys(JSON.parse(rawMember(reply, "result", "inputRequests")!) as object);
  const again = (id: string): string =>
    `${call("legacy-stdio__ask", `{"id":${id}}`).slice(0, -1)},"inputResponses":{"${key}":{"action":"decline"}},` +
    `"requestState":${state}}`;
  expect(await client.request("2", "tools/call", again("9007199254740992"))).toContain('"error"');
});

test("runs requests with ids that round to one double concurrently, and cancels them one by one", async () => {
  await using client = await ENDPOINTS["HTTP"]!({ era: "legacy" });
  const ids = [LONG, "9007199254740992"] as const;
  const [one, other] = ids.map((id) => client.request(id, "tools/call", call("legacy-stdio__hang", "{}")));
  await client.request("1", "ping", "{}");
  await client.notify("notifications/cancelled", `{"requestId":${ids[1]}}`);
  expect(rawMember((await other)!, "id")).toBe(ids[1]);
  await client.notify("notifications/cancelled", `{"requestId":${ids[0]}}`);
  expect(rawMember((await one)!, "id")).toBe(ids[0]);
});

const KEPT = ["1.0", "1.10", "1e400", "-0", "0.1000000000000000055", "1e-7", `${LONG}.0`, "100E2", LONG];

test.each(KEPT)("passes on a result with the number %s unchanged", async (number) => {
  const json = `{"n":${number},"list":[${number}]}`;
  const args = JSON.stringify({ json });
  for (const era of ["legacy", "modern"] as const)
    for (const endpoint of Object.values(ENDPOINTS)) {
      await using client = await endpoint({ era });
      const reply = await client.request("1", "tools/call", call("modern-http__raw", args));
      expect(rawMember(reply, "result", "structuredContent")).toBe(json);
    }
  const post = async (path: string, body: string): Promise<string> => {
    const headers = { "content-type": "application/json" };
    return (await fetch(`${endpoint.address.url}${path}`, { method: "POST", headers, body })).text();
  };
  expect(await post("/api/tools/legacy-http__raw", args)).toBe(json);
  expect(rawMember(await post("/api/tools/legacy-http__raw?full=1", args), "structuredContent")).toBe(json);
  const rpc = await post("/jsonrpc", `{"jsonrpc":"2.0","id":${LONG},"method":"legacy-stdio__raw","params":${args}}`);
  expect([rawMember(rpc, "id"), rawMember(rpc, "result")]).toEqual([LONG, json]);
});

test("REST accepts long integers in a query and in a body, and returns them", async () => {
  const url = `${endpoint.address.url}/api/tools/legacy-stdio__typed`;
  const headers = { "content-type": "application/json" };
  const args = `{"id":18446744073709551615,"preset":${LONG}}`;
  expect(await (await fetch(url, { method: "POST", headers, body: args })).text()).toBe(args);
  const refused = await fetch(url, { method: "POST", headers, body: '{"id":18446744073709551616}' });
  expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining("18446744073709551615")]);
  const query = await fetch(`${endpoint.address.url}/by-query?id=18446744073709551615&preset=${LONG}`);
  expect(await query.text()).toBe(args);
  const openApi = await (await fetch(`${endpoint.address.url}/openapi.json`)).text();
  expect(openApi).toContain('"minimum":-9223372036854775808,"maximum":18446744073709551615');
  expect(openApi).toContain(`"default":${LONG}`);
  const tooLong = await fetch(url, { method: "POST", headers, body: `{"id":1${"0".repeat(4300)}}` });
  expect([tooLong.status, await tooLong.text()]).toEqual([400, expect.stringContaining("4300 digits")]);
});
