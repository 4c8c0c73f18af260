// Memory and processes of unused sessions, compared with the limits in bench/README.md.
import { mkdtemp, rm } from "node:fs/promises";
import { Agent } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openSessions, startSessionHub } from "../../bench/parts/sessions.mjs";

test("1000 idle legacy sessions use at most 24 KB each, and leave no more processes than one session", async () => {
  const home = await mkdtemp(join(tmpdir(), "toolyard-sessions-"));
  const agent = new Agent({ keepAlive: true, maxSockets: 16 });
  const hub = await startSessionHub(home);
  onTestFinished(async () => {
    agent.destroy();
    hub.stop();
    await rm(home, { recursive: true, force: true });
  });
  await openSessions(hub.url, agent, { count: 100, calls: true });
  const before = await hub.look();
  await openSessions(hub.url, agent, { count: 1000, calls: true });
  const after = await hub.look();
  expect((after.heapBytes - before.heapBytes) / 1000).toBeLessThan(24 * 1024);
  expect([before.children, after.children]).toEqual([1, 1]);
});
