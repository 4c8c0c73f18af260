/* oxlint-disable max-params -- The signatures are those of WASI. */
import { getRandomValues } from "node:crypto";
import { GuestError, GuestExit } from "./errno.ts";
import type { GuestCall, GuestSystem } from "./guest-system.ts";

const MAX_RANDOM_BYTES = 65_536;
const MAX_SUBSCRIPTIONS = 64;
const SUBSCRIPTION_BYTES = 48;
const EVENT_BYTES = 32;
const CLOCK_EVENT = 0;
const ABSOLUTE = 1;
const REALTIME = 0;

/** Returns the WASI calls for neither files nor paths: arguments, clocks, random bytes, waiting, exit. */
export function systemCalls({ memory, args, sleep, beforeTime }: GuestSystem): Record<string, GuestCall> {
  const texts = args.map((arg) => Buffer.from(`${arg}\0`));
  return {
    args_sizes_get(count: number, bytes: number) {
      memory.setU32(count, texts.length);
      memory.setU32(bytes, Buffer.concat(texts).length);
    },
    args_get(pointers: number, into: number) {
      let at = into;
      for (const [index, text] of texts.entries()) {
        memory.setU32(pointers + index * 4, at);
        memory.bytes(at, text.length).set(text);
        at += text.length;
      }
    },
    environ_sizes_get(count: number, bytes: number) {
      memory.setU32(count, 0);
      memory.setU32(bytes, 0);
    },
    environ_get() {},
    clock_res_get: (_: number, out: number) => memory.setU64(out, 1_000n),
    clock_time_get(clock: number, _: bigint, out: number) {
      beforeTime();
      memory.setU64(out, timeNs(clock));
    },
    random_get(into: number, length: number) {
      const bytes = memory.bytes(into, length);
      for (let at = 0; at < bytes.length; at += MAX_RANDOM_BYTES)
        getRandomValues(bytes.subarray(at, at + MAX_RANDOM_BYTES));
    },
    sched_yield() {},
    proc_exit(code: number) {
      throw new GuestExit(code);
    },
    poll_oneoff(subscriptions: number, events: number, count: number, out: number) {
      if (count < 1 || count > MAX_SUBSCRIPTIONS) throw new GuestError("inval");
      const all = Array.from({ length: count }, (_, index) =>
        readSubscription(memory, subscriptions + index * SUBSCRIPTION_BYTES),
      );
      const clocks = all.filter((one) => one.type === CLOCK_EVENT);
      // Waits only for clocks, because files, streams and `/.rpc` are always ready.
      if (clocks.length === all.length) sleep(Math.min(...clocks.map((one) => one.ms)));
      const due = clocks.length === all.length ? clocks.slice(0, 1) : all.filter((one) => one.type !== CLOCK_EVENT);
      for (const [index, one] of due.entries()) {
        const at = events + index * EVENT_BYTES;
        memory.bytes(at, EVENT_BYTES).fill(0);
        memory.setU64(at, one.userdata);
        memory.setU8(at + 10, one.type);
      }
      memory.setU32(out, due.length);
    },
  };
}

function readSubscription(memory: GuestSystem["memory"], at: number): { userdata: bigint; type: number; ms: number } {
  const userdata = memory.u64(at);
  const type = memory.u8(at + 8);
  if (type !== CLOCK_EVENT) return { userdata, type, ms: 0 };
  const clock = memory.u32(at + 16);
  const given = memory.u64(at + 24);
  const absolute = (memory.u16(at + 40) & ABSOLUTE) !== 0;
  const ns = absolute ? given - timeNs(clock) : given;
  return { userdata, type, ms: ns > 0n ? Number(ns) / 1e6 : 0 };
}

function timeNs(clock: number): bigint {
  if (clock === REALTIME) return BigInt(Math.round((performance.timeOrigin + performance.now()) * 1e3)) * 1_000n;
  return process.hrtime.bigint();
}
