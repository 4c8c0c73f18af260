import { setTimeout as delay } from "node:timers/promises";
import { stringMember, type JsonObject } from "../core/json/json.ts";
import { errorCode, needsPerson, notNow } from "./failures.ts";
import { prepare, redeemingOf, save, situationOf, type PreparedSignIn } from "./prepared-sign-in.ts";
import type { LoginContext } from "./context.ts";
import { bindIssuer } from "./issuer-binding.ts";
import { authorised, redeem, type GrantResult } from "./grants.ts";
import type { LoginPorts } from "./login.ts";
import { isPassing, objectIn } from "./network.ts";
import type { SignInRecord } from "./records.ts";

/** The data with which a user signs in on another device (RFC 8628). */
export interface DeviceShown {
  /** Address to open in any browser. */
  readonly address: string;
  /** Code to enter on the other device. */
  readonly code: string;
}

export interface DevicePorts extends Pick<LoginPorts, "challenge" | "signal"> {
  readonly show: (shown: DeviceShown) => Promise<void>;
  /** Waits between two requests. @default a real timer */
  readonly pause?: (ms: number, signal: AbortSignal) => Promise<void>;
}

interface PendingDevice extends DeviceShown {
  readonly device: string;
  readonly intervalMs: number;
  readonly lifetimeMs: number;
}

const GRANT = "urn:ietf:params:oauth:grant-type:device_code";
const INTERVAL_S = 5;
const LIFETIME_S = 600;
const MAX_LIFETIME_S = 1800;
const MAX_INTERVAL_S = 60;

/** Runs one sign-in with a code that the user enters on another device. No browser returns to this machine. */
export async function loginByDevice(context: LoginContext, ports: DevicePorts): Promise<SignInRecord> {
  const situation = await situationOf(context, ports.challenge);
  // A redirect address is registered, because some servers register no client without one. The flow does not use it.
  const prepared = await prepare(context, situation, situation.client?.redirectUri ?? "http://127.0.0.1/callback");
  const pending = await begin(context, prepared);
  await ports.show({ address: context.network.checked(pending.address).href, code: pending.code });
  const { signal, pause = sleep } = ports;
  const tokens = await redeemed(context, { prepared, pending, signal, pause });
  return save(context, prepared, tokens);
}

async function begin(context: LoginContext, prepared: PreparedSignIn): Promise<PendingDevice> {
  const { network, label } = context;
  const { server, resource } = prepared.found;
  const endpoint = server.device_authorization_endpoint;
  if (endpoint === undefined)
    throw needsPerson(label, `cannot be signed in to by a code: ${server.issuer} does not offer that. Use a browser.`);
  await bindIssuer(context, prepared.found);
  const form = { resource, ...(prepared.scopes.length > 0 && { scope: prepared.scopes.join(" ") }) };
  const answer = await network.ask(endpoint, await authorised(form, redeemingOf(context, prepared)));
  const found = objectIn(answer);
  if (answer.status >= 500) throw notNow(label, `cannot be signed in to for now (HTTP ${answer.status}).`);
  const pending = found && answer.status < 300 ? read(found) : undefined;
  if (pending) return pending;
  const why = errorCode(found?.["error"]) ?? `HTTP ${answer.status}`;
  throw needsPerson(label, `is not signed in to: ${server.issuer} gave no code (${why}).`);
}

function read(found: JsonObject): PendingDevice | undefined {
  const [device, code, plain, complete] = [
    "device_code",
    "user_code",
    "verification_uri",
    "verification_uri_complete",
  ].map((name) => stringMember(found, name));
  if (device === undefined || plain === undefined || code === undefined || !/^[\x21-\x7e]{1,64}$/.test(code))
    return undefined;
  return {
    device,
    code,
    address: complete ?? plain,
    intervalMs: secondsIn(found["interval"], INTERVAL_S, MAX_INTERVAL_S) * 1000,
    lifetimeMs: secondsIn(found["expires_in"], LIFETIME_S, MAX_LIFETIME_S) * 1000,
  };
}

function secondsIn(value: unknown, usual: number, most: number): number {
  const seconds = Number(value ?? Number.NaN);
  return Number.isFinite(seconds) && seconds > 0 ? Math.min(seconds, most) : usual;
}

const sleep = (ms: number, signal: AbortSignal): Promise<void> => delay(ms, undefined, { signal });

interface DeviceWait extends Required<Pick<DevicePorts, "pause" | "signal">> {
  readonly prepared: PreparedSignIn;
  readonly pending: PendingDevice;
}

async function redeemed(context: LoginContext, waiting: DeviceWait): Promise<SignedTokens> {
  const { label } = context;
  const { prepared, pending, signal, pause } = waiting;
  const until = performance.now() + pending.lifetimeMs;
  let { intervalMs } = pending;
  while (performance.now() < until) {
    await pause(intervalMs, signal);
    const answer = await ask(context, waiting);
    if (answer?.type === "tokens") return answer.tokens;
    if (answer?.error === "slow_down") intervalMs += INTERVAL_S * 1000;
    else if (answer && answer.error !== "authorization_pending")
      throw needsPerson(
        label,
        `is not signed in to: ${prepared.found.server.issuer} answered ${answer.error}. Start again.`,
      );
  }
  throw needsPerson(label, "is not signed in to: the code expired unused. Start again.");
}

type SignedTokens = Extract<GrantResult, { type: "tokens" }>["tokens"];

/** Requests the token once. Returns `undefined` if the server is temporarily unreachable. */
async function ask(context: LoginContext, { prepared, pending, signal }: DeviceWait): Promise<GrantResult | undefined> {
  const { resource } = prepared.found;
  try {
    return await redeem(GRANT, { device_code: pending.device, resource }, redeemingOf(context, prepared, signal));
  } catch (error) {
    if (isPassing(error)) return undefined;
    throw error;
  }
}
