import type { ProfileCounts } from "../../core/ports/profile-counts.ts";
import { profileText } from "../output/profile-table.ts";
import { isJsonObject, type JsonObject, listMember } from "../../core/json/json.ts";
import { fail } from "../../core/calls/outcome.ts";
import { FailError, messageOf, OptionError } from "../../core/errors.ts";
import { askHub, type HubQuestion } from "../hub-access/query-hub.ts";
import { EXIT, reportFail } from "../failure.ts";
import { causeOf } from "../../outbound/client/cause.ts";
import { resolveHttp } from "../../http/options.ts";
import { ownUrl } from "../hub-access/own-url.ts";
import { filesText, findSharedHub, ownSharedHub, type FoundHub } from "../hub-access/running-hub.ts";
import { print, printPainted, printJson, type Io } from "../output/io.ts";
import type { CommandAction, SharedOptions } from "../rows/command-row.ts";
import { loadSettings, parseUrl, readToken, wantsToken } from "../hub-access/session.ts";
import { plainLine } from "../output/table.ts";
import { sourceText, type SourceLine } from "../output/source-table.ts";

const ANSWER_WITHIN_MS = 10_000;

export const run: CommandAction<SharedOptions> = async (_args, options, io) => {
  const answer = await statusOf(options, io);
  if ("failure" in answer) return reportFail(answer.failure, options.json === true, io);
  const { body, at } = answer;
  if (options.json) await printJson(io.stdout, body);
  else {
    await print(io.stdout, `toolyard ${String(body["version"])}, up ${String(body["uptimeSeconds"])} s, ${at}`);
    const { tls } = body;
    if (isJsonObject(tls)) await print(io.stdout, certificateText(tls));
    await printPainted(
      io.stdout,
      sourceText(listMember(body, "sources") as SourceLine[], io, {
        everyStderr: true,
        verbose: options.verbose === true,
      }),
    );
    const profiles = listMember(body, "profiles") as ProfileCounts[];
    if (profiles.length > 0) await printPainted(io.stdout, profileText(profiles, io));
  }
  return EXIT.ok;
};

type StatusAnswer = { readonly body: JsonObject; readonly at: string } | { readonly failure: ReturnType<typeof fail> };

/**
 * Returns the status behind `--url`. Without it: of the shared hub of the configuration here, of the hub at the address
 * in the configuration, or of the only shared hub that runs. A hub that also serves HTTP is asked there, as it then
 * reports on its certificate.
 */
async function statusOf(options: SharedOptions, io: Io): Promise<StatusAnswer> {
  const { url, token } = await endpointOf(options, io);
  const isNamed = options.url !== undefined || options.tokenEnv !== undefined;
  const own = isNamed ? undefined : await ownSharedHub(options, io).catch(ignoreFolder);
  if (own && !own.answer.isBesideHttp) return sharedAnswer(own);
  const answer = await ask({ url, token, timeoutMs: ANSWER_WITHIN_MS }, io);
  // Another hub may have the address, if this one was started with another port.
  if ("body" in answer && (!own || own.answer.body["startedAt"] === answer.body["startedAt"]))
    return { ...answer, at: `at ${url.origin}` };
  const found = own ?? (isNamed ? undefined : await findSharedHub(options, io).catch(ignoreFolder));
  if (found) return sharedAnswer(found);
  return "failure" in answer ? answer : { ...answer, at: `at ${url.origin}` };
}

function sharedAnswer({ answer }: FoundHub): StatusAnswer {
  const { body, pid, files, clients } = answer;
  const users = clients === 1 ? "1 client" : `${clients} clients`;
  return { body, at: plainLine(`shared by ${users}, process ${pid}, ${filesText(files)}`) };
}

/** Without a folder for sockets there is no shared hub. */
function ignoreFolder(error: unknown): undefined {
  if (error instanceof OptionError) return undefined;
  throw error;
}

/** Returns the problem of the certificate, or its expiry if there is none. */
function certificateText({ problem, certificate, validUntil }: JsonObject): string {
  if (typeof problem === "string") return plainLine(problem);
  return plainLine(`The certificate in ${String(certificate)} is valid until ${String(validUntil).slice(0, 10)}.`);
}

/** Returns `--url`, or the address at which the configuration lets the hub listen. */
async function endpointOf(options: SharedOptions, io: Io): Promise<{ url: URL; token: string | undefined }> {
  if (options.url !== undefined) {
    const url = parseUrl(options.url);
    url.pathname = url.pathname.replace(/\/(mcp|sse)?\/?$/, "/status");
    url.search = "";
    return { url, token: readToken(options, io) };
  }
  const { server = {} } = (await loadSettings(options, io)).tree;
  // The hub itself checks who may listen there.
  const url = new URL(`${await ownUrl(resolveHttp({ ...server, insecure: true }))}/status`);
  return { url, token: readToken(options, io) ?? server.token };
}

async function ask(
  question: HubQuestion,
  io: Io,
): Promise<{ readonly body: JsonObject } | { readonly failure: ReturnType<typeof fail> }> {
  const { url, token } = question;
  try {
    const { status, json } = await askHub(question, io);
    if (status === 401) return { failure: wantsToken(url.origin, token !== undefined) };
    if (status === 403)
      return {
        failure: fail(
          "denied",
          `${url.origin} shows its status to a token with full rights only (HTTP 403). ` +
            "Name the variable that holds one with --token-env.",
        ),
      };
    if (status === 200 && isJsonObject(json)) return { body: json };
    return {
      failure: fail("malformed", `${url.href} answered HTTP ${status} and no status. Is it a toolyard endpoint?`),
    };
  } catch (error) {
    if (error instanceof FailError && error.failure.kind === "too_large")
      return { failure: fail("malformed", `${error.message} Is ${url.href} a toolyard endpoint?`) };
    if (io.interrupted.aborted) return { failure: fail("cancelled", "Interrupted.") };
    return { failure: unanswered(url, error) };
  }
}

function unanswered({ origin }: URL, error: unknown): ReturnType<typeof fail> {
  const reason = error instanceof Error && error.cause instanceof Error ? error.cause.message : messageOf(error);
  if (causeOf(error).cause === "certificate")
    return fail(
      "unavailable",
      `The certificate of ${origin} cannot be verified: ${reason}. If a CA of your own signed it, name that CA's ` +
        "PEM file: NODE_EXTRA_CA_CERTS=/path/to/ca.pem toolyard status",
    );
  return fail(
    "unavailable",
    `No hub answers at ${origin}: ${reason}. Start one with \`toolyard serve\`, or name another with --url.`,
  );
}
