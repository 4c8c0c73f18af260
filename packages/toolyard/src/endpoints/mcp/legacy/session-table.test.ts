import { LOCAL_PRINCIPAL } from "../../../core/calls/call.ts";
import { expect, test } from "vitest";
import { SessionTable, type TableEntry } from "./session-table.ts";

function session(id: string, principalId = "local", state: Partial<TableEntry> = {}): TableEntry {
  const now = performance.now();
  return {
    id,
    principalId,
    isIdle: true,
    isBusy: false,
    lastSeenAt: now,
    usedAt: now,
    list: () => {},
    close: () => {},
    ...state,
  };
}

const ids = (table: SessionTable<TableEntry>): string[] => Array.from(table, ({ id }) => id);
const PRINCIPAL = LOCAL_PRINCIPAL;

test("a full table ends the least recently used session", () => {
  const table = new SessionTable<TableEntry>({ idleMs: 60_000, maxSessions: 3 });
  for (const id of ["a", "b", "c"]) void table.add(session(id));
  table.use("a", PRINCIPAL);
  void table.add(session("d"));
  expect(ids(table)).toEqual(["a", "c", "d"]);
});

test("evicts sessions with an open stream in the same order, also after a sweep", () => {
  const table = new SessionTable<TableEntry>({ idleMs: 60_000, maxSessions: 2 });
  for (const id of ["a", "b"]) void table.add(session(id, "local", { isIdle: false }));
  table.use("a", PRINCIPAL);
  table.sweep(performance.now());
  void table.add(session("c"));
  expect(ids(table)).toEqual(["a", "c"]);
});

test("refuses a new session if all sessions of the table are answering", () => {
  const table = new SessionTable<TableEntry>({ idleMs: 60_000, maxSessions: 1 });
  void table.add(session("a", "local", { isIdle: false, isBusy: true }));
  expect([table.add(session("b")), ids(table)]).toEqual([false, ["a"]]);
});

test("evicts from the principal with the most sessions", () => {
  const table = new SessionTable<TableEntry>({ idleMs: 60_000, maxSessions: 3 });
  void table.add(session("quiet", "other"));
  void table.add(session("a"));
  void table.add(session("b"));
  void table.add(session("c", "third"));
  expect(ids(table)).toEqual(["quiet", "b", "c"]);
});
