import { expect, test } from "vitest";
import { Emitter } from "../../core/events.ts";
import { ok } from "../../core/calls/outcome.ts";
import { SILENT_LOGGER } from "../../core/ports/ports.ts";
import type { Provider } from "../../core/sources/provider.ts";
import { EMPTY_LISTING } from "../../core/sources/records.ts";
import { SourceSet, type PlannedSource } from "./source-set.ts";

interface Life {
  readonly opened: string[];
  readonly closed: string[];
}

function planned(id: string, key: string, life: Life): PlannedSource {
  const provider: Provider = {
    source: { id, kind: "modules", namespace: id, order: 0 },
    events: { changed: new Emitter(), resourceUpdated: new Emitter(), log: new Emitter() },
    open: () => void life.opened.push(`${id}:${key}`),
    listing: () => EMPTY_LISTING,
    call: async () => ok({}),
    status: () => ({ state: "ready" }),
    close: async () => void life.closed.push(`${id}:${key}`),
  };
  return { id, kind: "modules", key, create: async () => provider };
}

const IGNORE = { onAdded: () => {}, onRemoved: () => {} };

test("a new plan starts new sources, replaces changed ones, ends removed ones and keeps the others", async () => {
  const life: Life = { opened: [], closed: [] };
  const set = new SourceSet(SILENT_LOGGER);
  await set.apply([planned("same", "1", life), planned("changed", "1", life), planned("gone", "1", life)], IGNORE);
  const untouched = set.find("same");
  const changes = await set.apply(
    [planned("same", "1", life), planned("changed", "2", life), planned("new", "1", life)],
    IGNORE,
  );
  expect(changes).toEqual({ added: ["new"], changed: ["changed"], removed: ["gone"] });
  expect(life.opened).toEqual(["same:1", "changed:1", "gone:1", "changed:2", "new:1"]);
  expect(life.closed.toSorted()).toEqual(["changed:1", "gone:1"]);
  expect(set.find("same")).toBe(untouched);
});

test("a source that cannot be created changes nothing, and the sources created before it are closed", async () => {
  const life: Life = { opened: [], closed: [] };
  const set = new SourceSet(SILENT_LOGGER);
  await set.apply([planned("a", "1", life)], IGNORE);
  const broken: PlannedSource = { id: "b", kind: "modules", key: "1", create: () => Promise.reject(new Error("no")) };
  await expect(set.apply([planned("a", "2", life), broken], IGNORE)).rejects.toThrow("no");
  expect(set.providers.map(({ source }) => source.id)).toEqual(["a"]);
  expect(life.opened).toEqual(["a:1"]);
  expect(life.closed).toEqual(["a:2"]);
});

test("notifies listeners of a source before it is opened, and before the replaced one ends", async () => {
  const heard: string[] = [];
  const life: Life = { opened: heard, closed: heard };
  const set = new SourceSet(SILENT_LOGGER);
  const events = { onAdded: () => void heard.push("added"), onRemoved: () => void heard.push("removed") };
  await set.apply([planned("a", "1", life)], events);
  await set.apply([planned("a", "2", life)], events);
  expect(heard).toEqual(["added", "a:1", "removed", "added", "a:2", "a:1"]);
});

test("close ends all sources once", async () => {
  const life: Life = { opened: [], closed: [] };
  const set = new SourceSet(SILENT_LOGGER);
  await set.apply([planned("a", "1", life), planned("b", "1", life)], IGNORE);
  await set.close();
  await set.close();
  expect(life.closed.toSorted()).toEqual(["a:1", "b:1"]);
});
