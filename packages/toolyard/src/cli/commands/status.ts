import type { ProfileCounts } from "../../core/ports/profile-counts.ts";
import { profileText } from "../output/profile-table.ts";
import { isJsonObject, type JsonObject, listMember } from "../../core/json/json.ts";
import { STATUS_PATH } from "../../endpoints/paths.ts";
import { EXIT, reportFail } from "../failure.ts";
import { readReport, type HubReport } from "../hub-access/hub-report.ts";
import { colorsOf } from "../output/colors.ts";
import { print, printPainted, printJson, type Io } from "../output/io.ts";
import type { CommandAction, SharedOptions } from "../rows/command-row.ts";
import { plainLine } from "../output/table.ts";
import { sourceText, type SourceLine } from "../output/source-table.ts";

const STATUS: HubReport = { path: STATUS_PATH, command: "status", title: "status", usage: "toolyard status" };

export const run: CommandAction<SharedOptions> = async (_args, options, io) => {
  const answer = await readReport(STATUS, options, io);
  if ("failure" in answer) return reportFail(answer.failure, options.json === true, io);
  const { body, at } = answer;
  if (options.json) await printJson(io.stdout, body);
  else {
    await print(io.stdout, `toolyard ${String(body["version"])}, up ${String(body["uptimeSeconds"])} s, ${at}`);
    const { tls, configurationProblem } = body;
    if (typeof configurationProblem === "string") await printPainted(io.stdout, problemText(configurationProblem, io));
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

/** Returns the reason why a changed configuration is not in force. */
function problemText(problem: string, io: Io): string {
  return colorsOf(io).red(
    `The changed configuration was not applied; the previous one stays in force. ${plainLine(problem)}`,
  );
}

/** Returns the problem of the certificate, or its expiry if there is none. */
function certificateText({ problem, certificate, validUntil }: JsonObject): string {
  if (typeof problem === "string") return plainLine(problem);
  return plainLine(`The certificate in ${String(certificate)} is valid until ${String(validUntil).slice(0, 10)}.`);
}
