import type { EnvironmentVariables } from "../core/environment-variables.ts";

/** Variables that a child gets in addition to the allow-listed ones. */
export interface ChildEnvironmentOptions {
  /** Variables set for the child; they override inherited ones. */
  readonly own?: Readonly<Record<string, string>>;
  /** Names of further variables that the child inherits if this process has them. */
  readonly inherit?: readonly string[];
}

/**
 * Builds the environment of a child: the allow-listed variables of this process, those named in `inherit`, and the
 * child's own. No other variable is passed, above all no token.
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
    // Exported shell functions are not passed on, because they are code and not settings.
    if (value !== undefined && !value.startsWith("()") && passes(name)) result[name] = value;
  }
  return Object.assign(result, own);
}

/** Prefixes of the variables with which users configure the programs that download servers. */
const INSTALLER_PREFIX = /^(?:npm_config_|uv_|pip_|pipx_|bun_|pnpm_|yarn_|docker_|container_host$)/i;

/**
 * Variables that npm sets for its own children, for example if Toolyard itself runs under `npx`. Another npm would read
 * them as the user's settings. Upload tokens are excluded too: downloads do not need them.
 */
const NOT_FOR_INSTALLERS =
  /^(?:npm_config_(?:user_agent|node_gyp|init_module|local_prefix|global_prefix|prefix|npm_version|package|call|yes|workspaces?|include_workspace_root|global|location|dry_run|json|otp)|uv_publish_.*|pip_uploaded_.*)$/i;

/**
 * Variables that npm sets for its children even if the user did not. Under npm, they are therefore not the user's
 * settings.
 */
const SET_BY_NPM = /^npm_config_(?:cache|userconfig|globalconfig|noproxy)$/i;

/** Variable names that hold a login. A server that is already downloaded needs none of them. */
const LOGIN = /auth|token|passw|secret|username|certfile|keyfile|_key$/i;

/**
 * Returns the names of the variables that configure npm, uv, pip, pipx, Bun, pnpm, Yarn and Docker. `withLogins`
 * includes variables that hold a login, which only a download needs.
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

/** Returns only the variables that decide where a child finds commands. Cheap enough for every lookup of a command. */
export function searchEnvironment(parent: EnvironmentVariables = process.env): Record<string, string> {
  const found = SEARCHED.flatMap((name) => {
    const value = parent[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(found);
}

/** Variables that a command lookup reads. Windows ignores the case of their names. */
const SEARCHED = ["PATH", "PATHEXT"];

/** Variables for proxies and certificates. */
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

// Without these variables, programs on Windows do not find their system libraries, their settings or a temporary
// folder.
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
