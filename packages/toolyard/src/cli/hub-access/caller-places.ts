import { hasOwnSignIn } from "../../auth/options.ts";
import { LiveRoles } from "../../features/roles/live-roles.ts";
import type { CallerPlaces } from "../../features/roles/named-caller.ts";
import { resolveHttp } from "../../http/options.ts";
import type { Hub } from "../../hub/hub.ts";
import { UsageError } from "../failure.ts";
import type { Io } from "../output/io.ts";
import { useAccounts } from "./accounts.ts";

/** Returns the parts of a configuration that resolve the name of a caller. */
export async function callerPlaces({ tree }: Hub["config"], { env }: Pick<Io, "env">): Promise<CallerPlaces> {
  const { server = {}, roles = {} } = tree;
  const grants = new LiveRoles(() => tree);
  return {
    http: resolveHttp({ ...server, insecure: true }),
    roles,
    grantRights: grants.grant.bind(grants),
    ...(await ownUsers(tree, env)),
  };
}

/** Returns the names and groups of the users that sign in at the hub itself, if it has such users. */
async function ownUsers(
  tree: Hub["config"]["tree"],
  env: Io["env"],
): Promise<Pick<CallerPlaces, "groupsOf" | "users">> {
  const { auth } = tree;
  if (!auth || !hasOwnSignIn(auth)) return {};
  const { groupsOfUser } = await import("../../auth/builtin/federation/account.ts");
  const { resolveIdentityProviders } = await import("../../auth/builtin/federation/options.ts");
  const providers = resolveIdentityProviders(auth.builtin?.providers);
  const users = await useAccounts(tree, env, ({ users: known }) => known.list());
  return {
    users: users.map(({ name }) => name),
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
