import type { SourceReport } from "../../../core/ports/hub-port.ts";
import { SIGN_IN_PATH, type SignInCoordinator } from "../../../core/ports/sign-in-coordinator.ts";
import type { Problem } from "../../../core/sources/records.ts";
import { firstChars } from "../../../core/text/truncate.ts";
import type { CallFigures, SourceProblem, SourceSummary } from "../api-types.ts";
import type { SourcePlaceInFile } from "./source-files.ts";

const MAX_PROBLEMS = 100;
const MAX_TEXT_CHARS = 2000;
const NO_CALLS: CallFigures = Object.freeze({ calls: 0, errors: 0 });

export interface RowFacts {
  readonly calls: CallFigures | undefined;
  /** Entry in a configuration file. Absent if no file has one. */
  readonly place: SourcePlaceInFile | undefined;
  readonly signIn: string | undefined;
}

/** Describes a source for a list. */
export function toSummary(report: SourceReport, { calls = NO_CALLS, place, signIn }: RowFacts): SourceSummary {
  const { source, status, tools, resources, prompts, problems } = report;
  const { state, lastError, restarts = 0, since, installing } = status;
  return {
    id: source.id,
    kind: source.kind,
    state,
    ...(lastError !== undefined && { reason: firstChars(lastError, MAX_TEXT_CHARS) }),
    tools,
    resources,
    prompts,
    restarts,
    ...(since !== undefined && { since }),
    ...(installing && { installing: `${installing.package}: ${installing.waitsFor}` }),
    problems: problems.slice(0, MAX_PROBLEMS).map(toProblem),
    calls,
    ...(place && { file: place.file }),
    isEditable: place?.isEditable === true,
    ...(signIn !== undefined && { signIn }),
  };
}

export function toProblem(problem: Problem): SourceProblem {
  return {
    subject: firstChars(problem.subject, MAX_TEXT_CHARS),
    message: firstChars(problem.message, MAX_TEXT_CHARS),
    severity: SEVERITIES.find((severity) => problem[severity] === true) ?? "fault",
  };
}

/** Flags of a problem that determine its severity. The first flag that is set decides. */
const SEVERITIES = ["renamed", "repaired", "changed"] as const;

/** Returns the address of the sign-in page of a source that supports sign-in. */
export function signInLink(
  source: string,
  signIns: Pick<SignInCoordinator, "sources">,
  baseUrl: string,
): string | undefined {
  if (!signIns.sources.has(source)) return undefined;
  return `${baseUrl}${SIGN_IN_PATH}?${new URLSearchParams({ source }).toString()}`;
}
