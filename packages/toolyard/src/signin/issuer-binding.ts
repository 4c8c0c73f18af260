import { shellWord } from "../core/text/shell-word.ts";
import { hasConfiguredCredentials, keyOf, type LoginContext } from "./context.ts";
import { shown, type DiscoveredServer } from "./discovery.ts";
import { needsPerson } from "./failures.ts";
import type { IssuerBinding } from "./issuer-book.ts";
import type { SignInRecord } from "./records.ts";

type BindingServer = Pick<DiscoveredServer, "server" | "address">;

/**
 * Binds the configured credentials of a source to the issuer to which they are about to be sent. Call it before the
 * first request that carries one. Rejects with a `FailError` if they belong to another issuer.
 */
export async function bindIssuer(context: LoginContext, found: BindingServer): Promise<void> {
  if (!needsBinding(context, found)) return;
  const { issuers, options } = context;
  const known = (await issuers.find(keyOf(context))) ?? (await bindingOfSignIn(context));
  if (known) assertSame(context, known, found);
  // An earlier record is kept, unless a configured `issuer` differs from it.
  const keeps = ({ issuer }: IssuerBinding): boolean => options.issuer === undefined || issuer === options.issuer;
  const binding = { issuer: found.server.issuer, address: found.address };
  assertSame(context, await issuers.claim(keyOf(context), binding, keeps), found);
}

/** Rejects like `bindIssuer`, and records nothing. */
export async function assertBoundIssuer(context: LoginContext, found: BindingServer): Promise<void> {
  if (!needsBinding(context, found)) return;
  const known = (await context.issuers.find(keyOf(context))) ?? (await bindingOfSignIn(context));
  if (known) assertSame(context, known, found);
}

/**
 * Returns whether credentials must be bound. No record is needed if `issuer` is configured and its metadata come from
 * its own address.
 */
function needsBinding({ options }: LoginContext, { server, address }: BindingServer): boolean {
  const isFixed = options.issuer !== undefined && server.issuer === options.issuer && address === options.issuer;
  return !isFixed && hasConfiguredCredentials(options);
}

/**
 * Returns the issuer of a sign-in with configured credentials that was made before issuers were recorded. Its metadata
 * address is unknown.
 */
async function bindingOfSignIn(context: LoginContext): Promise<KnownIssuer | undefined> {
  const { vault, label, url, options } = context;
  // Only sign-ins of users are stored in the vault.
  if (options.grant !== "authorization_code") return undefined;
  const isOfSource = ({ source, url: address }: SignInRecord): boolean => source === label && address === url.href;
  const record = (await vault.all()).find((one) => isOfSource(one) && one.client.from === "given");
  return record && { issuer: record.server.issuer };
}

type KnownIssuer = Pick<IssuerBinding, "issuer"> & Partial<IssuerBinding>;

function assertSame(
  { label, options }: LoginContext,
  known: KnownIssuer,
  { server: { issuer }, address }: BindingServer,
): void {
  const isReconfigured = options.issuer === issuer && known.issuer !== issuer;
  const isSamePlace = known.address === undefined || known.address === address;
  if (isReconfigured || (known.issuer === issuer && isSamePlace)) return;
  const change =
    known.issuer === issuer
      ? `the issuer ${shown(issuer)} described at ${shown(known.address)}, and the server now names ${shown(address)}`
      : `the issuer ${shown(known.issuer)}, and the server now names the issuer ${shown(issuer)}`;
  const fix = known.issuer === issuer ? "" : `set \`issuer = ${shown(issuer)}\` in its \`auth\`, or `;
  throw needsPerson(
    label,
    `is not signed in to: the credentials in its \`auth\` belong to ${change}. They were not sent there. If you ` +
      `trust the new one, ${fix}run \`toolyard vault rm ${shellWord(label)}\`, which forgets the old one.`,
  );
}
