import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { fixture, isAlive, run, type Running, type RunWish } from "../../../../../test/fixtures/upstreams/harness.ts";
import { resolveStdioServer } from "./options.ts";

const saving = fixture("saving");

interface Stage {
  readonly server: Running;
  readonly journal: string;
  /** Returns the events of the server's processes, in order. */
  events(): Promise<string[]>;
}

async function start(flags: readonly string[], options: RunWish["options"] = {}): Promise<Stage> {
  const folder = await mkdtemp(join(tmpdir(), "toolyard-end-"));
  const journal = join(folder, "journal");
  const server = run(saving, [journal, ...flags], { options });
  onTestFinished(async () => {
    await server.provider.close();
    await rm(folder, { recursive: true, force: true });
  });
  const events = async (): Promise<string[]> =>
    (await readFile(journal, "utf8"))
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => line.slice(line.indexOf(" ") + 1));
  return { server, journal, events };
}

/** Ends the server after a call, and returns its events. */
async function eventsOfEnd({ server, events }: Stage): Promise<string[]> {
  const pid = Number(await server.text("pid"));
  await server.provider.close();
  expect(isAlive(pid)).toBe(false);
  return events();
}

test("accepts stop_grace up to 10 minutes, 5 s by default", () => {
  expect(resolveStdioServer({ command: "x" }).stopGraceMs).toBe(5000);
  expect(resolveStdioServer({ command: "x", stop_grace: "0s" }).stopGraceMs).toBe(0);
  expect(resolveStdioServer({ command: "x", stop_grace: "10m" }).stopGraceMs).toBe(600_000);
  expect(() => resolveStdioServer({ command: "x", stop_grace: "11m" })).toThrow("stop_grace");
  expect(() => resolveStdioServer({ command: "x", stop_grace: "soon" })).toThrow("stop_grace");
});

test("sends no SIGTERM to a server that saves after the end of its input", async () => {
  expect(await eventsOfEnd(await start(["saves-ms=700"]))).toEqual(["started", "input ended", "saved"]);
});

test("sends no SIGTERM to a server that exits immediately", async () => {
  const stage = await start([], { stop_grace: "10m" });
  expect(await eventsOfEnd(stage)).toEqual(["started", "input ended", "saved"]);
});

test("sends SIGTERM after stop_grace to a server that ignores the end of its input", async () => {
  const stage = await start(["stays"], { stop_grace: "100ms" });
  expect(await eventsOfEnd(stage)).toEqual(["started", "input ended", "SIGTERM"]);
});

test("kills a server that also ignores SIGTERM", async () => {
  const stage = await start(["stays", "traps"], { stop_grace: "100ms" });
  expect(await eventsOfEnd(stage)).toEqual(["started", "input ended", "SIGTERM"]);
});

test("sends SIGTERM early to a server that keeps sending requests after its input ended", async () => {
  const stage = await start(["stays", "asks"], { stop_grace: "10m" });
  expect(await eventsOfEnd(stage)).toEqual(["started", "input ended", "SIGTERM"]);
});

test("gives more time to a server that saves after it sent a request after the end of its input", async () => {
  expect(await eventsOfEnd(await start(["asks", "saves-ms=200"]))).toEqual(["started", "input ended", "saved"]);
});

test("sends SIGTERM to a server that takes longer than stop_grace to save", async () => {
  const stage = await start(["saves-ms=60000"], { stop_grace: "100ms" });
  expect(await eventsOfEnd(stage)).toEqual(["started", "input ended", "SIGTERM"]);
});

test("gives a server its time to save even if the program that started it exits first", async () => {
  const { server, events } = await start(["wrapped", "saves-ms=700"]);
  await server.text("pid");
  await server.provider.close();
  expect(await events()).toEqual(["started", "input ended", "saved"]);
});

test("ends a server that was never ready without stop_grace", async () => {
  const stage = await start(["mute", "stays"], { stop_grace: "10m", connect_timeout: "300ms", era: "legacy" });
  expect(await stage.server.call("pid")).toMatchObject({ ok: false, kind: "unavailable" });
  await expect.poll(stage.events).toContain("SIGTERM");
});

test("lets an idle server save before its successor starts", async () => {
  const { server, events } = await start(["saves-ms=500"], { start: "lazy", idle_stop: "50ms" });
  expect(await server.text("loaded")).toBe("nothing");
  await expect.poll(events).toContain("input ended");
  expect(await server.text("loaded")).toMatch(/ saved$/);
});

test("gives each process of a source with session isolation its time to save", async () => {
  const stage = await start(["saves-ms=500"], { isolation: "session" });
  await stage.server.text("pid", {}, { client: { connection: "a" } });
  await stage.server.text("pid", {}, { client: { connection: "b" } });
  stage.server.provider.release!("a");
  await stage.server.provider.close();
  const saved = async () => (await stage.events()).filter((event) => event === "saved");
  await expect.poll(saved).toHaveLength(3);
  expect(await stage.events()).not.toContain("SIGTERM");
});

test("gives several servers that are closed together their time to save", async () => {
  const stages = await Promise.all(Array.from({ length: 5 }, () => start(["saves-ms=700"])));
  await Promise.all(stages.map(({ server }) => server.text("pid")));
  await Promise.all(stages.map(({ server }) => server.provider.close()));
  const all = await Promise.all(stages.map(({ events }) => events()));
  expect(all).toEqual(stages.map(() => ["started", "input ended", "saved"]));
});
