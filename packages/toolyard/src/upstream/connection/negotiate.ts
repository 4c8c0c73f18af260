import { FailError } from "../../core/errors.ts";
import { fail, type Fail } from "../../core/calls/outcome.ts";
import { within } from "../../core/timing/wait.ts";
import { RPC } from "../../wire/messages.ts";
import type { Era, EraName } from "./era.ts";
import type { Exchange } from "./exchange.ts";
import { failureOf } from "../faults.ts";
import type { Handshake } from "./handshake.ts";
import { initialize } from "../legacy/initialize.ts";
import { discover, knock, type DiscoverVerdict } from "../modern/discover.ts";
import type { Transport } from "../transports/transport.ts";

type Probe = DiscoverVerdict | { readonly type: "failed"; readonly failure: Fail } | { readonly type: "silent" };

/**
 * Determines the era on an open transport. Sends the modern probe first, and `initialize` if the server refuses the
 * probe. A server that does not answer may ignore unknown methods or may still be starting. A ping distinguishes the
 * two; `initialize` is then sent in addition to the pending probe, and the first successful answer decides. On HTTP,
 * where each request has its own stream, the probe is cancelled instead.
 */
export async function negotiate(handshake: Handshake, signal: AbortSignal): Promise<Era> {
  const { options } = handshake;
  if (options.era === "legacy") return await initialize(handshake, signal).catch(refusedChoice("legacy"));
  if (options.era === "modern") return await discoverOnly(handshake, signal).catch(refusedChoice("modern"));
  if (options.knownEra === "legacy" || options.prefersLegacy) {
    const era = await tryLegacy(handshake, signal);
    if (era) return era;
  }
  return await probeFirst(handshake, signal);
}

async function probeFirst(handshake: Handshake, signal: AbortSignal): Promise<Era> {
  const { exchange, transport, options } = handshake;
  const giveUp = new AbortController();
  const probing = watch(discover(handshake, AbortSignal.any([signal, giveUp.signal])));
  const first = await firstWord(
    probing,
    options.knownEra === "modern" || transport.perRequestStreams ? options.patienceMs : options.probeSilenceMs,
  );
  try {
    if (first.type === "modern") return settle(transport, first.era);
    if (first.type === "failed" && isFatal(first.failure, exchange)) throw new FailError(first.failure);
    if (first.type === "silent" && !transport.perRequestStreams) return await afterSilence(handshake, probing, signal);
    giveUp.abort();
    return await initialize(handshake, signal);
  } catch (error) {
    throw first.type === "other" ? explained(error, first.reason) : error;
  }
}

/** Tries both handshakes concurrently on a pipe. */
async function afterSilence(handshake: Handshake, probing: Promise<Probe>, signal: AbortSignal): Promise<Era> {
  const word = await wordOnceAwake(handshake, probing, signal);
  if (word.type === "modern") return settle(handshake.transport, word.era);
  if (word.type === "failed" && isFatal(word.failure, handshake.exchange)) throw new FailError(word.failure);
  return await race(probing, initialize(handshake, signal), handshake);
}

async function discoverOnly(handshake: Handshake, signal: AbortSignal): Promise<Era> {
  const verdict = await discover(handshake, signal);
  if (verdict.type === "modern") return settle(handshake.transport, verdict.era);
  throw new FailError(
    fail("unavailable", `The server does not support the modern era: ${verdict.reason}.`, {
      rpcError: { code: RPC.methodNotFound, message: verdict.reason },
    }),
  );
}

/** Reports a server that refuses the only configured era, and names the option to change. */
function refusedChoice(era: EraName): (error: unknown) => never {
  return (error) => {
    const { rpcError, message } = failureOf(error);
    if (!rpcError) throw error;
    throw new FailError(
      fail(
        "unavailable",
        `The server refuses the era that \`era = "${era}"\` allows: ${message} Remove \`era\`, or set it to "auto".`,
        { cause: error },
      ),
    );
  };
}

function settle(transport: Transport, era: Era): Era {
  transport.setProtocolVersion(era.revision);
  return era;
}

