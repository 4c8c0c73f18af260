// Generates floods: several principals with a few connections each acquire and release a limited resource. The real
// tables are used, with replacements for their resources.
import { Canceller } from "../../packages/toolyard/src/core/calls/cancellation.ts";
import { FairLine } from "../../packages/toolyard/src/core/fairness/fair-line.ts";
import type { Holder } from "../../packages/toolyard/src/core/fairness/shares.ts";
import { SessionTable, type TableEntry } from "../../packages/toolyard/src/endpoints/mcp/legacy/session-table.ts";
import { ParkedCalls } from "../../packages/toolyard/src/endpoints/mcp/modern/parked-calls.ts";
import { RunningCall } from "../../packages/toolyard/src/endpoints/mcp/modern/running-call.ts";
import { InterpreterSessions } from "../../packages/toolyard/src/sandbox/child/sessions.ts";
import type { RunWorker } from "../../packages/toolyard/src/sandbox/child/run-worker.ts";
import { createRandom, type Random } from "../support/random.ts";
import { createTestState } from "../fixtures/mcp-endpoint.ts";

/** A resource with a limited number in the hub. */
export interface LimitedResource {
  /** Requests the resource; resolves with false if it is refused. */
  want(holder: Holder): Promise<boolean>;
  /** Returns the holder to which a request counts; some tables distinguish principals only. */
  ownerIn(holder: Holder): Holder;
  /** Returns the current holders. */
  held(): readonly Holder[];
  /** Holders and capacity together with another resource that shares the limit. */
  heldInAll?(): { readonly held: readonly Holder[]; readonly capacity: number };
  giveBack(holder: Holder): Promise<void>;
  close(): void;
}

export type OpenBounded = (capacity: number) => LimitedResource;

/** All limited resources, by their names in the documentation. */
export const BOUNDED: Readonly<Record<string, OpenBounded>> = {
  "slots and the line before them": openLine,
  "sessions of code": openCodeSessions,
  "MCP sessions": openMcpSessions,
  "parked calls": openParkedCalls,
};

const STEPS = 200;

/** Runs one flood. Returns every violated property; an empty list if there is none. */
export async function flood(open: OpenBounded, seed: number): Promise<string[]> {
  const random = createRandom(seed);
  const capacity = 4 + random.below(20);
  const bounded = open(capacity);
  const breaches: string[] = [];
  const holders = holdersFrom(random);
  for (let step = 0; step < STEPS; step += 1) {
    // The first holder floods; the others request occasionally.
    const holder = bounded.ownerIn(random.below(4) > 0 ? holders[0]! : random.pick(holders));
    const before = bounded.held();
    const inAll = bounded.heldInAll?.();
    if (random.below(10) === 0 && before.length > 0) {
      await bounded.giveBack(random.pick(before));
      continue;
    }
    const isServed = await bounded.want(holder);
    const breach = breachIn({ before, after: bounded.held(), holder, isServed, capacity, ...(inAll && { inAll }) });
    if (breach) breaches.push(`step ${step}, ${JSON.stringify(holder)}: ${breach}`);
  }
  bounded.close();
  return breaches;
}

interface Step {
  readonly before: readonly Holder[];
  readonly after: readonly Holder[];
  readonly holder: Holder;
  readonly isServed: boolean;
  readonly capacity: number;
  readonly inAll?: { readonly held: readonly Holder[]; readonly capacity: number };
}

function breachIn({ before, after, holder, isServed, capacity, inAll }: Step): string | undefined {
  if (after.length > capacity) return `${after.length} are held, of ${capacity}`;
  if (!isServed && before.length < capacity) return "refused, while there was room";
  const share = Math.floor(capacity / distinct([...before, holder], principalOf));
  if (!isServed && count(before, holder, principalOf) < share) return "a newcomer within its share was refused";
  const own = before.filter((one) => one.principal === holder.principal);
  if (own.length === before.length) {
    const ownShare = Math.floor(capacity / distinct([...own, holder], connectionOf));
    if (!isServed && count(own, holder, connectionOf) < ownShare) return "a connection within its share was refused";
  }
  const robbed = before.find(
    (one) =>
      one.principal !== holder.principal &&
      count(after, one, principalOf) < count(before, one, principalOf) &&
      isWithinShare(one, holder, { held: before, capacity }) &&
      (!inAll || isWithinShare(one, holder, inAll)),
  );
  return robbed && `${robbed.principal} lost one of no more than its share`;
}

/** With more holders than capacity, the share of each is zero. */
function isWithinShare(
  one: Holder,
  newcomer: Holder,
  { held, capacity }: { readonly held: readonly Holder[]; readonly capacity: number },
): boolean {
  return count(held, one, principalOf) <= Math.floor(capacity / distinct([...held, newcomer], principalOf));
}

function principalOf({ principal }: Holder): string {
  return principal;
}

function connectionOf({ principal, connection }: Holder): string {
  return `${principal} ${connection}`;
}

function distinct(holders: readonly Holder[], keyOf: (holder: Holder) => string): number {
  return new Set(holders.map(keyOf)).size;
}

function count(holders: readonly Holder[], holder: Holder, keyOf: (holder: Holder) => string): number {
  return holders.filter((one) => keyOf(one) === keyOf(holder)).length;
}

