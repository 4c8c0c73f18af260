import { expect, test } from "vitest";
import { LOCAL_PRINCIPAL } from "../../core/calls/call.ts";
import type { Rights } from "../../core/ports/rights.ts";
import type { ProviderKind } from "../../core/sources/provider-kinds.ts";
import type { Provider, ProviderStatus } from "../../core/sources/provider.ts";
import { unreadyServers } from "./unready-servers.ts";

const ago = (seconds: number): string => new Date(Date.now() - seconds * 1000).toISOString();

function server(id: string, status: ProviderStatus, kind: ProviderKind = "stdio"): Provider {
  return { source: { id, namespace: id, kind }, status: () => status } as unknown as Provider;
}

const MEMORY = server("memory", {
  state: "starting",
  installing: { package: "npx server-memory", since: ago(12), waitsFor: "npm" },
});
const JIRA = server("jira", { state: "down", lastError: "no such package.", since: ago(40) }, "http");

function linesFor(sources: readonly Provider[], rights?: Rights, listed: readonly string[] = []): readonly string[] {
  const principal = { ...LOCAL_PRINCIPAL, ...(rights && { rights }) };
  return unreadyServers(principal, { sources, separator: "__", isListed: (id) => listed.includes(id) });
}

test("returns a line with state, id, reason and time for each server that is not ready", () => {
  expect(linesFor([MEMORY, JIRA])).toEqual(["installing: memory, 12 s", "down: jira: no such package, 40 s"]);
});

test.each<[string, ProviderStatus, string[]]>([
  ["a ready server", { state: "ready" }, []],
  ["a server that is switched off", { state: "disabled" }, []],
  ["a closed server", { state: "closed" }, []],
  ["a starting server", { state: "starting" }, ["starting: a"]],
  ["a server that needs a sign-in", { state: "needs_authorisation", lastError: "see x" }, ["sign-in required: a"]],
  ["a failure without a reason", { state: "down" }, ["down: a"]],
  ["a reason of several lines", { state: "down", lastError: "one\n  two" }, ["down: a: one two"]],
  ["a time that is no date", { state: "down", since: "soon" }, ["down: a"]],
])("formats %s", (_title, status, lines) => {
  expect(linesFor([server("a", status)])).toEqual(lines);
});

test("omits servers with known tools while they start, and sources that are not servers", () => {
  expect(linesFor([server("a", { state: "starting" })], undefined, ["a"])).toEqual([]);
  expect(linesFor([server("a", { state: "down" })], undefined, ["a"])).toEqual(["down: a"]);
  expect(linesFor([server("scripts", { state: "down" }, "scripts")])).toEqual([]);
});

test("truncates long reasons and long lists", () => {
  expect(linesFor([server("a", { state: "down", lastError: "x".repeat(1000) })])[0]!.length).toBeLessThan(230);
  const many = Array.from({ length: 25 }, (_, index) => server(`s${index}`, { state: "down" }));
  expect(linesFor(many)).toHaveLength(21);
  expect(linesFor(many).at(-1)).toBe("and 5 more");
});

test.each<[Rights, string[]]>([
  [{ allow: ["jira__*"] }, ["down: jira, 40 s"]],
  [{ deny: ["jira__*"] }, ["installing: memory, 12 s"]],
  [{ allow: ["jira__read"] }, []],
  [{ allow: [] }, []],
])("a caller with %j gets the servers with tools that it may use, without reasons", (rights, lines) => {
  expect(linesFor([MEMORY, JIRA], rights)).toEqual(lines);
});
