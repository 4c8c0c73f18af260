import { isJsonObject, objectMember, type JsonObject } from "../../core/json/json.ts";
import { fail, type Fail } from "../../core/calls/outcome.ts";
import { messageOf } from "../../core/errors.ts";
import { firstChars } from "../../core/text/truncate.ts";
import { EXIT, reportFail } from "../failure.ts";
import { hubAddress } from "../hub-access/hub-address.ts";
import { askHub } from "../hub-access/query-hub.ts";
import { wantsToken } from "../hub-access/session.ts";
import { print, printJson, type Io } from "../output/io.ts";
import { plainLine } from "../output/table.ts";
import type { CommandAction, SharedOptions } from "../rows/command-row.ts";

const ANSWER_WITHIN_MS = 10_000;
const MAX_REASON_CHARS = 300;

export const run: CommandAction<SharedOptions> = async (_args, options, io) => {
  const { base, token } = await hubAddress(options, io);
  const answer = await ask(new URL(`${base}/whoami`), token, io);
  if ("failure" in answer) return reportFail(answer.failure, options.json === true, io);
  if (options.json) await printJson(io.stdout, answer.body);
  else await print(io.stdout, textOf(answer.body));
  return EXIT.ok;
};

async function ask(
  url: URL,
  token: string | undefined,
  io: Io,
): Promise<{ readonly body: JsonObject } | { readonly failure: Fail }> {
  try {
    const { status, json } = await askHub({ url, token, timeoutMs: ANSWER_WITHIN_MS }, io);
    if (status === 401) return { failure: wantsToken(url.origin, token !== undefined) };
    if (status === 200 && isJsonObject(json)) return { body: json };
    return { failure: refusalOf(url, status, json) };
  } catch (error) {
    if (io.interrupted.aborted) return { failure: fail("cancelled", "Interrupted.") };
    const advice = "Start one with `toolyard serve`, or name another with --url.";
    return { failure: fail("unavailable", `No hub answers at ${url.origin}: ${messageOf(error)}. ${advice}`) };
  }
}

/** Returns the failure for an answer that contains no identity. Includes the reason if a hub gave one. */
function refusalOf({ href, origin }: URL, status: number, json: unknown): Fail {
  const reason = isJsonObject(json) ? objectMember(json, "error")?.["message"] : undefined;
  if (typeof reason === "string" && (status === 403 || status === 404))
    return fail("denied", `${origin} answered HTTP ${status}: ${firstChars(reason, MAX_REASON_CHARS)}`);
  const text = `${href} answered HTTP ${status} and no identity. Is it a toolyard endpoint?`;
  return fail(status === 403 ? "denied" : "malformed", text);
}

const LABELS: readonly (readonly [member: string, label: string])[] = [
  ["id", "caller"],
  ["kind", "kind"],
  ["name", "name"],
  ["issuer", "issuer"],
  ["clientId", "client"],
  ["groups", "groups"],
  ["roles", "roles"],
  ["scopes", "scopes"],
  ["profile", "profile"],
  ["ratePerMinute", "calls per minute"],
  ["expiresAt", "token expires"],
  ["rights", "rights"],
];

function textOf(body: JsonObject): string {
  const lines = LABELS.flatMap(([member, label]) => {
    const value = body[member];
    const text = Array.isArray(value) ? value.map(String).join(member === "rights" ? "; " : ", ") : value;
    return text === undefined || text === "" ? [] : [plainLine(`${label}: ${String(text)}`)];
  });
  return lines.join("\n");
}
