import type { Principal } from "../../core/calls/call.ts";
import { FailError } from "../../core/errors.ts";
import { withProfile } from "../../core/ports/profiles.ts";
import { explainRights } from "../../core/ports/rights-text.ts";
import { PROFILES, SCOPES } from "../../core/services.ts";
import { findCaller } from "../../features/roles/named-caller.ts";
import type { Hub } from "../../hub/hub.ts";
import type { Subject } from "../../core/ports/permission.ts";
import { getService } from "../../kernel/start-features.ts";
import { KINDS } from "../../core/calls/kinds.ts";
import { EXIT, UsageError } from "../failure.ts";
import { callerPlaces } from "../hub-access/caller-places.ts";
import { assertProfile } from "../hub-access/named-profile.ts";
import { SETTLED_WITHIN_MS, withHub } from "../hub-access/session.ts";
import { settled } from "../../hub/sources/settled.ts";
import { print, printJson } from "../output/io.ts";
import { plainLine } from "../output/table.ts";
import type { CommandAction, SharedOptions } from "../rows/command-row.ts";

interface Options extends SharedOptions {
  readonly profile?: string;
}

/** Decision about a caller's right, with the rule that decides. */
interface Answer {
  readonly caller: string;
  readonly name: string;
  readonly source: string;
  readonly permitted: boolean;
  readonly rule: string;
  /** Scopes that an access token needs for this right. */
  readonly scopes?: readonly string[];
}

export const run: CommandAction<Options> = ([caller = "", tool = ""], options, io) =>
  withHub({ ...options, lazy: true }, io, async (_toolyard, hub) => {
    assertProfile(hub.config, options);
    const named = findCaller(caller, await callerPlaces(hub.config, io));
    if ("problem" in named) throw new UsageError(named.problem);
    const { principal } = named;
    await settled(hub, SETTLED_WITHIN_MS);
    const found = await hub.tools.findSubject(tool);
    if (!found.found) throw new FailError(found.failure);
    const answer = answerFor(principal, found, { hub, caller, profile: options.profile });
    if (options.json) await printJson(io.stdout, answer);
    else await print(io.stdout, textOf(answer));
    return answer.permitted ? EXIT.ok : KINDS.denied.exit;
  });

interface JudgedTarget {
  readonly name: string;
  readonly subject: Subject;
}

interface AccessQuestion {
  readonly hub: Hub;
  readonly caller: string;
  readonly profile: string | undefined;
}

function answerFor(
  principal: Principal,
  { subject, name }: JudgedTarget,
  { hub, caller, profile }: AccessQuestion,
): Answer {
  const asked = { caller, name, source: subject.source ?? "" };
  const selected = profile === undefined ? undefined : getService(hub.services, PROFILES).find(profile);
  const within = selected ? withProfile(principal, selected) : principal;
  if (!within) return { ...asked, permitted: false, rule: `profile ${profile}: \`roles\` names no role of the caller` };
  const { permitted, rule } = explainRights(within.rights, subject);
  const rules = getService(hub.services, SCOPES);
  const refusal = permitted ? rules.refusal(within, subject, name) : undefined;
  if (!refusal) return { ...asked, permitted, rule };
  const scopes = rules.required(subject);
  // An OAuth caller without this right may be able to get an access token with the required scopes.
  const canSignIn = refusal.requiredScopes !== undefined && within.identity?.kind !== "token";
  return canSignIn
    ? { ...asked, permitted, rule, scopes }
    : { ...asked, permitted: false, rule: refusal.message, scopes };
}

function textOf({ caller, name, permitted, rule, scopes }: Answer): string {
  const needs = scopes && permitted ? ` Its access token needs the scope ${scopes.join(", ")}.` : "";
  const end = rule.endsWith(".") ? "" : ".";
  return plainLine(`${caller} ${permitted ? "can" : "cannot"} use ${name}: ${rule}${end}${needs}`);
}
