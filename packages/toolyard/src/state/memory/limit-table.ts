import type { Admission, LimitBounds, LimitStore } from "../ports/limit-store.ts";
import { isAlive, type HubMember } from "./membership.ts";

interface Bucket {
  tokens: number;
  filledAt: number;
  /** Number of running calls on all hubs. */
  running: number;
  readonly seats: Seat[];
}

/** Running calls of one hub in a bucket. */
interface Seat {
  readonly member: HubMember;
  running: number;
}

/** Maximum number of clients. Further ones are refused. */
const MAX_KEYS = 10_000;
/** Milliseconds after which an admission removes idle clients, so that no timer is needed. */
const SWEEP_EVERY_MS = 1000;
const MINUTE_MS = 60_000;
/** Milliseconds after which a client with too many running calls may try again. */
const IN_FLIGHT_RETRY_MS = 1000;

const ADMITTED: Admission = Object.freeze({ admitted: true });

/** Token buckets and counters for every hub. A client that was idle for a minute uses no memory. */
export class LimitTable {
  readonly #buckets = new Map<string, Bucket>();
  readonly #maxKeys: number;
  #sweptAt = -Infinity;

  constructor(maxKeys = MAX_KEYS) {
    this.#maxKeys = maxKeys;
  }

  admit(member: HubMember, key: string, { perMinute, inFlight }: LimitBounds): Admission {
    const now = performance.now();
    member.seenAt = now;
    if (now - this.#sweptAt >= SWEEP_EVERY_MS) this.#sweep(now);
    let bucket = this.#buckets.get(key);
    if (!bucket) {
      if (!this.#hasRoom(now)) return { admitted: false, reason: "full", retryAfterMs: IN_FLIGHT_RETRY_MS };
      this.#buckets.set(key, (bucket = { tokens: perMinute, filledAt: now, running: 0, seats: [] }));
    }
    if (inFlight > 0 && bucket.running >= inFlight && livingIn(bucket, now) >= inFlight)
      return { admitted: false, reason: "in-flight", retryAfterMs: IN_FLIGHT_RETRY_MS };
    if (perMinute > 0 && !takeToken(bucket, perMinute, now)) {
      return {
        admitted: false,
        reason: "rate",
        retryAfterMs: Math.ceil(((1 - bucket.tokens) * MINUTE_MS) / perMinute),
      };
    }
    const seat = seatOf(bucket, member) ?? newSeat(bucket, member);
    seat.running += 1;
    bucket.running += 1;
    return ADMITTED;
  }

  leave(member: HubMember, key: string): void {
    const bucket = this.#buckets.get(key);
    const seat = bucket && seatOf(bucket, member);
    if (!seat || seat.running === 0) return;
    seat.running -= 1;
    bucket.running -= 1;
  }

  /** Number of clients in the table. */
  get size(): number {
    return this.#buckets.size;
  }

  #hasRoom(now: number): boolean {
    if (this.#buckets.size < this.#maxKeys) return true;
    this.#sweep(now);
    return this.#buckets.size < this.#maxKeys;
  }

  #sweep(now: number): void {
    this.#sweptAt = now;
    for (const [key, bucket] of this.#buckets) {
      // A bucket that was idle for a minute is full again, so removing it changes nothing.
      if (now - bucket.filledAt >= MINUTE_MS && livingIn(bucket, now) === 0) this.#buckets.delete(key);
    }
  }
}

/** Limits that all hubs of a store share. Admits and ends calls of one hub. */
export class MemoryLimitStore implements LimitStore {
  readonly #table: LimitTable;
  readonly #member: HubMember;

  constructor(table: LimitTable, member: HubMember) {
    this.#table = table;
    this.#member = member;
  }

  admit(key: string, bounds: LimitBounds): Admission {
    return this.#table.admit(this.#member, key, bounds);
  }

  leave(key: string): void {
    this.#table.leave(this.#member, key);
  }
}

/** Returns the number of calls that run in `bucket`, after removing those of hubs that are not alive. */
function livingIn(bucket: Bucket, now: number): number {
  const { seats } = bucket;
  for (let at = seats.length - 1; at >= 0; at -= 1) {
    const { member, running } = seats[at]!;
    if (isAlive(member, now)) continue;
    bucket.running -= running;
    seats.splice(at, 1);
  }
  return bucket.running;
}

function seatOf({ seats }: Bucket, member: HubMember): Seat | undefined {
  // A linear search is sufficient, because there are only a few hubs.
  for (const seat of seats) if (seat.member === member) return seat;
  return undefined;
}

function newSeat({ seats }: Bucket, member: HubMember): Seat {
  const seat: Seat = { member, running: 0 };
  seats.push(seat);
  return seat;
}

function takeToken(bucket: Bucket, perMinute: number, now: number): boolean {
  bucket.tokens = Math.min(perMinute, bucket.tokens + ((now - bucket.filledAt) * perMinute) / MINUTE_MS);
  bucket.filledAt = now;
  if (bucket.tokens < 1) return false;
  bucket.tokens -= 1;
  return true;
}
