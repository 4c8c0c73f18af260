import { spawn } from "node:child_process";
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
  const words = browserOf(variables, platform);
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
