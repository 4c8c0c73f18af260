import { FailError } from "../../core/errors.ts";
import { fail, ok, type Fail, type Outcome } from "../../core/calls/outcome.ts";
import { SIGN_IN_TOOL_NAME } from "../../core/names/own-names.ts";
import type { Provider, ResolvedCall } from "../../core/sources/provider.ts";
import { EMPTY_LISTING, NO_FEATURES, type Listing, type Source, type ToolRecord } from "../../core/sources/records.ts";
import type { SignInLink } from "../../signin/chat.ts";
import type { SignInGate } from "./sign-in-gate.ts";

export interface SignInFaceParts {
  readonly source: Source;
  readonly gate: SignInGate;
  /** Reads the lists again. Rejects with a `FailError`. */
  readonly refresh: (signal: AbortSignal) => Promise<void>;
}

type GatedMembers = Pick<Provider, "call" | "listing" | "status">;

/**
 * Wraps a server that users may sign in to. If a call fails because of a missing sign-in, the user of the caller is
 * asked to sign in. While the server lists nothing, one tool is offered that starts the sign-in.
 */
export function signInFace(own: GatedMembers, parts: SignInFaceParts): Pick<Provider, "call" | "listing"> {
  const leads = signInListing(parts);
  let listed: Listing = EMPTY_LISTING;
  const shown = (given: Listing): Listing => {
    listed = given;
    return isBare(given) && own.status().state === "needs_authorisation" ? leads : given;
  };
  return {
    listing: (wish) => {
      const given = own.listing(wish);
      return given instanceof Promise ? given.then(shown) : shown(given);
    },
    call: (call) => {
      const isOurs = call.record.type === "tool" && call.record.tool.name === SIGN_IN_TOOL_NAME && isBare(listed);
      return isOurs ? signIn(call, parts) : callSignedIn(call, own.call, parts.gate);
    },
  };
}

async function callSignedIn(call: ResolvedCall, callOnce: Provider["call"], gate: SignInGate): Promise<Outcome> {
  const outcome = await callOnce(call);
  if (outcome.ok || outcome.kind !== "needs_authorisation") return outcome;
  try {
    return (await gate.signInBy(call)) ? await callOnce(call) : withLink(outcome, await gate.linkFor(call));
  } catch (error) {
    if (!(error instanceof FailError)) throw error;
    const { failure } = error;
    // The failure is returned only if it concerns the sign-in. If the issuer could not be reached, that failure would
    // cause a retry of the call, so it is not returned.
    return failure.kind === "needs_authorisation" || failure.kind === "cancelled" ? failure : outcome;
  }
}

async function signIn(call: ResolvedCall, { source: { id }, gate, refresh }: SignInFaceParts): Promise<Outcome> {
  try {
    if (!(await gate.signInBy(call))) return withLink(notSignedIn(id, gate), await gate.linkFor(call));
    await refresh(call.signal);
    return ok({ content: [{ type: "text", text: `Signed in to ${id}. Its tools are listed from now on.` }] });
  } catch (error) {
    if (error instanceof FailError) return error.failure;
    throw error;
  }
}

/** Adds the link to the failure, for callers whose client cannot open the link itself. */
function withLink(failure: Fail, link: SignInLink | undefined): Fail {
  if (!link) return failure;
  const { url, code } = link;
  const message = `${failure.message} Or open ${url} in a browser, enter the code ${code} there, and call again.`;
  return { ...failure, message, details: { ...failure.details, signIn: url } };
}

function notSignedIn(id: string, { remedy }: SignInGate): Fail {
  return fail("needs_authorisation", `\`${id}\` is not signed in to. ${remedy}.`, { details: { sent: false } });
}

function signInListing({ source, gate }: SignInFaceParts): Listing {
  const inputSchema = { type: "object", properties: {}, additionalProperties: false };
  const description = `Signs you in to ${source.id}, which then lists its own tools.`;
  const annotations = { title: `Sign in to ${source.id}`, readOnlyHint: false, openWorldHint: true };
  const tool: ToolRecord = {
    source,
    name: SIGN_IN_TOOL_NAME,
    description,
    inputSchema,
    keywords: ["login", "authorize"],
    visibility: "native",
    isHubs: true,
    definition: { name: SIGN_IN_TOOL_NAME, description, inputSchema, annotations },
  };
  const none = { resources: [], templates: [], prompts: [], problems: [] };
  const withheld = notSignedIn(source.id, gate);
  return Object.freeze({ ...none, tools: [tool], features: NO_FEATURES, isPrivate: true, withheld });
}

function isBare({ tools, resources, templates, prompts }: Listing): boolean {
  return tools.length + resources.length + templates.length + prompts.length === 0;
}
