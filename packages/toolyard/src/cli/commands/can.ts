import type { Principal } from "../../core/calls/call.ts";
import { hasOwnSignIn } from "../../auth/options.ts";
import { dataFolder } from "../../core/data-folder.ts";
import { FailError } from "../../core/errors.ts";
import { withProfile } from "../../core/ports/profiles.ts";
import { explainRights } from "../../core/ports/rights-text.ts";
import { PROFILES, SCOPES } from "../../core/services.ts";
import { findCaller, type CallerPlaces } from "../../features/roles/named-caller.ts";
import { LiveRoles } from "../../features/roles/live-roles.ts";
import { resolveHttp } from "../../http/options.ts";
import type { Hub } from "../../hub/hub.ts";
import type { Subject } from "../../core/ports/permission.ts";
import { getService } from "../../kernel/start-features.ts";
import { KINDS } from "../../core/calls/kinds.ts";
import { EXIT, UsageError } from "../failure.ts";
import { assertProfile } from "../hub-access/named-profile.ts";
import { SETTLED_WITHIN_MS, withHub } from "../hub-access/session.ts";
import { settled } from "../../hub/sources/settled.ts";
import { print, printJson, type Io } from "../output/io.ts";
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
    const principal = principalFor(caller, hub, await findOwnUsers(hub, io));
    await settled(hub, SETTLED_WITHIN_MS);
    const found = await hub.tools.findSubject(tool);
    if (!found.found) throw new FailError(found.failure);
    const answer = answerFor(principal, found, { hub, caller, profile: options.profile });
    if (options.json) await printJson(io.stdout, answer);
    else await print(io.stdout, textOf(answer));
    return answer.permitted ? EXIT.ok : KINDS.denied.exit;
  });

/** Returns the principal of a caller. Throws a `UsageError` if the configuration has no such caller. */
function principalFor(caller: string, { config }: Hub, ownUsers: Pick<CallerPlaces, "groupsOf">): Principal {
  const { server = {}, roles = {} } = config.tree;
  const grants = new LiveRoles(() => config.tree);
  const places = {
    http: resolveHttp({ ...server, insecure: true }),
    roles,
    grantRights: grants.grant.bind(grants),
    ...ownUsers,
  };
  const named = findCaller(caller, places);
  if ("problem" in named) throw new UsageError(named.problem);
  return named.principal;
}

/** Returns the groups of the users that sign in at the hub itself, if it has such users. */
async function findOwnUsers({ config }: Hub, { env }: Io): Promise<Pick<CallerPlaces, "groupsOf">> {
  const { auth } = config.tree;
  if (!auth || !hasOwnSignIn(auth)) return {};
  const { authFiles } = await import("../../auth/builtin/auth-folder.ts");
  const { groupsOfUser } = await import("../../auth/builtin/federation/account.ts");
  const { resolveIdentityProviders } = await import("../../auth/builtin/federation/options.ts");
  const providers = resolveIdentityProviders(auth.builtin?.providers);
  const users = authFiles(dataFolder(env)).users.list();
  return {
    groupsOf: (name) => {
      const user = users.find((one) => one.name === name);
      if (!user && auth.modes?.includes("issuer")) return undefined;
      if (!user)
        throw new UsageError(`There is no user \`${name}\`. \`toolyard user list\` shows the users of this hub.`);
      const groups = groupsOfUser(user, providers);
      if (!groups) throw new UsageError(`The account of the user \`${name}\` may not use this hub any more.`);
      return groups;
    },
  };
}

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
