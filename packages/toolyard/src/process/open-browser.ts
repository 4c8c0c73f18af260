import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdir, readdir, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { EnvironmentVariables } from "../core/environment-variables.ts";

/**
 * Opens a URL in the user's browser: the program in `BROWSER`, else the system's. Resolves with false if there is none.
 * Only web URLs are passed, as one argument and without a shell.
 */
export async function openBrowser(
  address: string,
  variables: EnvironmentVariables,
  platform: NodeJS.Platform = process.platform,
): Promise<boolean> {
  const { protocol } = new URL(address);
  if (protocol !== "https:" && protocol !== "http:") return false;
  return start(address, browserOf(variables, platform), variables);
}

/**
 * Options for opening a URL with a secret: the folder of the redirect files, and the variables that name the browser.
 */
export interface SecretOpening {
  readonly folder: string;
  readonly variables: EnvironmentVariables;
  readonly platform?: NodeJS.Platform;
}

/** Time in milliseconds after which the next opening removes a redirect file. */
const STALE_MS = 60_000;

/**
 * Opens a web URL that contains a secret like `openBrowser`. Every user of the machine can read the arguments of a
 * program, so the browser gets the path of a file that only this user can read, which leads to the URL.
 */
export async function openBrowserSecretly(address: string, opening: SecretOpening): Promise<boolean> {
  const { folder, variables, platform = process.platform } = opening;
  const words = browserOf(variables, platform);
  const { protocol } = new URL(address);
  if (!words || (protocol !== "https:" && protocol !== "http:")) return false;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await removeStale(folder);
  const file = join(folder, `open-${randomBytes(8).toString("hex")}.html`);
  await writeFile(file, redirectPage(address), { mode: 0o600, flag: "wx" });
  if (await start(fileAddress(file, variables), words, variables)) return true;
  await rm(file, { force: true });
  return false;
}

async function removeStale(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const file = join(folder, name);
    const { mtimeMs = 0 } = (await stat(file).catch(() => undefined)) ?? {};
    if (/^open-[0-9a-f]+\.html$/.test(name) && Date.now() - mtimeMs > STALE_MS) await rm(file, { force: true });
  }
}

/**
 * Returns a page that redirects to an address without a script. The browser sends no `Referer` and keeps no history
 * entry.
 */
function redirectPage(address: string): string {
  const escaped = address.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");
  return (
    '<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer"><title>Toolyard</title>\n' +
    `<meta http-equiv="refresh" content="0; url=${escaped}">\n<a href="${escaped}">Toolyard</a>\n`
  );
}

/** Returns the `file:` address of a file. Under WSL, a browser of Windows opens the file through a network share. */
function fileAddress(file: string, { WSL_DISTRO_NAME: distribution }: EnvironmentVariables): string {
  const address = pathToFileURL(file).href;
  return distribution
    ? address.replace("file://", `file://wsl.localhost/${encodeURIComponent(distribution)}`)
    : address;
}

function start(
  address: string,
  words: readonly string[] | undefined,
  variables: EnvironmentVariables,
): Promise<boolean> | boolean {
  if (!words) return false;
  const [command = "", ...args] = words;
  const hasPlace = args.some((arg) => arg.includes("%s"));
  const all = hasPlace ? args.map((arg) => arg.replaceAll("%s", address)) : [...args, address];
  return new Promise((resolve) => {
    const child = spawn(command, all, { stdio: "ignore", detached: true, env: { ...variables } });
    child.once("error", () => resolve(false));
    child.once("spawn", () => {
      child.unref();
      resolve(true);
    });
  });
}

function browserOf(variables: EnvironmentVariables, platform: NodeJS.Platform): readonly string[] | undefined {
  const own = variables["BROWSER"]?.split(" ").filter((word) => word !== "") ?? [];
  if (own.length > 0) return own;
  if (platform === "darwin") return ["open"];
  if (platform === "win32") return ["rundll32", "url.dll,FileProtocolHandler"];
  if (variables["WSL_DISTRO_NAME"]) return ["rundll32.exe", "url.dll,FileProtocolHandler"];
  return variables["DISPLAY"] || variables["WAYLAND_DISPLAY"] ? ["xdg-open"] : undefined;
}