async function tryLegacy(handshake: Handshake, signal: AbortSignal): Promise<Era | undefined> {
  const { exchange, options } = handshake;
  // The wait is limited, because a server that never supported the legacy era may ignore `initialize`.
  const patience = options.knownEra === "legacy" ? undefined : AbortSignal.timeout(options.patienceMs);
  try {
    return await initialize(handshake, patience ? AbortSignal.any([signal, patience]) : signal);
  } catch (error) {
    if (patience?.aborted && !signal.aborted && !exchange.closed) return undefined;
    // A protocol error shows that the server is running and has changed its era. Any other failure shows nothing about
    // the era.
    if (failureOf(error).rpcError && !exchange.closed) return undefined;
    throw error;
  }
}

async function watch(work: Promise<DiscoverVerdict>): Promise<Probe> {
  try {
    return await work;
  } catch (error) {
    return { type: "failed", failure: failureOf(error) };
  }
}

async function firstWord(probing: Promise<Probe>, silenceMs: number): Promise<Probe> {
  return (await within(probing, silenceMs, { keepsAlive: false })) ?? { type: "silent" };
}

/**
 * Handles a server that does not answer the probe: it ignores unknown methods, or is still starting. A ping decides,
 * because legacy servers answer a ping before `initialize` too. Both handshakes are not sent immediately, because a
 * server of both eras that receives both must be started again. A server that does not answer the ping either receives
 * `initialize` after a time limit.
 */
async function wordOnceAwake(handshake: Handshake, probing: Promise<Probe>, signal: AbortSignal): Promise<Probe> {
  const giveUp = new AbortController();
  const awake = knock(handshake, AbortSignal.any([signal, giveUp.signal])).then(
    () => firstWord(probing, AWAKE_MS),
    () => firstWord(probing, WAKE_MS),
  );
  try {
    return await firstWord(Promise.race([probing, awake]), WAKE_MS);
  } finally {
    giveUp.abort();
  }
}

/** Maximum time to wait for a silent server to start, before both handshakes are sent. */
const WAKE_MS = 2500;
/** Time in which the server must answer the probe that was sent earlier, after it has answered a ping. */
const AWAKE_MS = 500;

// Returns whether `initialize` would fail too, because the server is unreachable or refuses all requests. A refusal by
// HTTP status alone does not count, because older servers refuse the probe in that way.
function isFatal(failure: Fail, exchange: Exchange): boolean {
  if (exchange.closed) return true;
  if (failure.kind === "needs_authorisation" || failure.kind === "cancelled" || failure.kind === "timeout") return true;
  return failure.kind === "unavailable" && failure.details?.["status"] === undefined;
}

async function race(
  probing: Promise<Probe>,
  initializing: Promise<Era>,
  { transport, options }: Handshake,
): Promise<Era> {
  const modern = probing.then((probe) => {
    if (probe.type !== "modern") throw new Error("not modern");
    return probe.era;
  });
  let era: Era;
  try {
    era = await Promise.any([modern, initializing]);
  } catch {
    return await initializing;
  }
  // The other answer is read too, because both may have arrived in one chunk.
  const other = era.name === "modern" ? succeeds(initializing, options.probeSilenceMs) : succeeds(modern, 0);
  if (await other) throw new FailError(SPOKE_BOTH);
  return settle(transport, era);
}

/**
 * Failure of a server that answered both handshakes. The server uses the one that it received last, so a new connection
 * is opened, on which only the modern handshake is sent.
 */
const SPOKE_BOTH = fail("unavailable", "The server was slow to start and answered both handshakes.", {
  details: { spokeBoth: true },
});

async function succeeds(work: Promise<unknown>, withinMs: number): Promise<boolean> {
  const success = work.then(
    () => true,
    () => false,
  );
  return (await within(success, withinMs, { keepsAlive: false })) ?? false;
}

function explained(error: unknown, reason: string): unknown {
  const failure = failureOf(error);
  if (!failure.rpcError) return error;
  const message =
    `The server supports no protocol revision that the hub supports: ${reason}, and refused ` +
    `\`initialize\`: ${failure.rpcError.message}`;
  return new FailError(fail("unavailable", message, { cause: error }));
}
