// Truncated texts stay well formed: no surface sends a lone surrogate at any limit.
import { expect, test } from "vitest";
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import { openTarget, openUpstream, say, tool } from "./attack.ts";

/** A lone surrogate as JSON escapes it or as UTF-8 replaces it. */
const HALF = /\\ud[89a-f][0-9a-f]{2}|\p{Surrogate}|\ufffd/iu;

/** Long texts in which each limit once separates a surrogate pair. */
const LONG = [0, 1].map((odd) => "x".repeat(odd) + "😀".repeat(6_000));

test.each(LONG)("no list, error, page, search or log line contains a lone surrogate (%#)", async (long) => {
  await using first = await openUpstream({
    instructions: long,
    tools: [
      tool("t", {
        title: long,
        description: long,
        inputSchema: { type: "object", properties: { a: { enum: [long] } } },
      }),
      tool("fails"),
    ],
    resources: [{ uri: "doc://a", name: long, description: long }],
    prompts: [{ name: "p", description: long }],
    answer: (method, params): JsonObject | undefined => {
      if (method === "prompts/get") return { error: { code: -32_603, message: long } };
      if (method !== "tools/call") return undefined;
      return params["name"] === "fails"
        ? { result: { ...say(long), isError: true } }
        : { error: { code: 1, message: long } };
    },
  });
  await using second = await openUpstream({ instructions: long, tools: [tool("t")] });
  await using target = await openTarget({
    mcp: {
      remote_servers: [
        { namespace: "up", url: first.url },
        { namespace: "two", url: second.url },
      ],
    },
    catalog: { max_description_chars: 501 },
  });
  await target.hub.list();
  const answers: unknown[] = [];
  for (const era of ["legacy", "modern"] as const) {
    const client = await target.client(undefined, { era });
    answers.push(
      client.opening,
      await client.request("tools/list"),
      await client.request("resources/list"),
      await client.request("prompts/list"),
      await client.request("tools/call", { name: "tool_search", arguments: { query: long } }),
      await client.request("tools/call", { name: "up__t", arguments: { a: "no" } }),
      await client.request("tools/call", { name: "up__fails", arguments: { [long]: long } }),
      await client.request("tools/call", { name: long, arguments: {} }),
      await client.request("resources/read", { uri: `doc://${long}` }),
      await client.request("prompts/get", { name: "up__p" }),
    );
  }
  const paths = ["/openapi.json", "/status", "/", "/docs"];
  for (const path of paths) answers.push((await target.send({ method: "GET", path })).body);
  answers.push(JSON.stringify(target.hub.sources()), await target.log(), await target.audit());
  for (const answer of answers) expect(JSON.stringify(answer).match(HALF)).toBeNull();
});
