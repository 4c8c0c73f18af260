import type { EnvironmentVariables } from "../core/environment-variables.ts";

/** Variables of a child beyond the allow-list. */
export interface ChildEnvironmentOptions {
  /** The child's own variables; they win over inherited ones. */
  readonly own?: Readonly<Record<string, string>>;
  /** Further names that pass from this process to the child when they are set here. */
  readonly inherit?: readonly string[];
}

/**
 * The environment of a child: the allow-listed variables of this process, those named in `inherit`, and the child's
 * own. Everything else stays here, tokens above all.
 */
export function childEnvironment(
  { own = {}, inherit = [] }: ChildEnvironmentOptions = {},
  parent: EnvironmentVariables = process.env,
  platform: NodeJS.Platform = process.platform,
): Record<string, string> {
  const isWindows = platform === "win32";
  const fold = (name: string): string => (isWindows ? name.toUpperCase() : name);
  const wanted = new Set([...ALLOWED, ...(isWindows ? ALLOWED_ON_WINDOWS : []), ...inherit].map(fold));
  const ownNames = new Set(Object.keys(own).map(fold));
  const result: Record<string, string> = {};
  const passes = (name: string): boolean =>
    (wanted.has(fold(name)) || name.startsWith("LC_")) && !ownNames.has(fold(name));
  for (const [name, value] of Object.entries(parent)) {
    // Exported shell functions are code, not settings.
    if (value !== undefined && !value.startsWith("()") && passes(name)) result[name] = value;
  }
  return Object.assign(result, own);
}

/** By these prefixes users configure the programs that download servers. */
const INSTALLER_PREFIX = /^(?:npm_config_|uv_|pip_|pipx_|bun_|pnpm_|yarn_|docker_|container_host$)/i;

/**
 * Variables that npm sets for its own children, for example if Toolyard itself runs under `npx`: another npm would take
 * them for the user's choice. Upload tokens are excluded, too: downloads do not need them.
 */
const NOT_FOR_INSTALLERS =
  /^(?:npm_config_(?:user_agent|node_gyp|init_module|local_prefix|global_prefix|prefix|npm_version|package|call|yes|workspaces?|include_workspace_root|global|location|dry_run|json|otp)|uv_publish_.*|pip_uploaded_.*)$/i;

/** npm sets these for its children even if the user did not, so under npm they are no choice of the user. */
const SET_BY_NPM = /^npm_config_(?:cache|userconfig|globalconfig|noproxy)$/i;

/** Names that hold a login. A server that is already downloaded needs none of them. */
const LOGIN = /auth|token|passw|secret|username|certfile|keyfile|_key$/i;

/**
 * Returns the names of the variables that configure npm, uv, pip, pipx, Bun, pnpm, Yarn and Docker. `withLogins`: those
 * that hold a login, too, which only a download needs.
 */
export function installerVariables(
  { withLogins }: { readonly withLogins: boolean },
  parent: EnvironmentVariables = process.env,
): readonly string[] {
  const isUnderNpm = parent["npm_execpath"] !== undefined;
  return Object.entries(parent).flatMap(([name, value]) => {
    const isOfNpm = NOT_FOR_INSTALLERS.test(name) || (isUnderNpm && SET_BY_NPM.test(name));
    const isOne = INSTALLER_PREFIX.test(name) && !isOfNpm && value !== "";
    return isOne && (withLogins || !LOGIN.test(name)) ? [name] : [];
  });
}

/** The variables that decide where a child finds commands, and no others: cheap enough to ask for at every look. */
export function searchEnvironment(parent: EnvironmentVariables = process.env): Record<string, string> {
  const found = SEARCHED.flatMap((name) => {
    const value = parent[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(found);
}

/** Names of environment variables are case-insensitive on Windows. */
const SEARCHED = ["PATH", "PATHEXT"];

/** Proxies and certificates. */
export const NETWORK_VARIABLES: readonly string[] = [
  "HTTP_PROXY",
  "HTTPS_PROXY",
  "NO_PROXY",
  "ALL_PROXY",
  "http_proxy",
  "https_proxy",
  "no_proxy",
  "all_proxy",
  "NODE_EXTRA_CA_CERTS",
  "SSL_CERT_FILE",
  "SSL_CERT_DIR",
  "REQUESTS_CA_BUNDLE",
  "CURL_CA_BUNDLE",
];

const ALLOWED = ["PATH", "HOME", "USER", "LANG", "TZ", "TMPDIR", "SHELL", "TERM", ...NETWORK_VARIABLES];

// Without these, programs on Windows do not find their system libraries, their settings or a temporary folder.
const ALLOWED_ON_WINDOWS = [
  "PATHEXT",
  "SystemRoot",
  "SystemDrive",
  "windir",
  "ComSpec",
  "TEMP",
  "TMP",
  "USERNAME",
  "USERPROFILE",
  "HOMEDRIVE",
  "HOMEPATH",
  "APPDATA",
  "LOCALAPPDATA",
  "ProgramData",
  "ProgramFiles",
  "ProgramFiles(x86)",
  "CommonProgramFiles",
  "NUMBER_OF_PROCESSORS",
  "PROCESSOR_ARCHITECTURE",
];
