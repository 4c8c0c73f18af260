import { expect, test, vi } from "vitest";
import { LOCAL_PRINCIPAL } from "../../../core/calls/call.ts";
import type { HubRelay } from "../../../http/relay/hub-relay.ts";
import { RELAY_HEADER, RELAYED } from "../../../http/relay/relayed-headers.ts";
import { StoreLostError } from "../../../state/ports/store.ts";
import type { LocalSessions, RemoteHubsDeps, RemoteSessionRequest } from "../remote-hubs.ts";
import { Patience, RemoteSessions } from "./remote-sessions.ts";

interface RequestInTest {
  readonly request: RemoteSessionRequest;
  readonly headers: Record<string, string>;
}

function requestFrom(relayedFrom?: string): RequestInTest {
  const headers: Record<string, string> = {};
  const answer = {
    isGone: false,
    isOpen: true,
    setHeader: (name: string, value: string) => {
      headers[name] = value;
      return answer;
    },
    send: vi.fn(),
  };
  const http = { principal: LOCAL_PRINCIPAL, relayedFrom, method: "POST", answer };
  return { request: { id: "s", exchange: { http } } as unknown as RemoteSessionRequest, headers };
}

/** Sessions of a hub that takes over the session `s` of a hub that ended, when `opened` resolves. */
function takingHub(opened: Promise<boolean>): { readonly sessions: RemoteSessions; readonly served: unknown[] } {
  const served: unknown[] = [];
  let isHere = false;
  const held = { hub: "ended", isAlive: false, record: { principal: LOCAL_PRINCIPAL } };
  const state = {
    hub: "own",
    leaseMs: 6000,
    sessions: { find: () => Promise.resolve(held), claim: () => Promise.resolve(held.record) },
  };
  const local: LocalSessions = {
    has: () => isHere,
    isCallers: () => true,
    open: async () => (isHere = await opened),
    serve: (request) => void served.push(request),
  };
  const relay = { forward: () => Promise.resolve("gone") } as unknown as HubRelay;
  const deps = { state, logger: { info: () => {} } } as unknown as RemoteHubsDeps;
  return { sessions: new RemoteSessions(deps, relay, local), served };
}

test("a request of another hub waits while this hub takes the session over", async () => {
  let resolve = (_isOpen: boolean): void => {};
  const promise = new Promise<boolean>((done) => (resolve = done));
  const { sessions, served } = takingHub(promise);
  const [own, other] = [requestFrom(), requestFrom("third")];
  const answers = [sessions.answer(own.request)];
  await new Promise((turn) => void setImmediate(turn));
  answers.push(sessions.answer(other.request));
  await new Promise((turn) => void setImmediate(turn));
  expect([served, other.headers]).toEqual([[], {}]);
  resolve(true);
  await Promise.all(answers);
  expect(new Set(served)).toEqual(new Set([own.request, other.request]));
  expect(other.headers[RELAY_HEADER]).toBeUndefined();
});

test("a request of another hub is answered as absent if this hub neither has nor takes the session", async () => {
  const { sessions, served } = takingHub(Promise.resolve(false));
  const { request, headers } = requestFrom("third");
  await sessions.answer(request);
  expect([served, headers[RELAY_HEADER]]).toEqual([[], RELAYED.absent]);
});

/** A hub beside the hub `other`, which the store names and which answers `absent` until it has released the session. */
function besideHub(holder: string, absences: number) {
  const served: unknown[] = [];
  let left = absences;
  let isHere = false;
  const record = { principal: LOCAL_PRINCIPAL };
  const find = async () => {
    left -= 1;
    return left < 0 ? { hub: "", isAlive: false, record } : { hub: holder, isAlive: true, record };
  };
  const state = { hub: "own", leaseMs: 10_000, sessions: { find, claim: async () => record } };
  const local: LocalSessions = {
    has: () => isHere,
    isCallers: () => true,
    open: async () => (isHere = true),
    serve: (request) => void served.push(request),
  };
  const relay = { forward: async () => "absent" } as unknown as HubRelay;
  const deps = { state, logger: { info: () => {} } } as unknown as RemoteHubsDeps;
  return { sessions: new RemoteSessions(deps, relay, local), served };
}

test.each([
  ["other", 4],
  ["own", 1],
])("a request waits while the hub %s releases its session, and is served then", async (hub, absences) => {
  const { sessions, served } = besideHub(hub, absences);
  const { request } = requestFrom();
  await sessions.answer(request);
  expect(served).toEqual([request]);
});

test("a session has ended if the named hub does not hold it for five seconds", () => {
  let now = 0;
  const patience = new Patience(8000, () => now);
  const isOverAt = (time: number, result: "absent" | "unsent"): boolean => {
    now = time;
    return patience.isOver(result);
  };
  expect([isOverAt(1000, "absent"), isOverAt(5900, "absent"), isOverAt(6000, "absent")]).toEqual([false, false, true]);
});

test("an unreachable hub restarts the five seconds, within the time of the whole request", () => {
  let now = 0;
  const patience = new Patience(8000, () => now);
  const isOverAt = (time: number, result: "absent" | "unsent"): boolean => {
    now = time;
    return patience.isOver(result);
  };
  expect([isOverAt(1000, "absent"), isOverAt(4000, "unsent"), isOverAt(7900, "absent")]).toEqual([false, false, false]);
  expect(() => isOverAt(8001, "absent")).toThrow(StoreLostError);
});
