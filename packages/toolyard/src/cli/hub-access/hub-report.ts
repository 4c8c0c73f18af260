import { isJsonObject, type JsonObject } from "../../core/json/json.ts";
import { fail, type Fail } from "../../core/calls/outcome.ts";
import { FailError, messageOf, OptionError } from "../../core/errors.ts";
import { askRunning } from "../../hub/shared/ask-running.ts";
import { causeOf } from "../../outbound/client/cause.ts";
import type { Io } from "../output/io.ts";
import { plainLine } from "../output/table.ts";
import type { SharedOptions } from "../rows/command-row.ts";
import { hubAddress } from "./hub-address.ts";
import { askHub, type HubQuestion } from "./query-hub.ts";
import { filesText, findSharedHub, ownSharedHub, type FoundHub } from "./running-hub.ts";
import { wantsToken } from "./session.ts";

const ANSWER_WITHIN_MS = 10_000;

/** A report that a running hub returns to callers with full rights. */
export interface HubReport {
  /** Path of the report below the hub's URL. */
  readonly path: string;
  /** Command that requests the report at the socket of a shared hub. */
  readonly command: "status" | "calls";
  /** Name of the report in messages. */
  readonly title: string;
  /** Command line that prints the report, for advice. */
  readonly usage: string;
}

/** The report, and the hub that returned it. */
export type ReportAnswer = { readonly body: JsonObject; readonly at: string } | { readonly failure: Fail };

/**
 * Reads the report of the hub behind `--url`. Without `--url`: of the shared hub of the configuration in force, of the
 * hub at the configured address, or of the only running shared hub. A hub that also serves HTTP is asked over HTTP,
 * because that report includes its certificate.
 */
export async function readReport(report: HubReport, options: SharedOptions, io: Io): Promise<ReportAnswer> {
  const { base, token } = await hubAddress(options, io);
  const url = new URL(`${base}${report.path}`);
  const isNamed = options.url !== undefined || options.tokenEnv !== undefined;
  const own = isNamed ? undefined : await ownSharedHub(options, io).catch(ignoreFolder);
  if (own && !own.answer.isBesideHttp) return sharedAnswer(report, own);
  const answer = await ask(report, { url, token, timeoutMs: ANSWER_WITHIN_MS }, io);
  // If the shared hub was started with another port, a different hub may use this address, so the start times are
  // compared.
  if ("body" in answer && (!own || own.answer.body["startedAt"] === answer.body["startedAt"]))
    return { ...answer, at: `at ${url.origin}` };
  const found = own ?? (isNamed ? undefined : await findSharedHub(options, io).catch(ignoreFolder));
  if (found) return sharedAnswer(report, found);
  return "failure" in answer ? answer : { ...answer, at: `at ${url.origin}` };
}

async function sharedAnswer({ command, title }: HubReport, { place, answer: status }: FoundHub): Promise<ReportAnswer> {
  const answer = command === "status" ? status : await askRunning(place, command);
  if (!answer) return { failure: fail("unavailable", `The shared hub of ${place.socket} ended, or has no ${title}.`) };
  const { body, pid, files, clients } = answer;
  const users = clients === 1 ? "1 client" : `${clients} clients`;
  return { body, at: plainLine(`shared by ${users}, process ${pid}, ${filesText(files)}`) };
}

/** Without a folder for sockets there is no shared hub, so the error is ignored. */
function ignoreFolder(error: unknown): undefined {
  if (error instanceof OptionError) return undefined;
  throw error;
}

async function ask(
  { title, usage }: HubReport,
  question: HubQuestion,
  io: Io,
): Promise<{ readonly body: JsonObject } | { readonly failure: Fail }> {
  const { url, token } = question;
  try {
    const { status, json } = await askHub(question, io);
    if (status === 401) return { failure: wantsToken(url.origin, token !== undefined) };
    if (status === 403)
      return {
        failure: fail(
          "denied",
          `${url.origin} shows its ${title} to a token with full rights only (HTTP 403). ` +
            "Name the variable that holds one with --token-env.",
        ),
      };
    if (status === 200 && isJsonObject(json)) return { body: json };
    return {
      failure: fail("malformed", `${url.href} answered HTTP ${status} and no ${title}. Is it a toolyard endpoint?`),
    };
  } catch (error) {
    if (error instanceof FailError && error.failure.kind === "too_large")
      return { failure: fail("malformed", `${error.message} Is ${url.href} a toolyard endpoint?`) };
    if (io.interrupted.aborted) return { failure: fail("cancelled", "Interrupted.") };
    return { failure: unanswered(url, error, usage) };
  }
}

function unanswered({ origin }: URL, error: unknown, usage: string): Fail {
  const reason = error instanceof Error && error.cause instanceof Error ? error.cause.message : messageOf(error);
  if (causeOf(error).cause === "certificate")
    return fail(
      "unavailable",
      `The certificate of ${origin} cannot be verified: ${reason}. If a CA of your own signed it, name that CA's ` +
        `PEM file: NODE_EXTRA_CA_CERTS=/path/to/ca.pem ${usage}`,
    );
  return fail(
    "unavailable",
    `No hub answers at ${origin}: ${reason}. Start one with \`toolyard serve\`, or name another with --url.`,
  );
}
