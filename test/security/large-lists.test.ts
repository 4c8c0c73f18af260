// Lists of a hostile server do not delay other callers: no turn of the event loop is long, and no caller waits for a
// list that it did not request.
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { watchLoop } from "../support/loop-stalls.ts";
import { openTarget, openUpstream, rpc, tool, JSON_HEADERS } from "./attack.ts";
import { LARGE_LISTS } from "./large-lists.ts";

/** A list may delay other callers by at most 50 ms; ten times that is allowed for busy machines. */
const MAX_STALL_MS = 500;

test.each(LARGE_LISTS)(
  "S18: $name: keeps the event loop responsive while listing, searching and describing it",
  async ({ tools }) => {
    await using server = disposable(await openUpstream({ tools: [tool("x")] }));
    await using stranger = disposable(await openUpstream({ tools }));
    await using target = await openTarget({ mcp: { remote_servers: [{ namespace: "up", url: server.url }] } });
    // The first use of each part takes time that is not caused by the list.
    const use = async (): Promise<readonly string[]> => {
      await target.hub.search("what it is for");
      const list = await target.send({ headers: JSON_HEADERS, path: "/jsonrpc", body: rpc("tools/list") });
      const document = await target.send({ method: "GET", path: "/openapi.json" });
      return [list.body, document.body];
    };
    await use();
    await nextTurn();
    using watch = watchLoop();
    await target.hub.addServer("stranger", { url: stranger.url });
    expect((await target.hub.list()).length).toBeGreaterThan(tools.length);
    const [, document] = await use();
    expect(document).toContain(`stranger__${String(tools[0]!["name"])}`);
    await nextTurn();
    expect(watch.longestMs()).toBeLessThan(MAX_STALL_MS);
  },
);

function disposable<T extends { close(): Promise<void> }>(one: T): T & AsyncDisposable {
  return Object.assign(one, { [Symbol.asyncDispose]: () => one.close() });
}
