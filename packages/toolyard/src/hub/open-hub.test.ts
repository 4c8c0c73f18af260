import { LOCAL_PRINCIPAL } from "../core/calls/call.ts";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { getService } from "../kernel/start-features.ts";
import { STATE, type HubState } from "../state/ports/store.ts";
import { callTo } from "../../../../test/support/pipeline.ts";
import { ToolFolder } from "../../../../test/support/tool-folder.ts";
import { SILENT_LOGGER, type Logger } from "../core/ports/ports.ts";
import { MemoryStore } from "../state/memory/memory-store.ts";
import { createHub } from "./create-hub.ts";
import { loadHubConfig, openHub, type Hub } from "./open-hub.ts";

async function listThere(url: string, home: string, logger: Logger = SILENT_LOGGER): Promise<string[]> {
  const variables = { TOOLYARD_HOME: home };
  const flags = { mcp: { remote_servers: [{ alias: "hub", namespace: "", url }] } };
  const hub = await openHub({
    config: await loadHubConfig({ files: [], variables: {}, flags }),
    variables,
    logger,
    lazy: true,
    mirror: true,
  });
  try {
    const { entries } = await hub.port.list("tools", { mode: "all", principal: LOCAL_PRINCIPAL });
    return entries.map(({ name }) => String(name));
  } finally {
    await hub.close();
  }
}

test("a hub that mirrors another one shows that hub's current list, not the stored one", async () => {
  const home = mkdtempSync(join(tmpdir(), "toolyard-mirror-"));
  using folder = new ToolFolder();
  folder.script("first", "main.sh", "echo first\n");
  const there = await createHub({
    settings: { server: { port: 0 }, scripts: { tools_path: folder.path } },
    variables: { TOOLYARD_HOME: home },
    logger: SILENT_LOGGER,
  });
  try {
    const { endpoint } = await there.serve();
    expect(await listThere(endpoint, home)).toContain("first");
    folder.script("second", "main.sh", "echo second\n");
    expect(await listThere(endpoint, home)).toContain("second");
    folder.remove("first");
    expect(await listThere(endpoint, home)).not.toContain("first");
  } finally {
    await there.close();
    rmSync(home, { recursive: true, force: true });
  }
});

test("logs no warning if the hub is closed immediately after a list request", async () => {
  const home = mkdtempSync(join(tmpdir(), "toolyard-mirror-"));
  const there = await createHub({
    settings: { server: { port: 0 } },
    variables: { TOOLYARD_HOME: home },
    logger: SILENT_LOGGER,
  });
  const warnings: string[] = [];
  const logger: Logger = { ...SILENT_LOGGER, warning: (message) => void warnings.push(message), with: () => logger };
  try {
    const { endpoint } = await there.serve();
    await listThere(`${endpoint}?tool_mode=show_all`, home, logger);
    expect(warnings).toEqual([]);
  } finally {
    await there.close();
    rmSync(home, { recursive: true, force: true });
  }
});

test("two hubs with one store count a caller's calls together, and the store keeps none for a closed hub", async () => {
  const home = mkdtempSync(join(tmpdir(), "toolyard-store-"));
  const store = new MemoryStore();
  const config = await loadHubConfig({ files: [], variables: {}, flags: { limits: { rate_per_minute: 2 } } });
  const open = (): Promise<Hub> =>
    openHub({ config, variables: { TOOLYARD_HOME: home }, logger: SILENT_LOGGER, store });
  const hubs = [await open(), await open()];
  try {
    const outcomes = [];
    for (const hub of [...hubs, hubs[0]!]) outcomes.push(await hub.port.call(callTo("tool_search", { query: "x" })));
    expect(outcomes.map((outcome) => (outcome.ok ? "ok" : outcome.kind))).toEqual(["ok", "ok", "limited"]);
    expect(stateOf(hubs[0]!).hub).not.toBe(stateOf(hubs[1]!).hub);
    void stateOf(hubs[0]!).parked.put("p");
    await hubs[0]!.close();
    expect(await stateOf(hubs[1]!).parked.find("p")).toMatchObject({ isAlive: false });
  } finally {
    for (const hub of hubs) await hub.close();
    rmSync(home, { recursive: true, force: true });
  }
});

function stateOf({ services }: Hub): HubState {
  return getService(services, STATE);
}
