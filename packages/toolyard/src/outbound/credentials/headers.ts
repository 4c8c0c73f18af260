import { OptionError } from "../../core/errors.ts";
import { readOptions } from "../../core/options/option-values.ts";
import { AuthSchema, CLIENT_CREDENTIALS_MEMBERS, OAUTH_NAMES, type CredentialConfig } from "./options.ts";

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
/** Header fields that the transport sets; a configured value would break it. */
const RESERVED =
  /^(?:host|connection|content-length|content-type|transfer-encoding|accept|accept-encoding|upgrade|expect|te|trailer|last-event-id|proxy-authorization|proxy-connection|mcp-.*)$/;

/** Members that each type of `auth` allows in addition to `type`. */
const MEMBERS: Readonly<Record<string, readonly string[]>> = {
  bearer: ["token"],
  api_key: ["key", "header"],
  client_credentials: Object.keys(CLIENT_CREDENTIALS_MEMBERS),
  oauth: OAUTH_NAMES,
};

/**
 * Returns the headers sent with every request, including credentials unless those are fetched at run time. Throws an
 * `OptionError` that shows no value.
 */
export function resolveHeaders(options: CredentialConfig): Readonly<Record<string, string>> {
  const headers = Object.fromEntries(
    Object.entries(options.headers ?? {}).map(([name, value]) => checkedHeader(name, value)),
  );
  const given = [credentialOf(options), authOf(options)].filter((one) => one !== undefined);
  const [credential, another] = given;
  if (!credential) return Object.freeze(headers);
  if (another) throw new OptionError("`token` and `auth` both give credentials; remove one of them.");
  if (credential.name in headers)
    throw new OptionError(
      `\`headers\` and \`${credential.option}\` both set \`${credential.name}\`; remove one of them.`,
    );
  if (credential.value === undefined) return Object.freeze(headers);
  assertValue(credential.option, credential.value);
  return Object.freeze({ ...headers, [credential.name]: credential.value });
}

interface Credential {
  readonly option: string;
  readonly name: string;
  /** Absent: the value is fetched at run time. */
  readonly value?: string;
}

function credentialOf({ token }: Pick<CredentialConfig, "token">): Credential | undefined {
  return token === undefined || token === ""
    ? undefined
    : { option: "token", name: "authorization", value: `Bearer ${token}` };
}

function authOf({ auth }: Pick<CredentialConfig, "auth">): Credential | undefined {
  if (!auth) return undefined;
  assertMembers(auth);
  if (auth.type === "client_credentials" || auth.type === "oauth") return { option: "auth", name: "authorization" };
  const needed = auth.type === "bearer" ? "token" : "key";
  const value = auth[needed];
  if (value === undefined || value === "")
    throw new OptionError(`\`auth\` of type "${auth.type}" needs \`${needed}\`.`);
  if (auth.type === "bearer") return { option: "auth", name: "authorization", value: `Bearer ${value}` };
  const [name] = checkedHeader(readOptions(AuthSchema, auth, "auth.").header, value, "auth");
  return { option: "auth", name, value };
}

function assertMembers(auth: NonNullable<CredentialConfig["auth"]>): void {
  const members = Object.hasOwn(MEMBERS, auth.type) ? MEMBERS[auth.type] : undefined;
  if (!members)
    throw new OptionError(
      `\`auth\` must be of type ${Object.keys(MEMBERS)
        .map((type) => `"${type}"`)
        .join(", ")}; got ${JSON.stringify(auth.type)}.`,
    );
  const foreign = Object.entries(auth).find(
    ([name, value]) => name !== "type" && value !== undefined && !members.includes(name),
  );
  if (foreign) throw new OptionError(`\`auth\` of type "${auth.type}" takes no \`${foreign[0]}\`.`);
}

function checkedHeader(name: string, value: string, option = "headers"): [string, string] {
  const lower = name.toLowerCase();
  if (!TOKEN.test(name)) throw new OptionError(`\`${option}\` names ${JSON.stringify(name)}, which is no header name.`);
  if (RESERVED.test(lower))
    throw new OptionError(`\`${option}\` names \`${name}\`, which the connection itself sets. Remove it.`);
  assertValue(`${option}.${name}`, value);
  return [lower, value];
}

function assertValue(option: string, value: string): void {
  if (VALUE.test(value)) return;
  throw new OptionError(
    `\`${option}\` holds characters that a header cannot carry, such as a line break. Its value is not shown.`,
  );
}