function holdersFrom(random: Random): Holder[] {
  const principals = ["ada", "bob", "cyd", "dan", "eve"].slice(0, 1 + random.below(5));
  return principals.flatMap((principal) =>
    Array.from({ length: 1 + random.below(3) }, (_, at) => ({ principal, connection: `${principal}-${at}` })),
  );
}

/** The queue of waiting calls, with a quarter as many slots as `capacity`. */
function openLine(capacity: number): LimitedResource {
  const places = Math.ceil(capacity / 4);
  const line = new FairLine({ places, waiting: capacity });
  const present = new Map<Canceller, { readonly holder: Holder; isInside: boolean }>();
  const enter = async (holder: Holder, gone: Canceller): Promise<void> => {
    const isInside = await line.enter(holder, { cancellation: gone });
    const entry = present.get(gone);
    if (entry) entry.isInside = isInside;
    if (!present.get(gone)?.isInside) present.delete(gone);
  };
  return {
    want: async (holder) => {
      const gone = new Canceller();
      present.set(gone, { holder, isInside: false });
      void enter(holder, gone);
      await settled();
      return present.has(gone);
    },
    ownerIn: (holder) => holder,
    held: () => Array.from(present.values()).flatMap(({ holder, isInside }) => (isInside ? [] : [holder])),
    heldInAll: () => ({ held: Array.from(present.values(), ({ holder }) => holder), capacity: places + capacity }),
    giveBack: async () => {
      // The oldest holder of a slot leaves; if there is none, a waiting holder cancels.
      const [gone, { holder, isInside }] =
        Array.from(present).find(([, one]) => one.isInside) ?? Array.from(present)[0]!;
      present.delete(gone);
      if (isInside) line.leave(holder);
      else gone.abort("gone");
      await settled();
    },
    close: () => line.close(),
  };
}

/** Sessions that keep their variables, all idle. */
function openCodeSessions(capacity: number): LimitedResource {
  const sessions = new InterpreterSessions({ sessions: capacity, sessionIdleMs: 60_000 }, () => {});
  const living = new Map<RunWorker, Holder>();
  let last = 0;
  return {
    want: async (holder) => {
      last += 1;
      const taken = sessions.take({ key: String(last), owner: holder }, () => {
        const worker = idleWorker(() => living.delete(worker));
        living.set(worker, holder);
        return worker;
      });
      if (typeof taken !== "string") sessions.giveBack(taken, true);
      await settled();
      return typeof taken !== "string";
    },
    ownerIn: (holder) => holder,
    held: () => Array.from(living.values()),
    giveBack: async (holder) => {
      Array.from(living)
        .find(([, one]) => one === holder)![0]
        .end();
      await settled();
    },
    close: () => {
      for (const worker of living.keys()) worker.end();
    },
  };
}

function idleWorker(onEnd: () => void): RunWorker {
  let end!: () => void;
  const ended = new Promise<void>((resolve) => (end = resolve)).then(() => ({ reason: "ended", detail: "" }) as const);
  return {
    ready: Promise.resolve(),
    ended,
    listen: () => {},
    send: () => {},
    afterJob: () => Promise.resolve("free"),
    end: () => {
      onEnd();
      end();
    },
  };
}

/** Sessions of the legacy era, half of them busy. */
function openMcpSessions(capacity: number): LimitedResource {
  const table = new SessionTable<TableEntry>({ idleMs: 60_000, maxSessions: capacity });
  const owners = new Map<string, Holder>();
  let last = 0;
  return {
    want: async (holder) => {
      last += 1;
      const id = String(last);
      const now = performance.now();
      const isBusy = last % 2 === 0;
      const isAdded = table.add({
        id,
        principalId: holder.principal,
        isIdle: !isBusy,
        isBusy,
        lastSeenAt: now,
        usedAt: now,
        list: () => {},
        close: () => owners.delete(id),
      });
      if (isAdded) owners.set(id, holder);
      return isAdded;
    },
    // Connections of one principal are equivalent: each counts for its principal.
    ownerIn: ({ principal }) => ({ principal }),
    held: () => Array.from(owners.values()),
    giveBack: async (holder) => {
      const [id] = Array.from(owners).find(([, one]) => one === holder)!;
      table.end(table.find(id)!);
    },
    close: () => table.close(),
  };
}

/** Calls of the modern era that wait for their caller's answer. */
function openParkedCalls(capacity: number): LimitedResource {
  const parked = new ParkedCalls({ maxParkedCalls: capacity, inputTimeoutMs: 60_000 }, createTestState());
  const states = new Map<string, Holder>();
  const bindingOf = ({ principal }: Holder) => ({ principal, method: "tools/call", target: "t", arguments: {} });
  return {
    want: async (holder) => {
      if (!parked.hasRoomFor(holder)) return false;
      const visit = {
        endpoint: "test",
        signal: new Canceller(),
        capabilities: {},
        progressToken: undefined,
        logLevel: undefined,
        note: () => {},
      };
      const call = new RunningCall({ capabilities: {} }, visit, { relaysInput: true });
      const state = parked.park(call, bindingOf(holder), holder) as string;
      states.set(state, holder);
      call.cancellation.addEventListener("abort", () => states.delete(state));
      return true;
    },
    ownerIn: (holder) => holder,
    held: () => Array.from(states.values()),
    giveBack: async (holder) => {
      const [state] = Array.from(states).find(([, one]) => one === holder)!;
      await parked.take(state, bindingOf(holder));
      states.delete(state);
    },
    close: () => parked.close(),
  };
}

/** Resolves when all decisions were delivered. */
function settled(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}
